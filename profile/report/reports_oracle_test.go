package report_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/internal/pprofdriver"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

// pprofReport runs google/pprof's own driver on a profile.
func pprofReport(t testing.TB, g *google.Profile, args ...string) string {
	t.Helper()
	return pprofdriver.Run(t, g, nil, args...)
}

// pprofDiff is pprofReport with a second profile as -diff_base=base.
func pprofDiff(t testing.TB, g, base *google.Profile, args ...string) string {
	t.Helper()
	return pprofdriver.Run(t, g, base, args...)
}

// topText prints a Top as `pprof -top` prints its table.
func topText(top *report.Table) string {
	var b strings.Builder
	unit := top.Unit()
	value := func(v int64) string { return measure.Format(v, top.SampleType.Unit, unit) }
	var sum int64
	for _, r := range top.Rows {
		name := r.Name
		if r.File != "" {
			name += " " + r.File
			if r.Line != 0 {
				name += fmt.Sprintf(":%d", r.Line)
			}
		}
		sum += r.Flat
		fmt.Fprintf(&b, "%10s %s %s %10s %s  %s\n", value(r.Flat), measure.Percent(r.Flat, top.Total),
			measure.Percent(sum, top.Total), value(r.Cum), measure.Percent(r.Cum, top.Total), name)
	}
	return b.String()
}

// tableOf removes the head of pprof's text, and the marks of inlined functions.
func tableOf(report string) string {
	_, table, _ := strings.Cut(report, "cum%\n")
	return strings.NewReplacer(" (inline)\n", "\n", " (partial-inline)\n", "\n").Replace(table)
}

func sameTop(t testing.TB, g *google.Profile, o report.TopOptions) {
	t.Helper()
	p, err := profiletest.FromGoogle(t, g).DropUninteresting()
	if err != nil {
		t.Fatal(err)
	}
	top, err := report.Top(p, o)
	if err != nil {
		t.Fatal(err)
	}
	args := pprofArgs(o)
	want := tableOf(pprofReport(t, g, args...))
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(topText(top), "\n")); diff != "" {
		t.Errorf("pprof %v (-pprof +hone):\n%s", args, diff)
	}
}

// pprofArgs sets every option each time: pprof keeps options from call to call.
func pprofArgs(o report.TopOptions) []string {
	expression := func(re *regexp.Regexp) string {
		if re == nil {
			return ""
		}
		return re.String()
	}
	return []string{
		"-top", "-unit=minimum",
		fmt.Sprintf("-sample_index=%d", o.SampleIndex), fmt.Sprintf("-nodefraction=%g", o.MinShare), fmt.Sprintf("-nodecount=%d", o.Limit),
		[]string{"-functions", "-filefunctions", "-files", "-lines"}[o.Granularity], []string{"-flat", "-cum"}[o.Order],
		"-focus=" + expression(o.Filter.Focus), "-ignore=" + expression(o.Filter.Ignore),
		"-hide=" + expression(o.Filter.Hide), "-show=" + expression(o.Filter.Show),
	}
}

// TestTopPrintsWhatPprofPrints compares whole tables as text, on profiles that this process records
// of itself.
func TestTopPrintsWhatPprofPrints(t *testing.T) {
	for name, g := range profiletest.Recorded(t) {
		t.Run(name, func(t *testing.T) {
			ours, hidden := regexp.MustCompile("profiletest"), regexp.MustCompile("runtime")
			for i := range g.SampleType {
				for _, o := range []report.TopOptions{
					{},
					{MinShare: 0.05},
					{Order: report.ByCum, Limit: 7},
					{Granularity: profile.ByLine},
					{Granularity: profile.ByFileFunction},
					{Filter: profile.Filter{Focus: ours, Hide: hidden}},
					{Filter: profile.Filter{Ignore: ours, Show: hidden}},
				} {
					o.SampleIndex = i
					sameTop(t, g, o)
				}
			}
		})
	}
}

func TestTopOfGeneratedProfiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := profiletest.Any(true).Draw(rt, "profile")
		g.DropFrames, g.KeepFrames = "main.f|runtime..*", rapid.SampledFrom([]string{"", "runtime.main"}).Draw(rt, "keep")
		for i, st := range g.SampleType {
			st.Type = fmt.Sprint("type", i) // pprof distinguishes them by name
		}
		for _, l := range g.Location {
			// pprof has a row for each address without a symbol; here they are one row.
			if len(l.Line) == 0 {
				l.Line = []google.Line{{Function: g.Function[0]}}
			}
			for i := range l.Line {
				l.Line[i].Line = max(1, l.Line[i].Line)
			}
		}
		i := rapid.IntRange(0, len(g.SampleType)-1).Draw(rt, "index")
		sameTop(t, g, report.TopOptions{SampleIndex: i})
		sameTop(t, g, report.TopOptions{SampleIndex: i, Granularity: profile.ByLine, Order: report.ByCum})
		sameTop(t, g, report.TopOptions{SampleIndex: i, Granularity: profile.ByFileFunction})
	})
}

