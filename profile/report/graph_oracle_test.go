package report_test

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/profiletest"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

// graphText prints a Graph as `pprof -tree` prints its table.
func graphText(v *report.View, g *report.CallGraph, matching *regexp.Regexp) string {
	var b strings.Builder
	unit := v.UnitFor(g.Least())
	value := func(x int64) string { return v.Format(x, unit) }
	edge := func(e report.Edge, cum int64, other int32) {
		inline := ""
		if e.Inline {
			inline = " (inline)"
		}
		fmt.Fprintf(&b, "%50s %s |   %s%s\n", value(e.Weight), measure.Percent(e.Weight, cum), g.Nodes[other].String(), inline)
	}
	var sum int64
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if matching != nil && !matching.MatchString(n.String()) {
			continue
		}
		b.WriteString(treeSeparator)
		for _, e := range g.In(i) {
			edge(e, n.Cum, e.From)
		}
		sum += n.Flat
		fmt.Fprintf(&b, "%10s %s %s %10s %s                | %s\n", value(n.Flat), measure.Percent(n.Flat, g.Total),
			measure.Percent(sum, g.Total), value(n.Cum), measure.Percent(n.Cum, g.Total), n)
		for _, e := range g.Out(i) {
			edge(e, n.Cum, e.To)
		}
	}
	if len(g.Nodes) > 0 {
		b.WriteString(treeSeparator)
	}
	return b.String()
}

// plainView has no options other than those of a Graph.
func plainView(g *report.CallGraph) *report.View {
	return &report.View{Options: report.DefaultOptions(), SampleType: g.SampleType, Total: g.Total}
}

const treeSeparator = "----------------------------------------------------------+-------------\n"

// graphArgs sets every option each time: pprof keeps options from call to call.
func graphArgs(command string, o report.GraphOptions) []string {
	args := pprofArgs(report.TopOptions{SampleIndex: o.SampleIndex, Granularity: o.Granularity, Order: o.Order, Filter: o.Filter})[1:]
	return append(args, command, "-trim=true", fmt.Sprintf("-call_tree=%v", o.CallTree), fmt.Sprintf("-drop_negative=%v", o.DropNegative),
		fmt.Sprintf("-nodecount=%d", o.NodeCount), fmt.Sprintf("-nodefraction=%g", o.NodeFraction), fmt.Sprintf("-edgefraction=%g", o.EdgeFraction))
}

