package tunepgo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/internal/session"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

// Schema is the version of Result's JSON form.
const Schema = "hone/tunepgo/v1"

// Spec says what to measure.
type Spec struct {
	Options  capture.Options // of one run
	Profiles []string        // sources of CPU profiles to merge: files, recordings, URLs; none: one is recorded
	Write    bool            // write default.pgo in the directory of package main if the profile saves something
	Runs     int             // with and without; 0: 6
	Seed     uint64
	Progress func(capture.Event)
}

// Result is the effect of the profile.
type Result struct {
	Schema  string `json:"schema"`
	Target  string `json:"target"`
	Samples int64  `json:"samples"` // in the profile
	// Stale is the share of the profile's samples in functions that the target's own recording does
	// not contain, for a profile of other code. It is set only if profiles were given.
	Stale      *float64            `json:"stale,omitempty"`
	OldSize    int64               `json:"old_size_bytes"` // of the executable without the profile
	NewSize    int64               `json:"new_size_bytes"`
	BuildTime  float64             `json:"build_seconds"` // with the profile, from an empty build cache
	Comparison *compare.Comparison `json:"comparison,omitempty"`
	Failed     string              `json:"failed,omitempty"`
	Written    string              `json:"written,omitempty"` // the file, if one was written
	Seconds    float64             `json:"seconds"`
}

// dirPrefix starts the names of the directories that Run makes.
const dirPrefix = "pgo-"

// Run records, builds and measures.
func Run(ctx context.Context, cfg session.Config, s Spec) (*Result, error) {
	if s.Options.URL != "" || s.Options.Bench != "" {
		return nil, errors.New("tune pgo: name a main package: a profile is for the build of a program")
	}
	began := time.Now()
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
	cfg.Progress = nil
	t := &trial{Spec: s, cfg: cfg, dir: dir.Path, r: &Result{Schema: Schema}}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	t.r.Seconds = time.Since(began).Seconds()
	return t.r, nil
}

// trial is the state of a Run.
type trial struct {
	Spec
	cfg  session.Config
	dir  string
	r    *Result
	main string // directory of package main
}

func (t *trial) say(format string, args ...any) {
	if t.Progress != nil {
		t.Progress(capture.Event{Phase: "tune", Text: fmt.Sprintf(format, args...)})
	}
}

func (t *trial) run(ctx context.Context) error {
	given, err := t.given(ctx) // first: a wrong source should not cost a recording
	if err != nil {
		return err
	}
	own, err := t.record(ctx)
	if err != nil {
		return err
	}
	p, err := t.choose(given, own)
	if err != nil {
		return err
	}
	file := filepath.Join(t.dir, "merged.pgo")
	if err := write(file, p); err != nil {
		return err
	}
	if err := t.sizes(ctx, file); err != nil {
		t.r.Failed = err.Error()
		return ctx.Err()
	}
	r, err := experiment.Run(ctx, t.cfg, experiment.Spec{Options: t.without(), Runs: t.Runs, Seed: t.Seed, Progress: t.Progress,
		Variants: []experiment.Variant{{Name: "with the profile", BuildFlags: []string{"-pgo=" + file}}}})
	if err != nil {
		return err
	}
	out := r.Outcomes[0]
	t.r.Comparison, t.r.Failed = out.Comparison, out.Failed
	if t.Write && out.Comparison != nil && saves(out.Comparison) {
		t.r.Written = filepath.Join(t.main, "default.pgo")
		return write(t.r.Written, p)
	}
	return nil
}

// without returns the options of the target built without a profile, even if there is a
// default.pgo.
func (t *trial) without() capture.Options {
	o := t.Options
	o.BuildFlags = slices.Concat(o.BuildFlags, []string{"-pgo=off"})
	return o
}