func TestTopOfADifferenceEqualsPprof(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		series := profiletest.Series(rt, 2)
		for _, g := range series {
			for i, st := range g.SampleType {
				st.Type = fmt.Sprint("type", i)
			}
			g.DropFrames = ""
			for _, l := range g.Location {
				if len(l.Line) == 0 {
					l.Line = []google.Line{{Function: g.Function[0], Line: 1}}
				}
			}
			// Without a sample in base, pprof computes percentages of another total.
			g.Sample = append(g.Sample, &google.Sample{Location: g.Location[:1], Value: slices.Repeat([]int64{1}, len(g.SampleType))})
		}
		// pprof merges base's rows of one stack before it adds up their magnitudes. That differs
		// only when values of both signs meet, in a base that is itself a difference.
		for _, s := range series[1].Sample {
			for i, v := range s.Value {
				s.Value[i] = max(v, -v)
			}
		}
		o := report.TopOptions{SampleIndex: rapid.IntRange(0, len(series[0].SampleType)-1).Draw(rt, "index"), MinShare: rapid.SampledFrom([]float64{0, 0.1}).Draw(rt, "share")}
		p, base := profiletest.FromGoogle(t, series[0]), profiletest.FromGoogle(t, series[1])
		diff, err := profile.Subtract(p, base, profile.Subtraction{Mark: true})
		if err != nil {
			t.Fatal(err)
		}
		o.Total = base.Total(o.SampleIndex)
		top, err := report.Top(diff, o)
		if err != nil {
			t.Fatal(err)
		}
		want := tableOf(pprofDiff(t, series[0], series[1], append(pprofArgs(o), "-diff_base=base")...))
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(topText(top), "\n")); diff != "" {
			t.Fatalf("-pprof +hone:\n%s", diff)
		}
	})
}

// TestTopEqualsNaiveSums compares flat and cum with sums by their definition.
func TestTopEqualsNaiveSums(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := profiletest.Any(false).Draw(rt, "profile")
		i := rapid.IntRange(0, len(g.SampleType)-1).Draw(rt, "index")
		type sums struct{ Flat, Cum int64 }
		want := map[string]*sums{}
		for _, s := range g.Sample {
			seen := map[string]bool{}
			for j, l := range s.Location {
				names := []string{"<unknown>"}
				if l.Mapping != nil && l.Mapping.File != "" {
					names[0] = "[" + l.Mapping.File[strings.LastIndex(l.Mapping.File, "/")+1:] + "]"
				}
				if len(l.Line) > 0 {
					names = nil
				}
				for _, ln := range l.Line {
					names = append(names, ln.Function.Name)
				}
				for k, name := range names {
					if want[name] == nil {
						want[name] = &sums{}
					}
					if j == 0 && k == 0 {
						want[name].Flat += s.Value[i]
					}
					if !seen[name] {
						want[name].Cum += s.Value[i]
					}
					seen[name] = true
				}
			}
		}
		for name, s := range want {
			if *s == (sums{}) {
				delete(want, name)
			}
		}
		top, err := report.Top(profiletest.FromGoogle(t, g), report.TopOptions{SampleIndex: i})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]*sums{}
		for _, r := range top.Rows {
			got[r.Name] = &sums{r.Flat, r.Cum}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-naive +hone:\n%s", diff)
		}
	})
}

func TestFiltersEqualGoogle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := profiletest.Reparse(t, profiletest.Any(true).Draw(rt, "profile"))
		expression := func(name string) *regexp.Regexp {
			s := rapid.SampledFrom([]string{"", "main", "f$", "runtime", "b.go", "T", "nothing", "^a$"}).Draw(rt, name)
			if s == "" {
				return nil
			}
			return regexp.MustCompile(s)
		}
		f := profile.Filter{Focus: expression("focus"), Ignore: expression("ignore"), Hide: expression("hide"), Show: expression("show")}
		got := profiletest.ToGoogle(t, profiletest.FromGoogle(t, g).Filter(f))
		g.FilterSamplesByName(f.Focus, f.Ignore, f.Hide, f.Show)
		profiletest.Same(t, fmt.Sprintf("filter %+v", f), profiletest.Reparse(t, g), got)
	})
}

func TestDropUninterestingEqualsGoogle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := profiletest.Any(true).Draw(rt, "profile")
		g.DropFrames = rapid.SampledFrom([]string{"", "main.f", "runtime..*", "operator..", "operator", "lib.F.*", "("}).Draw(rt, "drop")
		g.KeepFrames = rapid.SampledFrom([]string{"", "runtime.main", ".*g", ")"}).Draw(rt, "keep")
		g = profiletest.Reparse(t, g)
		p, err := profiletest.FromGoogle(t, g).DropUninteresting()
		if wantErr := g.RemoveUninteresting(); (wantErr != nil) != (err != nil) {
			t.Fatalf("error %v, google/pprof says %v", err, wantErr)
		}
		if err == nil {
			profiletest.Same(t, "pruned profile", profiletest.Reparse(t, g), profiletest.ToGoogle(t, p))
		}
	})
}

