// Package experiment tries variants of a target: other settings, another commit, other build flags. Each run is a
// recording of its own, of the clean phase alone; the target as it is and the variants take turns (package trial), and
// package compare judges the recordings of each variant beside those of the target.
//
// The decision behind it: a run is what `hone record -phases ""` makes, so that a trial measures what a recording measures, and
// what is kept can be looked at by every other command. A variant that does not build, fails, or prints something else than
// the target does is reported as that, and never as a gain.
package experiment

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

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
	Toolchain  string   `json:"toolchain,omitempty"`   // builds it in the place of the target's: "go1.27.1"
	Ref        string   `json:"ref,omitempty"`         // a git ref whose files are built in the place of the tree's
	Dir        string   `json:"-"`                     // a directory in the place of the target's; with it, no Ref
}

// Spec says what to try.
type Spec struct {
	Options  capture.Options // of one run; its Phases do not matter
	Variants []Variant
	Runs     int    // of each variant, even; 0: 6
	Keep     string // a folder for the recordings; "": they are removed
	Seed     uint64 // of the order; 0: from the time
	Progress func(capture.Event)
}

// Result is what came of it.
type Result struct {
	Schema   string    `json:"schema"`
	Target   string    `json:"target"`
	Runs     int       `json:"runs"` // of the target as it is
	Seconds  float64   `json:"seconds"`
	RSSBytes int64     `json:"rss_bytes,omitempty"` // of the target as it is: the median of its runs
	Outcomes []Outcome `json:"outcomes"`
}

// Outcome is what is known of a variant.
type Outcome struct {
	Variant
	Comparison *compare.Comparison `json:"comparison,omitempty"` // with the target as it is
	RSSBytes   int64               `json:"rss_bytes,omitempty"`  // the median of its runs
	Failed     string              `json:"failed,omitempty"`     // why there is none
	Differs    string              `json:"differs,omitempty"`    // how its answers differ
}

// dirPrefix starts the names of the directories for runs and commits.
const dirPrefix = "try-"

// Run runs the target and its variants in turns. A target that fails as it is, is an error; a variant that fails is an outcome.
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

// try is a Run under way. Variant 0 is the target as it is.
type try struct {
	Spec
	cfg     session.Config
	dir     string
	options []capture.Options
	runs    []kept
	n       int
}

// kept are the runs of a variant.
type kept struct {
	sources []compare.Source
	printed [][sha256.Size]byte
	failed  error
}

func (t *try) run(ctx context.Context) (*Result, error) {
	began := time.Now()
	t.options = []capture.Options{t.Options}
	for i, v := range t.Variants {
		o, err := t.optionsOf(ctx, i, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		t.options = append(t.options, o)
	}
	turns := trial.New(len(t.options), t.Seed, trial.Limits{Least: t.Runs, Most: t.Runs})
	err := turns.Run(ctx, t.once, func() bool { return false })
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

// optionsOf are those of a run of a variant.
func (t *try) optionsOf(ctx context.Context, i int, v Variant) (capture.Options, error) {
	o := t.Options
	o.Env = slices.Concat(o.Env, v.Env)
	o.Settings = slices.Concat(o.Settings, v.Env)
	o.BuildFlags = slices.Concat(o.BuildFlags, v.BuildFlags)
	o.BuildEnv = slices.Concat(o.BuildEnv, v.BuildEnv)
	if v.Toolchain != "" {
		o.BuildEnv = slices.Concat(o.BuildEnv, []string{"GOTOOLCHAIN=" + v.Toolchain})
	}
	if v.Dir != "" {
		o.Dir = v.Dir
		return o, nil
	}
	if v.Ref == "" {
		return o, nil
	}
	if filepath.IsAbs(o.Package) {
		return o, errors.New("a commit's files are elsewhere: name the package relative to its module, as ./cmd/server")
	}
	old, _, err := gittree.Checkout(ctx, o.Dir, v.Ref, filepath.Join(t.dir, fmt.Sprintf("ref%d", i)))
	o.Dir = old
	return o, err
}

// once records one run of a variant. The first error of a variant ends its turns.
func (t *try) once(ctx context.Context, variant int) error {
	k := &t.runs[variant]
	if k.failed != nil {
		return nil
	}
	t.n++
	name := "as it is"
	if variant > 0 {
		name = t.Variants[variant-1].Name
	}
	o := t.options[variant]
	o.Phases = []string{}
	o.Out = filepath.Join(t.folder(), fmt.Sprintf("%02d-%d.hone", t.n, variant))
	cfg := t.cfg
	cfg.Progress = nil
	if t.Progress != nil {
		t.Progress(capture.Event{Phase: "try", Text: fmt.Sprintf("run %d of %d: %s", t.n, t.Runs*len(t.options), name), At: time.Duration(t.n), Of: time.Duration(t.Runs * len(t.options))})
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

// folder is where recordings go.
func (t *try) folder() string {
	if t.Keep != "" {
		return t.Keep
	}
	return t.dir
}

// outcome compares a variant with the target as it is.
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
	c.Old, c.New = "as it is", v.Name
	out.Comparison, out.RSSBytes = c, k.resident()
	// A program whose runs print the same each time prints something else in the variant: it computes something else.
	if same(t.runs[0].printed) && same(k.printed) && t.runs[0].printed[0] != k.printed[0] {
		out.Differs = "it prints something else than the program as it is"
		for i := range c.Rows {
			c.Rows[i].Verdict, c.Rows[i].Why = compare.Unknown, out.Differs
		}
	}
	return out
}

// resident is the median over runs of the process's size.
func (k *kept) resident() int64 {
	var sizes []float64
	for _, s := range k.sources {
		if ph, ok := s.Manifest.Phase(recording.PhaseClean); ok && ph.RSSBytes > 0 {
			sizes = append(sizes, float64(ph.RSSBytes))
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