// record records a CPU profile of the target built without a profile.
func (t *trial) record(ctx context.Context) (*profile.Profile, error) {
	t.say("recording a CPU profile")
	o := t.without()
	o.Phases, o.Out = []string{recording.PhaseCPU}, filepath.Join(t.dir, "own.hone")
	path, err := session.Record(ctx, t.cfg, o)
	if err != nil {
		return nil, err
	}
	rec, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	t.r.Target, t.main = rec.Manifest.Target.Arg, rec.Manifest.Target.Dir
	part, err := rec.Part(recording.PartCPU)
	if err != nil {
		return nil, fmt.Errorf("tune pgo: the recording has no CPU profile: %w", err)
	}
	defer part.Close()
	return profile.Decode(part, 0)
}

// given returns the merged profiles of the sources that were given, or nil if none were.
func (t *trial) given(ctx context.Context) (*profile.Profile, error) {
	if len(t.Profiles) == 0 {
		return nil, nil
	}
	src, err := t.cfg.Opener().Profile(ctx, t.Profiles...)
	if err != nil {
		return nil, err
	}
	return src.Profile, t.count(src.Profile)
}

// choose returns the profile to build with: the given one, or that of the recording.
func (t *trial) choose(given, own *profile.Profile) (*profile.Profile, error) {
	if given == nil {
		return own, t.count(own)
	}
	stale := unknown(given, own)
	t.r.Stale = &stale
	return given, nil
}

// count counts the samples of the profile to build with. A profile without any is an error.
func (t *trial) count(p *profile.Profile) error {
	samples, err := p.SampleIndex("samples")
	if err != nil {
		return fmt.Errorf("tune pgo: the compiler needs a CPU profile with a column of samples: %w", err)
	}
	for _, n := range p.Values(samples) {
		t.r.Samples += n
	}
	if t.r.Samples == 0 {
		return errors.New("tune pgo: the profile has no samples: record longer, or under load")
	}
	return nil
}

// unknown returns the share of a profile's samples whose leaf function another profile does not
// contain.
func unknown(p, own *profile.Profile) float64 {
	known := map[string]bool{}
	for _, f := range own.Functions {
		known[f.Name] = true
	}
	index, err := p.SampleIndex("samples")
	if err != nil {
		return 0
	}
	var all, gone int64
	for i, n := range p.Values(index) {
		stack := p.Stack(i)
		if len(stack) == 0 || len(p.Locations[stack[0]].Lines) == 0 {
			continue
		}
		all += n
		if !known[p.Functions[p.Locations[stack[0]].Lines[0].Func].Name] {
			gone += n
		}
	}
	if all == 0 {
		return 0
	}
	return float64(gone) / float64(all)
}

// sizes builds the target without and with the profile.
func (t *trial) sizes(ctx context.Context, file string) error {
	for _, b := range []struct {
		flag string
		size *int64
		took *float64
	}{{"-pgo=off", &t.r.OldSize, nil}, {"-pgo=" + file, &t.r.NewSize, &t.r.BuildTime}} {
		t.say("building with %s", b.flag)
		bin, err := target.Build(ctx, target.BuildSpec{Package: t.Options.Package, Dir: t.Options.Dir, WorkDir: t.dir,
			BuildFlags: slices.Concat(t.Options.BuildFlags, []string{b.flag}), NoProbe: true})
		if err != nil {
			return err
		}
		info, err := os.Stat(bin.Path)
		if err == nil {
			*b.size = info.Size()
		}
		if b.took != nil {
			*b.took = bin.Took.Seconds()
		}
		bin.Remove()
	}
	return nil
}

// saves reports whether CPU or the time of a run is lower, and none of CPU, time and throughput is
// worse.
func saves(c *compare.Comparison) bool {
	better := false
	for _, r := range c.Rows {
		if r.Metric != "cpu" && r.Metric != "wall" && r.Metric != "throughput" {
			continue
		}
		switch r.Verdict {
		case compare.Better:
			better = true
		case compare.Worse:
			return false
		}
	}
	return better
}

func write(path string, p *profile.Profile) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = p.Encode(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
