//go:build live

package ruletest

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
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
	heap                        *profile.Profile // of the last run's end
}

// compile builds the program in an archive.
func compile(t *testing.T, archive string) *program {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs a program")
	}
	dir, work := unpack(t, archive), t.TempDir()
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

// A program is run until its profile can be expected to have sixty samples, unless it mostly waits.
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
	gained, err := profile.Subtract(p.heap, decode(t, parts["heap.start"]), profile.Subtraction{})
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

// recordLive builds the program in an archive, runs it, and returns what was recorded.
func recordLive(t *testing.T, archive string, with extras) (*run, *gocode.Index) {
	t.Helper()
	p := compile(t, archive)
	p.record(t)
	info, err := buildinfo.ReadFile(p.bin.Path)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{
		figures:   figures{Runs: p.runs, Seconds: p.wall, CPUSeconds: p.cpu, RSSBytes: p.rss},
		buildInfo: info.String(),
		profiles: map[string]*profile.Profile{
			cpuProfile: p.onCPU, allocsProfile: p.allocs, heapProfile: p.heap, mutexProfile: p.mutex, blockProfile: p.block,
		},
	}
	ctx := t.Context()
	table, err := site.Join(ctx, r.input(p.code))
	if err != nil {
		t.Fatal(err)
	}
	r.figures.Packages = owning(table)
	if with.trace {
		results := p.trace(t)
		r.traced = traceOf(results)
		if len(r.figures.Packages) == 0 { // a program that hardly uses the CPU
			pass := &rule.Pass{Code: p.code, Trace: results}
			r.figures.Packages = traced.Packages(pass, 1)
		}
	}
	facts, err := p.code.Facts(ctx, r.figures.Packages)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := facts.Dump(&text, "escape", "copy", "leak"); err != nil {
		t.Fatal(err)
	}
	r.facts = text.String()
	if with.inputs {
		r.inputs = watchInputs(t, p)
	}
	if with.counts {
		r.counts = count(t, p, r.figures.Packages)
	}
	return r, p.code
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

// owning lists the packages of the main module and its dependencies that own sites.
func owning(table *site.Table) []string {
	seen := map[string]bool{}
	for _, s := range table.Sites {
		if k := s.Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && s.Owner.Package != "" {
			seen[s.Owner.Package] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