func TestListPrintsWhatPprofLists(t *testing.T) {
	g := profiletest.Recorded(t)["cpu"]
	if g == nil {
		t.Skip("no CPU profile could be recorded")
	}
	re := regexp.MustCompile("profiletest.(spin|mix|recurse)")
	text := pprofReport(t, g, "-list="+re.String(), "-unit=ms", "-sample_index=", "-focus=", "-ignore=", "-hide=", "-show=")
	p := profiletest.FromGoogle(t, g)
	index, err := p.SampleIndex("")
	if err != nil {
		t.Fatal(err)
	}
	funcs, err := report.List(p, re, index)
	if err != nil {
		t.Fatal(err)
	}
	if len(funcs) == 0 {
		t.Fatal("no functions")
	}
	unit := p.SampleTypes[index].Unit
	dot := func(v int64) string {
		if v == 0 {
			return "."
		}
		return measure.Format(v, unit, "ms")
	}
	// pprof's lines that have a number, without the source.
	var want []string
	for _, line := range strings.Split(text, "\n") {
		if head, ok := strings.CutPrefix(line, "ROUTINE ======================== "); ok {
			want = append(want, head)
			continue
		}
		before, _, ok := strings.Cut(line, ":")
		if f := strings.Fields(before); ok && len(f) == 3 && (f[0] != "." || f[1] != ".") && f[0] != "Total" {
			want = append(want, strings.Join(f, " "))
		}
	}
	var got []string
	for _, f := range funcs {
		got = append(got, f.Name+" in "+f.File)
		for _, l := range f.Lines {
			got = append(got, fmt.Sprintf("%s %s %d", dot(l.Flat), dot(l.Cum), l.Line))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-pprof +hone:\n%s", diff)
	}
}

func TestUnitsEqualPprof(t *testing.T) {
	values := []int64{1, 2, 9, 99, 100, 999, 1000, 1023, 1024, 1025, 1536, 12345, 999999, 1 << 20, 12_500_000, 13107200, 1e9, 1.2e9, 59e9, 3600e9, 5400e9, 1 << 40, 1 << 52, math.MaxInt64}
	units := []string{"bytes", "kb", "B", "nanoseconds", "us", "ms", "seconds", "count", "samples", "hours", "GCU", "nanogcu", "parsecs", "", "S", "s"}
	for _, to := range []string{"auto", "ms", "MB", "s"} {
		for _, from := range units {
			// One function per value: pprof then prints all of them.
			g := &google.Profile{SampleType: []*google.ValueType{{Type: "x", Unit: from}}, PeriodType: &google.ValueType{}}
			want := map[string]string{}
			for _, v := range values {
				for _, v := range []int64{v, -v} {
					fn := &google.Function{ID: uint64(len(g.Function) + 1), Name: fmt.Sprint("f", v)}
					loc := &google.Location{ID: fn.ID, Line: []google.Line{{Function: fn}}}
					g.Function, g.Location = append(g.Function, fn), append(g.Location, loc)
					g.Sample = append(g.Sample, &google.Sample{Location: []*google.Location{loc}, Value: []int64{v}})
					want[fn.Name] = measure.Format(v, from, to)
				}
			}
			report := tableOf(pprofReport(t, g, append(pprofArgs(report.TopOptions{}), "-unit="+to)...))
			got := map[string]string{}
			for _, row := range strings.Split(strings.TrimSpace(report), "\n") {
				f := strings.Fields(row)
				got[f[len(f)-1]] = f[0]
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("%s to %s (-pprof +hone):\n%s", from, to, diff)
			}
		}
	}
}

func TestFormatPercent(t *testing.T) {
	for _, c := range []struct {
		value, total int64
		want         string
	}{
		{0, 0, "    0%"}, {1, 0, "    0%"}, {1, 3, "33.33%"}, {-1, 3, "33.33%"}, {1, 300, " 0.33%"},
		{1, 12345, "0.0081%"}, {9999, 10000, "  100%"}, {2, 1, "200.00%"}, {1, 20, " 5.00%"},
	} {
		if got := measure.Percent(c.value, c.total); got != c.want {
			t.Errorf("FormatPercent(%d, %d) = %q, want %q", c.value, c.total, got, c.want)
		}
	}
}

func TestRowsAreSortedAndCut(t *testing.T) {
	p := profiletest.Small(t)
	top, err := report.Top(p, report.TopOptions{SampleIndex: 1, MinShare: 0.25, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := &report.Table{
		SampleType: profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Rows:       []report.Row{{Name: "main.work", Flat: 60, Cum: 80}, {Name: "lib.copy", Flat: 40, Cum: 40}},
		Total:      100, Flat: 100, Nodes: 3, Dropped: 1, Cutoff: 25,
	}
	if diff := cmp.Diff(want, top); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !slices.ContainsFunc(top.Rows, func(r report.Row) bool { return r.Name == "main.work" }) {
		t.Error("main.work is missing")
	}
}