func graphOf(t testing.TB, g *google.Profile, o report.GraphOptions) *report.CallGraph {
	t.Helper()
	p, err := profiletest.FromGoogle(t, g).DropUninteresting()
	if err != nil {
		t.Fatal(err)
	}
	graph, err := report.Graph(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

func sameTree(t testing.TB, g *google.Profile, o report.GraphOptions) {
	t.Helper()
	args, graph := graphArgs("-tree", o), graphOf(t, g, o)
	_, want, _ := strings.Cut(pprofReport(t, g, args...), "context \t \t \n")
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(graphText(plainView(graph), graph, nil), "\n")); diff != "" {
		t.Errorf("pprof %v (-pprof +hone):\n%s", args, diff)
	}
}

// dotEdges lists the edges of a picture, which pprof writes in an arbitrary order.
func dotEdges(dot string) []string {
	label := map[string]string{}
	edges := []string{}
	for _, line := range strings.Split(dot, "\n") {
		if m := regexp.MustCompile(`^(N\d+) \[.*tooltip="((?:[^"\\]|\\.)*)"`).FindStringSubmatch(line); m != nil {
			label[m[1]] = m[2]
		}
	}
	for _, line := range strings.Split(dot, "\n") {
		m := regexp.MustCompile(`^(N\d+) -> (N\d+) \[label=" ([^"]*)".*tooltip="([^"]*)" labeltooltip`).FindStringSubmatch(line)
		if m == nil || strings.Contains(m[2], "_") {
			continue
		}
		kind := " -> "
		if strings.Contains(line, `style="dotted"`) {
			kind = " ... "
		}
		edges = append(edges, label[m[1]]+kind+label[m[2]]+" "+strings.ReplaceAll(m[3], `\n`, ""))
	}
	for _, l := range label {
		edges = append(edges, l)
	}
	slices.Sort(edges)
	return edges
}

func sameDot(t testing.TB, g *google.Profile, o report.GraphOptions) {
	t.Helper()
	o.Visual = true
	graph := graphOf(t, g, o)
	samePicture(t, g, plainView(graph), graph, graphArgs("-dot", o))
}

// samePicture compares all nodes with their cum, and all edges.
func samePicture(t testing.TB, g *google.Profile, v *report.View, graph *report.CallGraph, args []string) {
	t.Helper()
	unit := v.UnitFor(graph.Least())
	value := func(x int64) string { return v.Format(x, unit) }
	label := func(i int32) string {
		return fmt.Sprintf("%s (%s)", graph.Nodes[i].String(), value(graph.Nodes[i].Cum))
	}
	got := []string{}
	for i := range graph.Nodes {
		got = append(got, label(int32(i)))
	}
	for _, e := range graph.Edges {
		kind, inline := " -> ", ""
		if e.Residual {
			kind = " ... "
		}
		if e.Inline {
			inline = " (inline)"
		}
		got = append(got, label(e.From)+kind+label(e.To)+" "+value(e.Weight)+inline)
	}
	slices.Sort(got)
	if diff := cmp.Diff(dotEdges(pprofReport(t, g, args...)), got); diff != "" {
		t.Errorf("pprof %v (-pprof +hone):\n%s", args, diff)
	}
}

// TestGraphEqualsPprof compares whole tables as text, and pictures by their nodes and edges, on
// profiles that this process records of itself.
func TestGraphEqualsPprof(t *testing.T) {
	for name, g := range profiletest.Recorded(t) {
		t.Run(name, func(t *testing.T) {
			ours, hidden := regexp.MustCompile("profiletest"), regexp.MustCompile("runtime")
			for _, s := range g.Sample { // a picture shows them as nodes of their own
				s.Label, s.NumLabel = nil, nil
			}
			for i := range g.SampleType {
				for _, o := range []report.GraphOptions{
					{},
					{NodeFraction: 0.005, EdgeFraction: 0.001, NodeCount: 80},
					{NodeFraction: 0.1, EdgeFraction: 0.2},
					{Order: report.ByCum, NodeCount: 7},
					{Granularity: profile.ByLine, NodeCount: 20},
					{Granularity: profile.ByFileFunction},
					{Filter: profile.Filter{Focus: ours, Hide: hidden}},
				} {
					o.SampleIndex = i
					sameTree(t, g, o)
					sameDot(t, g, o)
					if i > 0 {
						continue // trees of other values have the same paths
					}
					// Which of equal paths a node count keeps is arbitrary there.
					o.CallTree, o.NodeCount = true, 0
					sameDot(t, g, o)
				}
			}
		})
	}
}

// withSymbols gives every location a function and positive values, and removes the labels: in hone
// addresses without symbols are one node, nodes whose values are all zero are skipped, and labels
// are not nodes.
func withSymbols(g *google.Profile) *google.Profile {
	g.DropFrames, g.KeepFrames = "", ""
	for i, st := range g.SampleType {
		st.Type = fmt.Sprint("type", i) // pprof distinguishes them by name
	}
	for _, s := range g.Sample {
		s.Label, s.NumLabel = nil, nil
		for i, v := range s.Value {
			s.Value[i] = max(v, -v)
		}
	}
	for _, l := range g.Location {
		if len(l.Line) == 0 {
			l.Line = []google.Line{{Function: g.Function[0]}}
		}
		for i := range l.Line {
			l.Line[i].Line = max(1, l.Line[i].Line)
		}
	}
	return g
}

func TestGraphOfGeneratedProfiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := withSymbols(profiletest.Any(true).Draw(rt, "profile"))
		o := report.GraphOptions{
			SampleIndex:  rapid.IntRange(0, len(g.SampleType)-1).Draw(rt, "index"),
			Granularity:  rapid.SampledFrom([]profile.Granularity{profile.ByFunction, profile.ByFileFunction, profile.ByLine}).Draw(rt, "granularity"),
			NodeFraction: rapid.SampledFrom([]float64{0, 0.1, 0.4}).Draw(rt, "node fraction"),
			EdgeFraction: rapid.SampledFrom([]float64{0, 0.2}).Draw(rt, "edge fraction"),
		}
		sameDot(t, g, o)
		sameTree(t, g, o)
		o.NodeCount = rapid.IntRange(0, 6).Draw(rt, "nodes")
		sameTree(t, g, o)
	})
}

