package report_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// built returns a profile of stacks written leaf first, "f g main 10".
func built(t testing.TB, stacks ...string) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for _, s := range stacks {
		words := strings.Fields(s)
		var stack []profile.FrameSpec
		for _, name := range words[:len(words)-1] {
			name, inlined := strings.CutSuffix(name, "!")
			stack = append(stack, profile.FrameSpec{Function: name, File: name + ".go", Line: 1, Inlined: inlined})
		}
		var v int64
		if _, err := fmt.Sscan(words[len(words)-1], &v); err != nil {
			t.Fatal(err)
		}
		b.Add(stack, v)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drawn formats a graph as text: nodes with flat and cum, then edges.
func drawn(t testing.TB, p *profile.Profile, o report.GraphOptions) string {
	t.Helper()
	g, err := report.Graph(p, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "%s %d %d\n", n.Name, n.Flat, n.Cum)
	}
	for _, e := range g.Edges {
		arrow := "->"
		if e.Residual {
			arrow = "..."
		}
		if e.Inline {
			arrow += "!"
		}
		fmt.Fprintf(&b, "%s %s %s %d\n", g.Nodes[e.From].Name, arrow, g.Nodes[e.To].Name, e.Weight)
	}
	return b.String()
}

func TestGraph(t *testing.T) {
	recursion := []string{"f g f main 5", "f! main 2", "f f main 1"}
	small := []string{"leaf mid main 90", "leaf main 8", "mid main 2"}
	for _, c := range []struct {
		name   string
		stacks []string
		o      report.GraphOptions
		want   string
	}{
		{"recursion counts once", recursion, report.GraphOptions{},
			"f 8 8\ng 0 5\nmain 0 8\nf -> g 5\ng -> f 5\nmain -> f 8\n"},
		{"all calls inlined", []string{"f! main 2"}, report.GraphOptions{},
			"f 2 2\nmain 0 2\nmain ->! f 2\n"},
		{"paths of a call tree", recursion, report.GraphOptions{CallTree: true},
			"f 5 5\nf 2 8\nf 1 1\ng 0 5\nmain 0 8\nf -> g 5\nf -> f 1\ng -> f 5\nmain -> f 8\n"},
		{"no edge without both ends", []string{"leaf mid main 90", "other main 10"}, report.GraphOptions{NodeCount: 2},
			"leaf 90 90\nother 10 10\n"},
		{"a way over a dropped node is residual", small, report.GraphOptions{NodeCount: 2, Order: report.ByCum},
			"main 0 100\nleaf 98 98\nmain ... leaf 98\n"},
		{"a hidden frame has no path", small, report.GraphOptions{Order: report.ByCum, Filter: profile.Filter{Hide: regexp.MustCompile("mid")}},
			"main 2 100\nleaf 98 98\nmain -> leaf 98\n"},
		{"a picture keeps the shape", small, report.GraphOptions{Visual: true, NodeCount: 2},
			"leaf 98 98\nmain 0 100\nmain ... leaf 98\n"},
		{"light edges go", small, report.GraphOptions{EdgeFraction: 0.05},
			"leaf 98 98\nmid 2 92\nmain 0 100\nmid -> leaf 90\nmain -> mid 92\nmain -> leaf 8\n"},
		{"edges of one node", small, report.GraphOptions{EdgesOf: regexp.MustCompile("^mid$")},
			"leaf 98 98\nmid 2 92\nmain 0 100\nmid -> leaf 90\nmain -> mid 92\n"},
		{"a node of nothing is stepped over", []string{"f x main 3", "g x main -3"}, report.GraphOptions{},
			"f 3 3\ng -3 -3\n"},
		{"negative nodes are dropped", []string{"f main 5", "g main -3"}, report.GraphOptions{DropNegative: true},
			"f 5 5\nmain 0 2\nmain -> f 5\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, drawn(t, built(t, c.stacks...), c.o)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestGraphOfMeans(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "contentions", Unit: "count"}, profile.ValueType{Type: "delay", Unit: "nanoseconds"})
	frame := func(name string) profile.FrameSpec { return profile.FrameSpec{Function: name} }
	b.Add([]profile.FrameSpec{frame("lock"), frame("a"), frame("main")}, 2, 60)
	b.Add([]profile.FrameSpec{frame("lock"), frame("b"), frame("main")}, 1, 90)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []report.GraphOptions{{SampleIndex: 1, Mean: true}, {SampleIndex: 1, Mean: true, CallTree: true}} {
		want := "lock 50 50\na 0 30\nb 0 90\nmain 0 50\n" + "a -> lock 30\nb -> lock 90\nmain -> b 90\nmain -> a 30\n"
		if o.CallTree {
			want = "lock 90 90\nlock 30 30\na 0 30\nb 0 90\nmain 0 50\n" + "a -> lock 30\nb -> lock 90\nmain -> b 90\nmain -> a 30\n"
		}
		if diff := cmp.Diff(want, drawn(t, p, o)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", o, diff)
		}
	}
}

func TestGraphCounts(t *testing.T) {
	p := built(t, "leaf mid main 90", "other main 9", "tiny main 1")
	g, err := report.Graph(p, report.GraphOptions{NodeFraction: 0.05, EdgeFraction: 0.5, NodeCount: 3, Order: report.ByCum})
	if err != nil {
		t.Fatal(err)
	}
	got := []int{len(g.Nodes), g.Candidates, g.DroppedNodes, g.DroppedEdges, int(g.NodeCutoff), int(g.EdgeCutoff), int(g.Flat), int(g.Total)}
	if diff := cmp.Diff([]int{3, 4, 1, 0, 5, 50, 90, 100}, got); diff != "" {
		t.Errorf("nodes, candidates, dropped nodes and edges, their cutoffs, flat, total (-want +got):\n%s", diff)
	}
	if _, err := report.Graph(p, report.GraphOptions{SampleIndex: 1}); err == nil {
		t.Error("no error for a sample index that is not there")
	}
}

// TestCallgrindNamesAreDefined: each function that is called is defined in the file, even if a call
// tree has it in several places.
func TestCallgrindNamesAreDefined(t *testing.T) {
	p := built(t, "f g main 1", "f h main 2", "f f main 3")
	g, err := report.Graph(p, report.GraphOptions{Addresses: true, CallTree: true})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := g.WriteCallgrind(&b, plainView(g)); err != nil {
		t.Fatal(err)
	}
	defined, called := map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(b.String(), "\n") {
		name, _, _ := strings.Cut(line, " ")
		if id, ok := strings.CutPrefix(name, "fn="); ok {
			defined[id] = true
		}
		if id, ok := strings.CutPrefix(name, "cfn="); ok {
			called[id] = true
		}
	}
	if len(defined) != 7 {
		t.Errorf("%d functions for 7 paths:\n%s", len(defined), &b)
	}
	for id := range called {
		if !defined[id] {
			t.Errorf("%s is called, but not defined:\n%s", id, &b)
		}
	}
}

func TestCallgrindDivides(t *testing.T) {
	p := built(t, "f main 6000000")
	o := report.DefaultOptions()
	o.DivideBy, o.Unit = 2, "us"
	v, err := report.NewView(p, o)
	if err != nil {
		t.Fatal(err)
	}
	g, err := v.Graph(report.GraphOptions{Addresses: true})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := g.WriteCallgrind(&b, v); err != nil {
		t.Fatal(err)
	}
	want := "positions: instr line\nevents: cpu(us)\n\nob=\nfl=(1) f.go\nfn=(1) f\n0x0 1 3000\n\n" +
		"ob=\nfl=(2) main.go\nfn=(2) main\n* 1 0\ncfl=(1)\ncfn=(1)\ncalls=0 * 1\n* * 3000\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func ExampleGraph() {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	b.Add([]profile.FrameSpec{{Function: "main.sort"}, {Function: "main.main"}}, 7)
	b.Add([]profile.FrameSpec{{Function: "main.main"}}, 3)
	p, err := b.Profile()
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := report.Graph(p, report.GraphOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range g.Edges {
		fmt.Printf("%s calls %s: %d\n", g.Nodes[e.From].Name, g.Nodes[e.To].Name, e.Weight)
	}
	// Output: main.main calls main.sort: 7
}
