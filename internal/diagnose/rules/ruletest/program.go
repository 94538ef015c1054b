package ruletest

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

// program is a built program and what its runs recorded, in sum.
type program struct {
	bin  *target.Binary
	code *gocode.Index

	runs                        int
	wall, cpu                   float64 // seconds
	rss                         int64
	onCPU, allocs, mutex, block *profile.Profile
	heap                        *profile.Profile  // of the last run's end
	traced                      *analysis.Results // nil without a trace
}

// build builds the program in an archive.
func build(t *testing.T, archive string) *program {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs a program")
	}
	dir, work := t.TempDir(), t.TempDir()
	for _, f := range parse(t, archive).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bin, err := target.Build(t.Context(), target.BuildSpec{Package: ".", Dir: dir, WorkDir: work})
	if err != nil {
		t.Fatal(err)
	}
	if !bin.Probe {
		t.Fatalf("built without a probe: %v", bin.Notes)
	}
	code, err := gocode.Open(t.Context(), gocode.Config{Dir: bin.Dir, ImportPath: bin.ImportPath, CacheDir: work})
	if err != nil {
		t.Fatal(err)
	}
	return &program{bin: bin, code: code}
}

// A program is run until its profile can be expected to have sixty samples, unless it mostly waits, and again for
// what it must show and has not: on a busy machine the kernel drops up to half of a profile's signals.
const (
	enoughCPU  = 0.6 // seconds
	enoughWall = 1.0
	mostRuns   = 12
)

// record runs the program under its profiles, as often as it takes.
func (p *program) record(t *testing.T) {
	t.Helper()
	for p.runs == 0 || p.runs < mostRuns && p.cpu < enoughCPU && p.wall < enoughWall {
		p.again(t)
	}
}

// again runs the program once more under its profiles.
func (p *program) again(t *testing.T) {
	t.Helper()
	parts, exit := p.run(t, target.Collect{CPU: true, Allocs: true, Contention: true}, "cpu", "heap.start", "heap.end")
	p.runs++
	p.wall += exit.Wall.Seconds()
	p.cpu += exit.Usage.CPUSeconds
	p.rss = max(p.rss, exit.Usage.MaxRSS)
	p.onCPU = sum(t, p.onCPU, decode(t, parts["cpu"]))
	p.mutex = sum(t, p.mutex, decode(t, parts["mutex"]))
	p.block = sum(t, p.block, decode(t, parts["block"]))
	p.heap = decode(t, parts["heap.end"])
	gained, err := profile.Subtract(p.heap, decode(t, parts["heap.start"]))
	if err != nil {
		t.Fatal(err)
	}
	p.allocs = sum(t, p.allocs, gained)
}

// run runs the program to its end. It must leave the named parts.
func (p *program) run(t *testing.T, collect target.Collect, names ...string) (map[string][]byte, target.Exit) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	started, err := p.bin.Start(ctx, target.RunSpec{Collect: collect})
	if err != nil {
		t.Fatal(err)
	}
	<-started.Done()
	exit := started.Exit()
	if why := exit.Failure(); why != "" {
		t.Fatal(why)
	}
	parts, missing := started.Parts()
	for _, name := range names {
		if parts[name] == nil {
			t.Fatalf("no %s: %s", name, missing[name])
		}
	}
	return parts, exit
}

// pass joins what was recorded with the program's code.
func (p *program) pass(t *testing.T) *rule.Pass {
	t.Helper()
	ctx := t.Context()
	pass := &rule.Pass{Code: p.code, RecordingPath: "rec.hone", Manifest: p.manifest()}
	var err error
	if pass.Table, err = site.Join(ctx, site.Input{
		CPU: p.onCPU, Heap: p.heap, Mutex: p.mutex, Block: p.block, Allocs: p.allocs,
		ContentionSeconds: p.wall, Code: p.code,
	}); err != nil {
		t.Fatal(err)
	}
	if pass.Growth, err = site.Growth(ctx, p.code, p.allocs); err != nil {
		t.Fatal(err)
	}
	pkgs := packages(pass.Table)
	if p.traced != nil {
		pass.Trace = p.traced
		if len(pkgs) == 0 { // a program that hardly uses the CPU
			pkgs = pass.TracedPackages(1)
		}
	}
	if pass.Syntax, err = p.code.Syntax(ctx, pkgs); err != nil {
		t.Fatal(err)
	}
	if pass.Facts, err = p.code.Facts(ctx, pkgs); err != nil {
		t.Fatal(err)
	}
	return pass
}

// manifest says what a recording of the runs would say.
func (p *program) manifest() *recording.Manifest {
	m := &recording.Manifest{ID: "test"}
	m.Target.Kind = "program"
	m.Runtime.GOGC = 100
	m.Phases = []recording.Phase{{
		Name:       recording.PhaseCPU,
		Seconds:    p.wall,
		CPUSeconds: p.cpu,
		RSSBytes:   p.rss,
		Runs:       p.runs,
	}}
	return m
}

func decode(t *testing.T, data []byte) *profile.Profile {
	t.Helper()
	if data == nil {
		return nil
	}
	p, err := profile.Decode(bytes.NewReader(data), 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sum adds what a run recorded to what those before it did; nil is nothing.
func sum(t *testing.T, before, now *profile.Profile) *profile.Profile {
	t.Helper()
	if before == nil || now == nil {
		return cmp.Or(before, now)
	}
	p, err := profile.Merge(before, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// packages lists the packages of the main module and its dependencies that own sites.
func packages(table *site.Table) []string {
	seen := map[string]bool{}
	for _, s := range table.Sites {
		if k := s.Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && s.Owner.Package != "" {
			seen[s.Owner.Package] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
