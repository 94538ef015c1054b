package tunedeps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/experiment"
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
	Runs     int             // of the newest version and of the answer; 0: 4
	Seed     uint64
	Progress func(capture.Event)
}

// LeastShare is how much of CPU or of allocated bytes a module must own to be looked at unasked; MostModules is how many are.
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
	// Cure is the oldest version that saves what the newest saves; null when that saves nothing.
	Cure *Cure  `json:"cure"`
	Why  string `json:"why,omitempty"` // there is no cure
}

// Tried is a version.
type Tried struct {
	Version string   `json:"version"`
	Value   *float64 `json:"value,omitempty"` // of the cure's metric
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
		s.Runs = 4
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
	for i := range d.modules {
		if err := d.module(ctx, &d.modules[i]); err != nil {
			return nil, err
		}
		r.Modules = append(r.Modules, d.modules[i])
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// search is a Run under way.
type search struct {
	Spec
	cfg     session.Config
	dir     string
	tree    *tree
	base    compare.Source // the target as it is
	modules []Module
	n       int
}

func (d *search) say(format string, args ...any) {
	if d.Progress != nil {
		d.Progress(capture.Event{Phase: "tune", Text: fmt.Sprintf(format, args...)})
	}
}

// observe records the target as it is, and finds the modules that own its cost.
func (d *search) observe(ctx context.Context) error {
	d.say("recording the target as it is")
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
	d.base = compare.Source{Name: "as it is", Manifest: r.Manifest}
	if d.tree, err = openTree(ctx, "go", r.Manifest.Target.Dir, d.dir); err != nil {
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
	if len(d.modules) == 0 {
		return fmt.Errorf("tune deps: no module that the target uses owns %.0f %% of its CPU or of its allocated bytes; name one with -module", 100*LeastShare)
	}
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

// mostNewest is how many of the newest versions are tried until one builds.
const mostNewest = 3

// module looks for a version of one module that cures.
func (d *search) module(ctx context.Context, m *Module) error {
	version, replaced, err := d.tree.current(ctx, m.Path)
	if err != nil {
		return err
	}
	m.Version = version
	if replaced {
		m.Why = "go.mod replaces it: a version of it would not be built"
		return nil
	}
	versions, err := d.tree.newer(ctx, m.Path, version)
	if err != nil {
		return err
	}
	for n := 0; n < mostNewest && len(versions) > 0; n++ {
		newest := versions[len(versions)-1]
		out, err := d.experiment(ctx, m.Path, newest)
		if err != nil {
			return err
		}
		if out.Failed != "" {
			m.Tried = append(m.Tried, Tried{Version: newest, Failed: out.Failed})
			versions = versions[:len(versions)-1]
			continue
		}
		m.Newest = newest
		row := saved(out.Comparison)
		if row == nil {
			m.Tried = append(m.Tried, Tried{Version: newest})
			m.Why = "the newest version that builds saves nothing"
			return nil
		}
		return d.bisect(ctx, m, versions, out, row)
	}
	m.Why = "there is no newer version"
	if len(m.Tried) > 0 {
		m.Why = "the newest versions do not build with the target"
	}
	return nil
}

// saved is the row in which a version saves most; nil when none has that verdict.
func saved(c *compare.Comparison) *compare.Row {
	var best *compare.Row
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Verdict != compare.Better || r.Ratio == nil || *r.Ratio <= 0 || r.Old <= 0 || strings.HasPrefix(r.Metric, "latency") || r.Metric == "throughput" {
			continue
		}
		if best == nil || *r.Ratio < *best.Ratio {
			best = r
		}
	}
	return best
}

// bisect finds the oldest of the versions that saves what the last one, newest, does; each is recorded once, and one whose figure is
// nearer to the newest's than to the target's (by ratio) is one that cures.
func (d *search) bisect(ctx context.Context, m *Module, versions []string, newest experiment.Outcome, row *compare.Row) error {
	between := math.Sqrt(row.Old * row.New)
	cures := func(v float64) bool { return v <= between }
	m.Tried = append(m.Tried, Tried{Version: versions[len(versions)-1], Value: &row.New, Cures: true})
	low, high := -1, len(versions)-1 // low does not cure, high does
	for high-low > 1 {
		mid := (low + high) / 2
		v, failed, err := d.value(ctx, m.Path, versions[mid], row)
		if err != nil {
			return err
		}
		x := Tried{Version: versions[mid], Failed: failed}
		if failed == "" {
			x.Value, x.Cures = &v, cures(v)
		}
		m.Tried = append(m.Tried, x)
		if x.Cures {
			high = mid
		} else {
			low = mid
		}
	}
	slices.SortStableFunc(m.Tried, func(a, b Tried) int { return slices.Index(versions, a.Version) - slices.Index(versions, b.Version) })
	c := &Cure{Version: versions[high], Name: row.Name, Metric: row.Metric, Unit: row.Unit, Old: row.Old, Comparison: newest.Comparison}
	if high != len(versions)-1 { // the figures of one recording are not proof
		out, err := d.experiment(ctx, m.Path, versions[high])
		if err != nil {
			return err
		}
		if out.Comparison == nil || saved(out.Comparison) == nil {
			c.Version = versions[len(versions)-1]
		} else {
			c.Comparison = out.Comparison
		}
	}
	m.Cure = c
	return nil
}

// experiment runs a version in turns with the target as it is.
func (d *search) experiment(ctx context.Context, module, version string) (experiment.Outcome, error) {
	d.say("%s@%s, in turns with the target as it is", module, version)
	flags, err := d.tree.with(ctx, module, version)
	if ctx.Err() != nil {
		return experiment.Outcome{}, ctx.Err()
	}
	if err != nil {
		return experiment.Outcome{Failed: err.Error()}, nil
	}
	r, err := experiment.Run(ctx, d.cfg, experiment.Spec{Options: d.Options, Runs: d.Runs, Seed: d.Seed, Progress: d.Progress,
		Variants: []experiment.Variant{{Name: module + "@" + version, BuildFlags: flags}}})
	if err != nil {
		return experiment.Outcome{}, err
	}
	return r.Outcomes[0], nil
}

// value records a version once and returns the metric of a row.
func (d *search) value(ctx context.Context, module, version string, row *compare.Row) (v float64, failed string, err error) {
	d.say("%s@%s", module, version)
	flags, err := d.tree.with(ctx, module, version)
	if ctx.Err() != nil {
		return 0, "", ctx.Err()
	}
	if err != nil {
		return 0, err.Error(), nil
	}
	d.n++
	o := d.Options
	o.Phases, o.Out = []string{}, filepath.Join(d.dir, fmt.Sprintf("one%d.hone", d.n))
	o.BuildFlags = slices.Concat(o.BuildFlags, flags)
	path, err := session.Record(ctx, d.cfg, o)
	if ctx.Err() != nil {
		return 0, "", ctx.Err()
	}
	if err != nil {
		return 0, err.Error(), nil
	}
	rec, err := recording.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer rec.Close()
	c, err := compare.Recordings([]compare.Source{d.base}, []compare.Source{{Name: version, Manifest: rec.Manifest}}, compare.Options{Force: true})
	if err != nil {
		return 0, err.Error(), nil
	}
	for _, r := range c.Rows {
		if r.Name == row.Name && r.Metric == row.Metric {
			return r.New, "", nil
		}
	}
	return 0, "it was not measured: " + row.Metric, nil
}
