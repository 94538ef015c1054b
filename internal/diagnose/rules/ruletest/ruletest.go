// Package ruletest proves rules on real programs: it builds a small program from
// a txtar archive with hone's probe, runs it once under the CPU and allocation
// profiles, joins what was recorded with its code, and runs one rule.
//
// A program says in its own source what the rule must find: a line that ends in
// "// want RULE" must be found, one in "// may RULE" may be (it is guilty, but costs so little
// that a short run has a sample of it now and then), every other line must not. Programs
// end by themselves within a second or two of CPU, so that the test does too.
package ruletest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

// Test runs a rule on both programs of the folder that the test is in. Package rules does so for all rules that
// have no test of their own.
func Test(t *testing.T, r rule.Rule) {
	t.Run("caught", func(t *testing.T) { Caught(t, r, ".") })
	t.Run("nearmiss", func(t *testing.T) {
		Compare(t, r, RecordFor(t, r, filepath.Join("testdata", "nearmiss.txtar")), nil)
	})
}

// Caught runs a rule on the program in its folder that it must catch.
func Caught(t *testing.T, r rule.Rule, folder string) {
	t.Helper()
	archive := filepath.Join(folder, "testdata", "caught.txtar")
	want := Wanted(t, archive, r.ID)
	if len(want) == 0 {
		t.Fatalf("%s marks no line for %s", archive, r.ID)
	}
	pass := RecordFor(t, r, archive)
	Compare(t, r, pass, want)
	unseen(t, r, pass)
}

// RecordFor is [Record], and [RecordTraced] for a rule that needs a trace.
func RecordFor(t *testing.T, r rule.Rule, archive string) *rule.Pass {
	t.Helper()
	if slices.Contains(r.Needs, rule.NeedTrace) {
		return RecordTraced(t, archive)
	}
	return Record(t, archive)
}

// FindTraced records a program with its trace and returns what a rule finds in it.
func FindTraced(t *testing.T, r rule.Rule, archive string) ([]rule.Match, *rule.Pass) {
	t.Helper()
	p := RecordTraced(t, archive)
	matches, err := r.Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return matches, p
}

// Compare runs a rule and compares the lines that it finds with those wanted: see [Wanted].
func Compare(t *testing.T, r rule.Rule, pass *rule.Pass, want map[string]bool) {
	t.Helper()
	matches, err := r.Find(t.Context(), pass)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]rule.Match{}
	for _, m := range matches {
		if m.Site == nil {
			t.Errorf("a match without a site: %s", m.Cause)
			continue
		}
		got[fmt.Sprintf("%s:%d", filepath.Base(m.Site.File), m.Site.Line)] = m
	}
	for _, line := range slices.Sorted(maps.Keys(want)) {
		m, ok := got[line]
		if !ok {
			if want[line] {
				t.Errorf("%s: not found", line)
			}
			continue
		}
		t.Logf("%s: %s %s [%s]", line, m.Cause, m.Fix, m.Confidence)
		if (m.Confidence == rule.Hint) != r.Generic || m.Cause == "" || m.Fix == "" {
			t.Errorf("%s: confidence %q, cause %q, fix %q", line, m.Confidence, m.Cause, m.Fix)
		}
		if m.Empty() && m.Saving == nil {
			t.Errorf("%s: owns no rows", line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(got)) {
		if _, known := want[line]; !known {
			t.Errorf("%s: wrongly accused: %s", line, got[line].Cause)
		}
	}
	if t.Failed() {
		logSites(t, pass.Table)
	}
}

// unseen runs the rule as if there were no source: what it then says is a hint.
func unseen(t *testing.T, r rule.Rule, pass *rule.Pass) {
	t.Helper()
	blind := *pass
	blind.Syntax, blind.Facts = nil, nil
	matches, err := r.Find(t.Context(), &blind)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		if m.Confidence != rule.Hint || m.Cause == "" || m.Fix == "" {
			t.Errorf("without source, line %d: confidence %q, cause %q", m.Site.Line, m.Confidence, m.Cause)
		}
	}
}

// Wanted returns the lines of an archive that are marked for a rule, as "main.go:12": true for those
// that must be found, false for those that may be.
func Wanted(t *testing.T, archive, id string) map[string]bool {
	t.Helper()
	a := parse(t, archive)
	want := map[string]bool{}
	for _, f := range a.Files {
		for i, line := range strings.Split(string(f.Data), "\n") {
			for mark, must := range map[string]bool{"// want ": true, "// may ": false} {
				if _, rules, ok := strings.Cut(line, mark); ok && slices.Contains(strings.Fields(rules), id) {
					want[fmt.Sprintf("%s:%d", filepath.Base(f.Name), i+1)] = must
				}
			}
		}
	}
	return want
}

