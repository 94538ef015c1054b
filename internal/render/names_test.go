package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// named returns a view of a profile with a sample in each function.
func named(t *testing.T, how report.Names, functions ...string) *report.View {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for i, name := range functions {
		b.Add([]profile.FrameSpec{{Function: name, File: "a.go", Line: int64(i + 1)}}, 10e6)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	o := report.DefaultOptions()
	o.Names = how
	v, err := report.NewView(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func texts(t *testing.T, v *report.View) (top, tree, traces string) {
	t.Helper()
	var b bytes.Buffer
	table, err := report.Top(v.Profile, v.TopOptions(0))
	if err != nil {
		t.Fatal(err)
	}
	Top(&b, TopTable{View: v, Top: table}, Style{})
	top = b.String()
	b.Reset()
	g, err := v.Graph(report.GraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	Tree(&b, GraphPage{View: v, Graph: g}, Style{})
	tree = b.String()
	b.Reset()
	Traces(&b, SamplesPage{View: v}, Style{})
	return top, tree, b.String()
}

func TestNamesOfPages(t *testing.T) {
	const exact, readable = "main.run.func1.2", "main.run (closure 1.2)"
	for _, tc := range []struct {
		how               report.Names
		top, tree, traces string
	}{
		{report.NamesByReport, readable, readable, exact},
		{report.ReadableNames, readable, readable, readable},
		{report.ExactNames, exact, exact, exact},
	} {
		top, tree, traces := texts(t, named(t, tc.how, exact))
		if !strings.Contains(top, tc.top+"\n") || !strings.Contains(tree, tc.tree+"\n") || !strings.Contains(traces, tc.traces+"\n") {
			t.Errorf("with names %d:\n%s\n%s\n%s", tc.how, top, tree, traces)
		}
	}
}

func TestNamesThatWouldBeEqualStay(t *testing.T) {
	const a, b = "main.Map[go.shape.*x/a.T]", "main.Map[go.shape.*y/a.T]"
	top, _, _ := texts(t, named(t, report.NamesByReport, a, b, "main.Map[go.shape.int]"))
	for _, want := range []string{a, b, "main.Map[int]"} {
		if !strings.Contains(top, want+"\n") {
			t.Errorf("no row %q:\n%s", want, top)
		}
	}
}

func TestNamesInDiffs(t *testing.T) {
	d := &compare.Diff{Rows: []compare.DiffRow{{
		Function: "main.run.func1", Path: []string{"main.main", "main.run.func1"}, Verdict: compare.Worse, In: "both", New: 1, Ratio: new(float64),
	}}}
	for how, want := range map[report.Names]string{
		report.NamesByReport: "main.main > main.run (closure 1)\n", report.ExactNames: "main.main > main.run.func1\n",
	} {
		var b bytes.Buffer
		Diff(&b, DiffPage{Diff: d, Noun: "path", Names: how}, Style{})
		if !strings.Contains(b.String(), want) {
			t.Errorf("names %d: no %q in\n%s", how, want, b.String())
		}
	}
}

func TestNamesInJSON(t *testing.T) {
	v := named(t, report.NamesByReport, "main.run.func1", "main.main")
	table, err := report.Top(v.Profile, v.TopOptions(0))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := JSON(&b, TopJSON(TopTable{View: v, Top: table})); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Count(got, `"readable"`) != 1 || !strings.Contains(got, `"main.run.func1"`) || !strings.Contains(got, `"readable": "main.run (closure 1)"`) {
		t.Error(got)
	}
}
