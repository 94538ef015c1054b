package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// graphPage returns the page of a profile with inlining, recursion, a generic function and a node
// that is left out.
func graphPage(t *testing.T, o report.GraphOptions) GraphPage {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	frame := func(name string) profile.FrameSpec { return profile.FrameSpec{Function: name, File: "x.go", Line: 1} }
	main, serve := frame("main.main"), frame("example.com/app/v2/server.(*Server).serve")
	sort := frame("slices.SortFunc[go.shape.[]example.com/app.Item,go.shape.int]")
	less := frame("main.<less> \"&\"")
	less.Inlined = true
	b.Add([]profile.FrameSpec{less, sort, serve, main}, 600e6)
	b.Add([]profile.FrameSpec{sort, sort, serve, main}, 250e6)
	b.Add([]profile.FrameSpec{frame("runtime.mallocgc"), frame("runtime.tiny"), serve, main}, 140e6)
	b.Add([]profile.FrameSpec{frame("runtime.gcBgMarkWorker")}, 10e6)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.DurationNanos = 2e9
	v, err := report.NewView(p, report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	g, err := v.Graph(o)
	if err != nil {
		t.Fatal(err)
	}
	return GraphPage{Source: "cpu.pprof", View: v, Graph: g}
}

func TestTreePage(t *testing.T) {
	page := graphPage(t, report.GraphOptions{NodeCount: 5})
	var b bytes.Buffer
	Tree(&b, page, Style{})
	golden(t, "tree.golden", b.Bytes())
	b.Reset()
	if err := JSON(&b, GraphJSON("tree", page)); err != nil {
		t.Fatal(err)
	}
	golden(t, "tree.json.golden", b.Bytes())
}

func TestPeekPage(t *testing.T) {
	page := graphPage(t, report.GraphOptions{EdgesOf: regexp.MustCompile("mallocgc")})
	for i, n := range page.Graph.Nodes {
		if n.Name == "runtime.mallocgc" {
			page.Shown = append(page.Shown, i)
		}
	}
	var b bytes.Buffer
	Tree(&b, page, Style{})
	golden(t, "peek.golden", b.Bytes())
}

func TestGraphPages(t *testing.T) {
	page := graphPage(t, report.GraphOptions{NodeCount: 6, Visual: true})
	var b bytes.Buffer
	Dot(&b, page)
	golden(t, "graph.dot.golden", b.Bytes())
	b.Reset()
	if err := CallGraphSVG(&b, page); err != nil {
		t.Fatal(err)
	}
	// The style and the script are separate files.
	drawing := strings.NewReplacer(callgraphCSS, "…", callgraphJS, "…").Replace(b.String())
	golden(t, "graph.svg.golden", []byte(drawing))
}

// TestCallGraphIsOneFile: the picture is XML, has every node and call, and loads nothing from
// elsewhere.
func TestCallGraphIsOneFile(t *testing.T) {
	page := graphPage(t, report.GraphOptions{Visual: true})
	var b bytes.Buffer
	if err := CallGraphSVG(&b, page); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(strings.ReplaceAll(text, "http://www.w3.org/2000/svg", ""), "://") || strings.Contains(text, "@import") {
		t.Error("the picture refers to something outside")
	}
	classes := map[string]int{}
	for dec := xml.NewDecoder(&b); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "g" {
			for _, a := range start.Attr {
				if a.Name.Local == "class" {
					classes[strings.Fields(a.Value)[0]]++
				}
			}
		}
	}
	if classes["node"] != len(page.Graph.Nodes) || classes["edge"] != len(page.Graph.Edges) {
		t.Errorf("%v for %d nodes and %d edges", classes, len(page.Graph.Nodes), len(page.Graph.Edges))
	}
}

func TestEmptyCallGraph(t *testing.T) {
	page := GraphPage{Source: "cpu.pprof", View: &report.View{Profile: &profile.Profile{}}, Graph: &report.CallGraph{}}
	if err := CallGraphSVG(io.Discard, page); err != nil {
		t.Error(err)
	}
}

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"main.main": "main.main",
		"example.com/app/v2/server.(*Server).serve": "server.(*Server).serve",
		"slices.SortFunc[go.shape.[]a/b.Item,int]":  "slices.SortFunc[…]",
		"a/b.(*List[go.shape.string]).Push.func1":   "b.(*List[…]).Push.func1",
		"operator[]":            "operator[…]",
		"broken[name":           "broken[name",
		"github.com/x/y.F[...]": "y.F[…]",
		"":                      "",
	} {
		if got := shortName(name); got != want {
			t.Errorf("shortName(%q) = %q, want %q", name, got, want)
		}
	}
}