func parse(t *testing.T, archive string) *txtar.Archive {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Record builds and runs the program in an archive and returns what a rule sees of
// it: the join of its profiles, its syntax, and the compiler's facts.
func Record(t *testing.T, archive string) *rule.Pass {
	t.Helper()
	pass, _ := record(t, archive)
	return pass
}

// record is Record that also returns the built program.
func record(t *testing.T, archive string) (*rule.Pass, *target.Binary) {
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
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	bin, err := target.Build(ctx, target.BuildSpec{Package: ".", Dir: dir, WorkDir: work})
	if err != nil {
		t.Fatal(err)
	}
	if !bin.Probe {
		t.Fatalf("built without a probe: %v", bin.Notes)
	}
	parts, exit := run(ctx, t, bin, target.Collect{CPU: true, Allocs: true, Contention: true}, "cpu", "heap.start", "heap.end")
	in := site.Input{
		CPU:    decode(t, parts["cpu"]),
		Heap:   decode(t, parts["heap.end"]),
		Mutex:  decode(t, parts["mutex"]),
		Block:  decode(t, parts["block"]),
		Allocs: delta(t, parts["heap.start"], parts["heap.end"]),
	}
	in.ContentionSeconds = exit.Wall.Seconds()
	in.Code, err = gocode.Open(ctx, gocode.Config{Dir: bin.Dir, ImportPath: bin.ImportPath, CacheDir: work})
	if err != nil {
		t.Fatal(err)
	}
	pass := &rule.Pass{Code: in.Code, RecordingPath: "rec.hone", Manifest: manifest(exit)}
	if pass.Table, err = site.Join(ctx, in); err != nil {
		t.Fatal(err)
	}
	if pass.Growth, err = site.Growth(ctx, in.Code, in.Allocs); err != nil {
		t.Fatal(err)
	}
	pkgs := packages(pass.Table)
	if pass.Syntax, err = in.Code.Syntax(ctx, pkgs); err != nil {
		t.Fatal(err)
	}
	if pass.Facts, err = in.Code.Facts(ctx, pkgs); err != nil {
		t.Fatal(err)
	}
	return pass, bin
}

// run runs a built program to its end. It must leave the named parts.
func run(ctx context.Context, t *testing.T, bin *target.Binary, collect target.Collect, names ...string) (map[string][]byte, target.Exit) {
	t.Helper()
	p, err := bin.Start(ctx, target.RunSpec{Collect: collect})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	exit := p.Exit()
	if why := exit.Failure(); why != "" {
		t.Fatal(why)
	}
	parts, missing := p.Parts()
	for _, name := range names {
		if parts[name] == nil {
			t.Fatalf("no %s: %s", name, missing[name])
		}
	}
	return parts, exit
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

func delta(t *testing.T, from, to []byte) *profile.Profile {
	t.Helper()
	p, err := profile.Subtract(decode(t, to), decode(t, from))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// manifest says what a recording of the run would say.
func manifest(exit target.Exit) *recording.Manifest {
	m := &recording.Manifest{ID: "test"}
	m.Target.Kind = "program"
	m.Runtime.GOGC = 100
	m.Phases = []recording.Phase{{
		Name:       recording.PhaseCPU,
		Seconds:    exit.Wall.Seconds(),
		CPUSeconds: exit.Usage.CPUSeconds,
		RSSBytes:   exit.Usage.MaxRSS,
		Runs:       1,
	}}
	return m
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

// logSites shows what the rule had to go by.
func logSites(t *testing.T, table *site.Table) {
	t.Helper()
	for _, s := range table.Sites {
		t.Logf("%s %s:%d: %d samples, %d bytes", s.Function, filepath.Base(s.File), s.Line, s.Cost.Samples, s.Cost.AllocBytes)
		for _, r := range s.CPU {
			t.Logf("	cpu %d class %d: %s", r.Count, r.Class, stack(r))
		}
		for _, r := range s.Allocs {
			t.Logf("	allocs %d: %s", r.Value, stack(r))
		}
	}
}

// stack writes a row's frames from the blamed one towards the leaf.
func stack(r *site.Row) string {
	var names []string
	for i := r.Owner; i >= 0 && len(names) < 8; i-- {
		names = append(names, r.Stack[i].Function)
	}
	return strings.Join(names, " > ")
}
