package tunedeps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/altmod"
	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/scratch"
	"github.com/hone-go/hone/internal/session"
)

// Schema is the version of Result's JSON form.
const Schema = "hone/tunedeps/v1"

// Spec says what to tune.
type Spec struct {
	Options  capture.Options // of one run
	Modules  []string        // paths; none: those that own at least LeastShare of CPU or of allocated bytes
	Write    bool            // require the versions that were found in the target's go.mod, with go get
	Runs     int             // of each side of a trial, even; 0: 6, so that ranks can judge
	Seed     uint64
	Progress func(capture.Event)
}

// LeastShare is how much of CPU or of allocated bytes a module must own to be examined without
// being named; MostModules is how many modules are examined.
const (
	LeastShare  = 0.05
	MostModules = 3
)

// Result is what was found, a module after the other.
type Result struct {
	Schema  string   `json:"schema"`
	Target  string   `json:"target"`
	Unit    string   `json:"unit"`
	Modules []Module `json:"modules"`
	Why     string   `json:"why,omitempty"` // no module was looked at
	Seconds float64  `json:"seconds"`
}

// Module is a dependency.
type Module struct {
	Path      string  `json:"path"`
	Version   string  `json:"version"`
	Share     float64 `json:"share"`       // of CPU
	ByteShare float64 `json:"bytes_share"` // of allocated bytes
	// Newest is the newest version that was tried; "" when there is none.
	Newest string  `json:"newest,omitempty"`
	Tried  []Tried `json:"tried"`
	// Cure is the oldest version that was found to save at least half of what a newer one saves;
	// null when no version saves anything.
	Cure *Cure `json:"cure"`
	// Last is the newest of the versions that were searched, if it is another one: it may save more
	// of something else.
	Last *Cure  `json:"last,omitempty"`
	Why  string `json:"why,omitempty"` // why no version was found
	// Required reports whether go.mod requires Cure now.
	Required bool `json:"required,omitempty"`
}

// Tried is a version.
type Tried struct {
	Version string   `json:"version"`
	Value   *float64 `json:"value,omitempty"` // of the metric that decided
	Cures   bool     `json:"cures"`
	Failed  string   `json:"failed,omitempty"`
}

// Cure is the version to take.
type Cure struct {
	Version    string              `json:"version"`
	Name       string              `json:"name"` // "clean phase", or a benchmark
	Metric     string              `json:"metric"`
	Unit       string              `json:"unit"`
	Old        float64             `json:"old"` // value of the metric with the target's version
	Comparison *compare.Comparison `json:"comparison"`
}

// dirPrefix starts the names of the directories that Run makes.
const dirPrefix = "deps-"

// Run looks at each module.
func Run(ctx context.Context, cfg session.Config, s Spec) (*Result, error) {
	if s.Options.URL != "" {
		return nil, errors.New("tune deps: a running service cannot be built with other versions: name its package")
	}
	if s.Runs <= 0 {
		s.Runs = 6
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
	d := &search{Spec: s, cfg: cfg, dir: dir.Path}
	d.cfg.Progress = nil
	if err := d.observe(ctx); err != nil {
		return nil, err
	}
	r := &Result{Schema: Schema, Target: d.base.Manifest.Target.Arg, Unit: d.base.Manifest.Unit(), Modules: []Module{}}
	if len(d.modules) == 0 {
		r.Why = fmt.Sprintf("no module that the target uses owns %.0f %% of its CPU or of its allocated bytes", 100*LeastShare)
	}
	for i := range d.modules {
		if err := d.module(ctx, &d.modules[i]); err != nil {
			return nil, err
		}
		r.Modules = append(r.Modules, d.modules[i])
	}
	if s.Write {
		if err := require(ctx, s.Options.Dir, r.Modules); err != nil {
			return nil, err
		}
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// search is a Run under way.
type search struct {
	Spec
	cfg     session.Config
	dir     string
	tree    *altmod.Tree
	base    compare.Source // the unchanged target
	modules []Module
	n       int
}

func (d *search) say(format string, args ...any) {
	if d.Progress != nil {
		d.Progress(capture.Event{Phase: "tune", Text: fmt.Sprintf(format, args...)})
	}
}

// observe records the unchanged target, and finds the modules that own its cost.
func (d *search) observe(ctx context.Context) error {
	d.say("recording the unchanged target")
	o := d.Options
	o.Phases, o.Out = []string{recording.PhaseCPU}, filepath.Join(d.dir, "base.hone")
	path, err := session.Record(ctx, d.cfg, o)
	if err != nil {
		return err
	}
	r, err := session.Diagnose(ctx, d.cfg, path)
	if err != nil {
		return err
	}
	d.base = compare.Source{Name: "unchanged", Manifest: r.Manifest}
	if d.tree, err = altmod.Open(ctx, "go", r.Manifest.Target.Dir, d.dir); err != nil {
		return err
	}
	shares := map[string]*Module{}
	for _, s := range r.Table.Sites {
		if s.Owner.Kind != gocode.Dependency || s.Owner.Module == "" {
			continue
		}
		m := shares[s.Owner.Module]
		if m == nil {
			m = &Module{Path: s.Owner.Module, Version: s.Owner.Version, Tried: []Tried{}}
			shares[s.Owner.Module] = m
		}
		if t := r.Table.Totals; t.TotalSeconds > 0 {
			m.Share += (s.Cost.CPUSeconds + s.Cost.GCSeconds) / t.TotalSeconds
		}
		if t := r.Table.Totals; t.AllocBytes > 0 {
			m.ByteShare += float64(s.Cost.AllocBytes) / float64(t.AllocBytes)
		}
	}
	d.modules = choose(shares, d.Modules)
	return nil
}

// choose takes the modules that were named, or the most expensive.
func choose(shares map[string]*Module, named []string) []Module {
	var out []Module
	if len(named) > 0 {
		for _, path := range named {
			if m := shares[path]; m != nil {
				out = append(out, *m)
			} else {
				out = append(out, Module{Path: path, Tried: []Tried{}})
			}
		}
		return out
	}
	for _, m := range shares {
		if max(m.Share, m.ByteShare) >= LeastShare {
			out = append(out, *m)
		}
	}
	slices.SortFunc(out, func(a, b Module) int {
		return cmp.Or(cmp.Compare(max(b.Share, b.ByteShare), max(a.Share, a.ByteShare)), strings.Compare(a.Path, b.Path))
	})
	return out[:min(len(out), MostModules)]
}
