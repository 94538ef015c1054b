package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const padBenchmark = `package pad

import (
	"fmt"
	"testing"
)

func BenchmarkPad(b *testing.B) {
	var words []string
	for i := range 1000 {
		words = append(words, fmt.Sprintf("w%d", i)) // setup
	}
	s := ""
	for i := 0; i < b.N; i++ { // head
		s += "x" // grows with b.N
		s += pad(words) // timed
	}
}

func pad(words []string) (s string) {
	for _, w := range words {
		s += fmt.Sprintf("%s", w) // concatenation
	}
	return s
}
`

// bench is a pass over the made-up profile of padBenchmark: CPU and allocations on its lines.
func bench(t *testing.T) *rule.Pass {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "pad_test.go")
	for path, text := range map[string]string{file: padBenchmark, filepath.Join(dir, "go.mod"): "module example.com/pad\n\ngo 1.25\n", filepath.Join(dir, "pad.go"): "package pad\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, err := gocode.Open(t.Context(), gocode.Config{Dir: dir, ImportPath: "example.com/pad", CacheDir: t.TempDir(), Test: true})
	if err != nil {
		t.Fatal(err)
	}
	p := pass()
	if p.Syntax, err = code.Syntax(t.Context(), []string{"example.com/pad"}); err != nil {
		t.Fatal(err)
	}
	frame := func(function, mark string) *site.Frame {
		before, _, ok := strings.Cut(padBenchmark, "// "+mark)
		if !ok {
			t.Fatalf("no line %q", mark)
		}
		return &site.Frame{
			Function: "example.com/pad." + function, File: file, Line: 1 + strings.Count(before, "\n"),
			Owner: gocode.Owner{Kind: gocode.Main, Module: "example.com/pad", Package: "example.com/pad", File: "pad_test.go"},
		}
	}
	lib := func(function string) *site.Frame {
		return &site.Frame{Function: function, Owner: gocode.Owner{Kind: gocode.Std}}
	}
	runN := lib("testing.(*B).runN")
	add := func(samples int64, owner int, stack ...*site.Frame) {
		s := &site.Site{Frame: *stack[owner]}
		s.CPU = []*site.Row{{Stack: append(stack, runN), Owner: owner, Count: samples, Value: samples * period}}
		s.Allocs = []*site.Row{{Stack: s.CPU[0].Stack, Owner: owner, Count: 100_000, Value: 10 << 20}}
		p.Table.Sites = append(p.Table.Sites, s)
	}
	add(200, 1, lib("fmt.Sprintf"), frame("BenchmarkPad", "setup"))
	add(100, 1, lib("runtime.growslice"), frame("BenchmarkPad", "setup"))
	add(200, 1, lib("runtime.concatstring2"), frame("BenchmarkPad", "grows with b.N"))
	add(300, 1, lib("runtime.concatstring2"), frame("pad", "concatenation"), frame("BenchmarkPad", "timed"))
	p.Code, p.Manifest.Load = code, nil
	return p
}

// TestHarnessIsNotReported: setup and the loop over b.N do not belong to the program. What the
// benchmark measures is reported as usual.
func TestHarnessIsNotReported(t *testing.T) {
	for kind, want := range map[string][]string{
		"bench":   {"concat-loop pad"},
		"program": {"concat-loop pad", "slice-growth BenchmarkPad", "sprintf-simple BenchmarkPad"},
	} {
		p := bench(t)
		p.Manifest.Target.Kind = kind
		report, err := run(t.Context(), p, price, Rules(), Choice{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for f := range report.All() {
			got = append(got, f.Rule+" "+strings.TrimPrefix(f.Function, "example.com/pad."))
			for _, s := range f.Sites {
				if kind == "bench" && strings.Contains(s.Source, "words = append") {
					t.Errorf("%s: %s of the setup", kind, f.Rule)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// TestRulesThatSkipBenchmarks: rules about something that follows from how a benchmark runs.
func TestRulesThatSkipBenchmarks(t *testing.T) {
	var got []string
	for _, r := range Rules() {
		if r.SkipsBenchmarks {
			got = append(got, r.ID)
		}
	}
	if want := []string{"gc-cpu-spare-memory", "no-pgo", "serial-section", "tiny-heap", "unbounded-labels"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	ran := ""
	about := rule.Rule{ID: "serial", SkipsBenchmarks: true, Finder: finder.Program{Judge: func(p *rule.Pass) []rule.Match {
		ran += fmt.Sprint(p.Manifest.Target.Kind)
		return nil
	}}}
	for _, kind := range []string{"bench", "program"} {
		p := pass()
		p.Manifest.Target.Kind = kind
		diagnose(t, p, about)
	}
	if ran != "program" {
		t.Errorf("run on %q", ran)
	}
}
