package report_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/report"
)

// TestListOptionsEqualPprof compares the numbers of every line that pprof's
// -list prints, option by option.
func TestListOptionsEqualPprof(t *testing.T) {
	// pprof prints no line of a file that it cannot read.
	sources := t.TempDir()
	if err := os.Mkdir(filepath.Join(sources, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dir/a.go", "dir/b.go", "tenant", "bytes", "a"} {
		if err := os.WriteFile(filepath.Join(sources, filepath.FromSlash(name)), []byte(strings.Repeat("text\n", 40)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all := optionCases()
	names := []string{"focus", "ignore", "hide", "show", "show_from", "prune_from", "tagfocus", "tagignore", "noinlines", "drop_negative", "unit", "divide_by", "sample_index"}
	rapid.Check(t, func(rt *rapid.T) {
		g := symbolised(profiletest.Any(true).Draw(rt, "profile"))
		// pprof counts a stack twice in a line whose functions differ here.
		for _, f := range g.Function {
			f.StartLine = 0
		}
		for _, l := range g.Location {
			l.Mapping = nil
		}
		g = profiletest.Reparse(t, g)
		o := report.DefaultOptions()
		args := append(chosen(o), "-list=.", "-source_path="+sources)
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(rt, "options") {
			c := rapid.SampledFrom(all[name]).Draw(rt, name)
			c.set(&o)
			args = append(args, c.arg)
		}
		v, err := report.NewView(profiletest.FromGoogle(t, g), o)
		if err != nil {
			t.Fatal(err)
		}
		funcs, err := v.List(regexp.MustCompile("."))
		if err != nil {
			t.Fatal(err)
		}
		if len(funcs) == 0 {
			return // an error for pprof
		}
		want := slices.Sorted(slices.Values(pprofLines(pprofReport(t, g, args...))))
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(viewLines(v, funcs)))); diff != "" {
			t.Fatalf("pprof %s (-pprof +hone):\n%s", strings.Join(args, " "), diff)
		}
	})
}

// pprofLines are the lines of a listing that have a number, each with its function.
func pprofLines(report string) []string {
	var lines []string
	routine := ""
	for _, line := range strings.Split(report, "\n") {
		if head, ok := strings.CutPrefix(line, "ROUTINE ======================== "); ok {
			routine = head
			continue
		}
		before, _, ok := strings.Cut(line, ":")
		if f := strings.Fields(before); ok && len(f) == 3 && (f[0] != "." || f[1] != ".") && f[0] != "Total" {
			lines = append(lines, routine+" "+strings.Join(f, " "))
		}
	}
	return lines
}

func viewLines(v *report.View, funcs []report.FuncLines) []string {
	unit := v.Unit
	if unit == "minimum" {
		unit = "auto"
	}
	value := func(n int64) string {
		if n == 0 {
			return "."
		}
		return v.Format(n, unit)
	}
	var lines []string
	for _, f := range funcs {
		for _, l := range f.Lines {
			lines = append(lines, fmt.Sprintf("%s in %s %s %s %d", f.Name, f.File, value(l.Flat), value(l.Cum), l.Line))
		}
	}
	return lines
}

// A function whose lines cancel out has no cost, but still lines to show.
func TestListShowsLinesThatCancelOut(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for line, value := range map[int64]int64{1: 7, 5: -7} {
		b.Add([]profile.FrameSpec{{Function: "main.f", File: "a.go", Line: line}}, value)
	}
	b.Add([]profile.FrameSpec{{Function: "main.g", File: "a.go", Line: 9}}, 0)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	got, err := report.List(p, regexp.MustCompile("main"), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []report.FuncLines{{Name: "main.f", File: "a.go", Lines: []report.LineCost{{Line: 1, Flat: 7, Cum: 7}, {Line: 5, Flat: -7, Cum: -7}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
