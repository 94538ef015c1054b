// Package experiment tries variants of a target: other settings, another commit, other build flags.
// Each run is a separate recording of only the clean phase. Runs of the unchanged target and of the
// variants are interleaved (package trial), and package compare compares the recordings of each
// variant with those of the target.
//
// The decision behind it: a run is what `hone record -phases ""` records, so that a trial measures
// what a recording measures, and the recordings that are kept can be read by every other command. A
// variant that does not build, fails, prints something other than the target does, or answers
// requests differently is reported as such, and never as a gain.
package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/altmod"
	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/gittree"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/trial"
	"github.com/hone-go/hone/stats"
)

// Schema is the version of Result's JSON form.
const Schema = "hone/try/v1"

// Variant is a way to build or run the target.
type Variant struct {
	Name       string   `json:"name"`
	Env        []string `json:"env,omitempty"`         // "GOGC=400"
	BuildFlags []string `json:"build_flags,omitempty"` // added to the target's
	BuildEnv   []string `json:"build_env,omitempty"`   // added to the environment of the go command
	Toolchain  string   `json:"toolchain,omitempty"`   // the toolchain that builds it instead of the target's: "go1.27.1"
	PGO        string   `json:"pgo,omitempty"`         // a source of a CPU profile to build with: a file, a recording, a URL
	Ref        string   `json:"ref,omitempty"`         // a git ref whose files are built instead of the tree's
	Patch      string   `json:"patch,omitempty"`       // a file with a diff on top of Ref, or of the commit of the tree
	Modules    []string `json:"modules,omitempty"`     // other versions of dependencies, "path@version", or a directory in place of one, "path=dir"
	Dir        string   `json:"-"`                     // a directory instead of the target's; with it, no Ref
}

// Spec says what to try.
type Spec struct {
	Options  capture.Options // of one run; its Phases are ignored
	Variants []Variant
	Runs     int // of each variant, even; 0: 6. With a Budget or a Width, the minimum
	// Budget, if set, adds runs until that time is over; a block of runs that has started is
	// finished.
	Budget time.Duration
	// Width, if set, adds runs until each interval of CPU and time is that narrow: 0.02 is ±2 %.
	// The width of an interval does not depend on the direction of the difference, so stopping
	// there favours no verdict, as stopping at the first one would.
	Width    float64
	Keep     string // a directory for the recordings; "": they are removed
	Seed     uint64 // of the order of runs; 0: from the time
	Progress func(capture.Event)
}

// Result is the result of a trial.
type Result struct {
	Schema   string    `json:"schema"`
	Target   string    `json:"target"`
	Runs     int       `json:"runs"` // of the unchanged target
	Seconds  float64   `json:"seconds"`
	RSSBytes int64     `json:"rss_bytes,omitempty"` // peak of the unchanged target: the median of its runs
	Outcomes []Outcome `json:"outcomes"`
}

// Outcome is the result for one variant.
type Outcome struct {
	Variant
	Comparison *compare.Comparison `json:"comparison,omitempty"` // with the unchanged target
	Answers    *Answers            `json:"answers,omitempty"`    // of a service under load
	RSSBytes   int64               `json:"rss_bytes,omitempty"`  // peak: the median of its runs
	Failed     string              `json:"failed,omitempty"`     // why there is no comparison
	Differs    string              `json:"differs,omitempty"`    // how its answers differ
}

// dirPrefix starts the names of the directories for runs and commits.
const dirPrefix = "try-"

// Run runs the target and its variants interleaved. It is an error if the unchanged target fails; a
// variant that fails is an outcome.
func Run(ctx context.Context, cfg session.Config, s Spec) (*Result, error) {
	if len(s.Variants) == 0 {
		return nil, errors.New("nothing to try")
	}
	if s.Options.URL != "" {
		return nil, errors.New("a running service cannot be started with another setting: name its package")
	}
	if s.Runs <= 0 {
		s.Runs = 6
	}
	if s.Seed == 0 {
		s.Seed = uint64(time.Now().UnixNano())
	}
	work := filepath.Join(cfg.CacheDir, "work")
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	scratch.Sweep(work, time.Now(), dirPrefix)
	dir, err := scratch.Make(work, dirPrefix)
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	t := &try{Spec: s, cfg: cfg, dir: dir.Path, runs: make([]kept, 1+len(s.Variants))}
	return t.run(ctx)
}

// try is the state of a Run. Variant 0 is the unchanged target.
type try struct {
	Spec
	cfg     session.Config
	dir     string
	options []capture.Options
	runs    []kept
	n       int
}

// kept is the runs of a variant.
type kept struct {
	sources []compare.Source
	printed [][sha256.Size]byte
	said    []said
	failed  error
}