// withOption draws a profile without negative values (see withSymbols), and its view with one case
// of an option; args is the same option for pprof.
func withOption(t testing.TB, rt *rapid.T, name string, cases []optionCase) (g *google.Profile, v *report.View, args []string) {
	t.Helper()
	g = symbolised(profiletest.Any(true).Draw(rt, "profile"))
	for _, s := range g.Sample {
		for i, v := range s.Value {
			s.Value[i] = max(v, -v)
			if name == "mean" {
				// A frame whose values are all zero has a count: pprof drops its node, but prints
				// the edges to it, without a target.
				s.Value[i] = max(1, s.Value[i])
			}
		}
		if name == "nodecount" {
			s.Label, s.NumLabel = nil, nil // in a picture they count as nodes
		}
	}
	g = profiletest.Reparse(t, g)
	c := rapid.SampledFrom(cases).Draw(rt, "case")
	o := report.DefaultOptions()
	c.set(&o)
	if args = chosen(o); !slices.Contains(args, c.arg) {
		args = append(args, c.arg)
	}
	v, err := report.NewView(profiletest.FromGoogle(t, g), o)
	if err != nil {
		t.Fatal(err)
	}
	return g, v, args
}

func TestTreeHeedsEachOption(t *testing.T) {
	for name, cases := range optionCases() {
		if name == "mean" {
			continue // pprof prints means of nodes, but sums of edges
		}
		t.Run(name, rapid.MakeCheck(func(rt *rapid.T) {
			g, v, args := withOption(t, rt, name, cases)
			graph, err := v.Graph(report.GraphOptions{NodeCount: 80})
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, "-tree")
			_, want, _ := strings.Cut(pprofReport(t, g, args...), "context \t \t \n")
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(graphText(v, graph, nil), "\n")); diff != "" {
				t.Fatalf("pprof %v (-pprof +hone):\n%s", args, diff)
			}
		}))
	}
}

// TestPictureHeedsOptions draws the option, too; the test of trees has tried each.
func TestPictureHeedsOptions(t *testing.T) {
	all := optionCases()
	names := slices.Sorted(maps.Keys(all))
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "option")
		g, v, args := withOption(t, rt, name, all[name])
		graph, err := v.Graph(report.GraphOptions{NodeCount: 80, Visual: true})
		if err != nil {
			t.Fatal(err)
		}
		samePicture(t, g, v, graph, append(args, "-dot"))
	})
}

func TestPeekEqualsPprof(t *testing.T) {
	for name, g := range profiletest.Recorded(t) {
		re := regexp.MustCompile("profiletest|malloc|unknown")
		o := report.GraphOptions{EdgesOf: re, Order: report.ByCum}
		_, want, _ := strings.Cut(pprofReport(t, g, graphArgs("-peek="+re.String(), o)...), "context \t \t \n")
		graph := graphOf(t, g, o)
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(graphText(plainView(graph), graph, re), "\n")); diff != "" {
			t.Errorf("%s (-pprof +hone):\n%s", name, diff)
		}
	}
}

func TestCallgrindEqualsPprof(t *testing.T) {
	same := func(t testing.TB, g *google.Profile, o report.GraphOptions) {
		t.Helper()
		o.Addresses = true
		var got bytes.Buffer
		graph := graphOf(t, g, o)
		if err := graph.WriteCallgrind(&got, plainView(graph)); err != nil {
			t.Fatal(err)
		}
		want := pprofReport(t, g, graphArgs("-callgrind", o)...)
		if strings.Contains(want, "(minimum)") {
			return // a graph without nodes: here the unit is one
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got.String(), "\n")); diff != "" {
			t.Errorf("-pprof +hone:\n%s", diff)
		}
	}
	for name, g := range profiletest.Recorded(t) {
		t.Run(name, func(t *testing.T) {
			for i := range g.SampleType {
				same(t, g, report.GraphOptions{SampleIndex: i})
			}
		})
	}
	t.Run("generated", rapid.MakeCheck(func(rt *rapid.T) {
		g := withSymbols(profiletest.Any(true).Draw(rt, "profile"))
		for i, l := range g.Location {
			l.Address = uint64(i + 1) // without it, equal nodes come in an arbitrary order
			l.Mapping = nil           // and f in two binaries gets a number: see WriteCallgrind
		}
		for i, f := range g.Function {
			f.Name = "f" + strconv.Itoa(i)
		}
		same(t, g, report.GraphOptions{SampleIndex: 0})
	}))
}