func (t *try) run(ctx context.Context) (*Result, error) {
	began := time.Now()
	own, err := t.optionsOf(ctx, 0, Variant{})
	if err != nil {
		return nil, err
	}
	t.options = []capture.Options{own}
	for i, v := range t.Variants {
		o, err := t.optionsOf(ctx, i, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		t.options = append(t.options, o)
	}
	if err := t.countOperations(ctx); err != nil {
		return nil, err
	}
	limits := trial.Limits{Least: t.Runs, Most: t.Runs, Budget: t.Budget, Width: t.Width}
	if t.Budget > 0 || t.Width > 0 {
		limits.Most = mostRuns
	}
	err = trial.New(len(t.options), t.Seed, limits).Run(ctx, t.once, t.widest)
	if err != nil {
		return nil, err
	}
	r := &Result{Schema: Schema, Target: t.Options.Arg, Runs: len(t.runs[0].sources), RSSBytes: t.runs[0].resident()}
	for i, v := range t.Variants {
		r.Outcomes = append(r.Outcomes, t.outcome(v, &t.runs[i+1]))
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// countOperations briefly records the unchanged target if it is benchmarks, to count their
// operations. Each recording then runs this number of operations again, so that all sides do the
// same work when their peak memory is compared.
func (t *try) countOperations(ctx context.Context) error {
	if t.Options.Bench == "" {
		return nil
	}
	o := t.options[0]
	o.Phases, o.Duration, o.Out = []string{}, o.Duration/4, filepath.Join(t.dir, "operations.hone")
	cfg := t.cfg
	cfg.Progress = nil
	if t.Progress != nil {
		t.Progress(capture.Event{Phase: "try", Text: "counting operations"})
	}
	path, err := session.Record(ctx, cfg, o)
	if err != nil {
		return err
	}
	m, err := cfg.Opener().Manifest(path)
	if err != nil {
		return err
	}
	operations := map[string]int64{}
	ph, _ := m.Phase(recording.PhaseClean)
	for _, b := range ph.Benchmarks {
		for _, s := range b.Samples {
			operations[b.Name] = max(operations[b.Name], s.Iterations)
		}
	}
	for i := range t.options {
		t.options[i].PeakOperations = operations
	}
	return nil
}

// optionsOf returns the options of a run of a variant.
func (t *try) optionsOf(ctx context.Context, i int, v Variant) (capture.Options, error) {
	o := t.Options
	if o.Load != nil {
		o.Answers = sampleOf
	}
	o.Env = slices.Concat(o.Env, v.Env)
	o.Settings = slices.Concat(o.Settings, v.Env)
	o.BuildFlags = slices.Concat(o.BuildFlags, v.BuildFlags)
	o.BuildEnv = slices.Concat(o.BuildEnv, v.BuildEnv)
	if v.Toolchain != "" {
		o.BuildEnv = slices.Concat(o.BuildEnv, []string{"GOTOOLCHAIN=" + v.Toolchain})
	}
	if v.PGO != "" {
		file := filepath.Join(t.dir, fmt.Sprintf("pgo%d.pprof", i))
		if err := t.writeProfile(ctx, v.PGO, file); err != nil {
			return o, err
		}
		o.BuildFlags = slices.Concat(o.BuildFlags, []string{"-pgo=" + file})
	}
	if v.Dir != "" {
		o.Dir = v.Dir
		return o, nil
	}
	if err := t.useModules(ctx, &o, v.Modules); err != nil || v.Ref == "" && v.Patch == "" {
		return o, err
	}
	if filepath.IsAbs(o.Package) {
		return o, errors.New("a commit's files are elsewhere: name the package relative to its module, as ./cmd/server")
	}
	root := filepath.Join(t.dir, fmt.Sprintf("ref%d", i))
	old, _, err := gittree.Checkout(ctx, o.Dir, cmp.Or(v.Ref, "HEAD"), root)
	if err == nil && v.Patch != "" {
		err = gittree.Apply(ctx, root, old, v.Patch)
	}
	o.Dir = old
	return o, err
}

// writeProfile writes the CPU profile of a source to a file that the compiler can read.
func (t *try) writeProfile(ctx context.Context, arg, file string) error {
	src, err := t.cfg.Opener().Profile(ctx, arg)
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(src.Profile.Encode(f), f.Close())
}

// useModules makes the build use other versions of dependencies, or directories in place of them.
func (t *try) useModules(ctx context.Context, o *capture.Options, modules []string) error {
	if len(modules) == 0 {
		return nil
	}
	work, err := os.MkdirTemp(t.dir, "modules-")
	if err != nil {
		return err
	}
	tree, err := altmod.Open(ctx, "go", o.Dir, work)
	if err != nil {
		return err
	}
	var b altmod.Build
	for _, m := range modules {
		if path, dir, ok := strings.Cut(m, "="); ok {
			b, err = tree.Replace(path, dir)
		} else {
			path, version, _ := strings.Cut(m, "@")
			b, err = tree.With(ctx, path, version)
		}
		if err == nil {
			err = tree.Continue(b)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	o.BuildFlags, o.BuildEnv = slices.Concat(o.BuildFlags, b.Flags), slices.Concat(o.BuildEnv, b.Env)
	return nil
}

// once records one run of a variant. A variant that has failed is not run again.
func (t *try) once(ctx context.Context, variant int) error {
	k := &t.runs[variant]
	if k.failed != nil || variant == 0 && t.allFailed() {
		return nil
	}
	t.n++
	name := "unchanged"
	if variant > 0 {
		name = t.Variants[variant-1].Name
	}
	o := t.options[variant]
	o.Phases = []string{}
	o.Out = filepath.Join(t.folder(), fmt.Sprintf("%02d-%d.hone", t.n, variant))
	cfg := t.cfg
	cfg.Progress = nil
	if t.Progress != nil {
		e := capture.Event{Phase: "try", Text: fmt.Sprintf("run %d: %s", t.n, name)}
		if t.Budget <= 0 && t.Width <= 0 {
			e.At, e.Of = time.Duration(t.n), time.Duration(t.Runs*len(t.options))
			e.Text = fmt.Sprintf("run %d of %d: %s", e.At, e.Of, name)
		}
		t.Progress(e)
	}
	path, err := session.Record(ctx, cfg, o)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if variant == 0 {
			return err
		}
		k.failed = err
		return nil
	}
	rec, err := recording.Open(path)
	if err != nil {
		return err
	}
	defer rec.Close()
	if err := k.addAnswers(rec); err != nil {
		return err
	}
	k.sources = append(k.sources, compare.Source{Name: filepath.Base(path), Manifest: rec.Manifest})
	if rec.Manifest.Target.Kind == "program" {
		var text []byte
		if rec.Has(recording.PartStdout) {
			if text, err = rec.Bytes(recording.PartStdout); err != nil {
				return err
			}
		}
		k.printed = append(k.printed, sha256.Sum256(text))
	}
	return nil
}

// allFailed reports whether all variants have failed.
func (t *try) allFailed() bool {
	return !slices.ContainsFunc(t.runs[1:], func(k kept) bool { return k.failed == nil })
}

// folder returns the directory of the recordings.
func (t *try) folder() string {
	if t.Keep != "" {
		return t.Keep
	}
	return t.dir
}

// outcome compares a variant with the unchanged target.
func (t *try) outcome(v Variant, k *kept) Outcome {
	out := Outcome{Variant: v}
	if k.failed != nil {
		out.Failed = k.failed.Error()
		return out
	}
	c, err := compare.Recordings(t.runs[0].sources, k.sources, compare.Options{InTurns: true})
	if err != nil {
		out.Failed = err.Error()
		return out
	}
	c.Old, c.New = "unchanged", v.Name
	out.Comparison, out.RSSBytes = c, k.resident()
	// A program whose runs all print the same text, which differs from the target's, computes
	// something else.
	if same(t.runs[0].printed) && same(k.printed) && t.runs[0].printed[0] != k.printed[0] {
		out.Differs = "it prints something other than the unchanged program"
	} else {
		out.Answers, out.Differs = differ(t.runs[0].said, k.said)
	}
	for i := range c.Rows {
		if out.Differs != "" {
			c.Rows[i].Verdict, c.Rows[i].Why = compare.Unknown, out.Differs
		}
	}
	return out
}

// mostRuns is the maximum number of runs of a side with a budget or a width.
const mostRuns = 100

// widest returns half the width of the widest interval of CPU and time, as a share of the ratio;
// +Inf if one is unknown.
func (t *try) widest() float64 {
	width := 0.0
	for i, v := range t.Variants {
		out := t.outcome(v, &t.runs[i+1])
		if out.Comparison == nil {
			continue // it has failed: more runs would not help
		}
		for _, r := range out.Comparison.Rows {
			switch {
			case !slices.Contains([]string{"cpu", "time", "wall", "throughput"}, r.Metric):
			case r.Low == nil || r.High == nil || r.Ratio == nil:
				return math.Inf(1)
			default:
				width = math.Max(width, (*r.High-*r.Low)/(2**r.Ratio))
			}
		}
	}
	return width
}

// resident returns the median over runs of the largest size of the process.
func (k *kept) resident() int64 {
	var sizes []float64
	for _, s := range k.sources {
		if ph, ok := s.Manifest.Phase(recording.PhaseClean); ok && ph.RSSBytes > 0 {
			sizes = append(sizes, float64(max(ph.PeakRSSBytes, ph.RSSBytes)))
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	return int64(stats.Median(sizes))
}

func same(hashes [][sha256.Size]byte) bool {
	return len(hashes) > 1 && !slices.ContainsFunc(hashes, func(h [sha256.Size]byte) bool { return h != hashes[0] })
}
