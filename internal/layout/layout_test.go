package layout

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var plain = Options{NodeGap: 20, LayerGap: 40, Margin: 10}

// boxes returns a graph of equal boxes.
func boxes(n int, edges ...[2]int) Graph {
	g := Graph{Nodes: make([]Node, n)}
	for i := range g.Nodes {
		g.Nodes[i] = Node{100, 30}
	}
	for _, e := range edges {
		g.Edges = append(g.Edges, Edge{From: e[0], To: e[1], LabelWidth: 30, LabelHeight: 10})
	}
	return g
}

func layered(t testing.TB, g Graph) *Layout {
	t.Helper()
	l, err := Layered(g, plain)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCallersAreAboveCallees(t *testing.T) {
	l := layered(t, boxes(4, [2]int{0, 1}, [2]int{1, 2}, [2]int{0, 2}, [2]int{3, 2}))
	for _, e := range [][2]int{{0, 1}, {1, 2}, {3, 2}} {
		if l.Nodes[e[0]].Y >= l.Nodes[e[1]].Y {
			t.Errorf("%d does not stand above %d", e[0], e[1])
		}
	}
	if l.Nodes[3].Y != l.Nodes[1].Y {
		t.Error("a root does not stand next to what it calls")
	}
}

func TestAChainIsStraight(t *testing.T) {
	l := layered(t, boxes(4, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}))
	for _, p := range l.Nodes {
		if math.Abs(p.X-l.Nodes[0].X) > 0.01 {
			t.Errorf("the chain bends: %v", l.Nodes)
		}
	}
	if l.Width != 120 {
		t.Errorf("width %g, want a box and its margins", l.Width)
	}
}

func TestChildrenAreCenteredBelowTheirParent(t *testing.T) {
	l := layered(t, boxes(3, [2]int{0, 1}, [2]int{0, 2}))
	if mean := (l.Nodes[1].X + l.Nodes[2].X) / 2; math.Abs(mean-l.Nodes[0].X) > 0.5 {
		t.Errorf("the parent stands at %g, the middle of its children is %g", l.Nodes[0].X, mean)
	}
}

func TestAvoidableCrossingsAreAvoided(t *testing.T) {
	for name, g := range map[string]Graph{
		"crossed pair":   boxes(4, [2]int{0, 3}, [2]int{1, 2}),
		"crossed ladder": boxes(8, [2]int{0, 5}, [2]int{1, 4}, [2]int{5, 6}, [2]int{4, 7}, [2]int{0, 4}),
		"tree":           boxes(7, [2]int{0, 1}, [2]int{0, 2}, [2]int{2, 3}, [2]int{1, 4}, [2]int{2, 5}, [2]int{1, 6}),
	} {
		l := newLayers(g, plain)
		l.order()
		if n := l.crossings(); n != 0 {
			t.Errorf("%s: %d crossings", name, n)
		}
	}
}

func TestCrossingsAreCounted(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLayers(anyGraph(rt), plain)
		l.firstOrder()
		want := 0
		for _, row := range l.rows {
			for i, a := range row {
				for _, b := range row[i+1:] {
					want += l.between(l.vertices[a].down, l.vertices[b].down)
				}
			}
		}
		if got := l.crossings(); got != want {
			rt.Fatalf("%d crossings, want %d", got, want)
		}
	})
}

func TestPartsAreSideBySide(t *testing.T) {
	l := layered(t, boxes(6, [2]int{4, 5}))
	if l.Nodes[4].X != 60 || l.Nodes[5].Y <= l.Nodes[4].Y {
		t.Errorf("the highest part is not the first: %v", l.Nodes)
	}
	if ratio := l.Width / l.Height; ratio > 4 {
		t.Errorf("%g × %g: the rest is one long row", l.Width, l.Height)
	}
}

func TestHeavyEdgesLeadDownInACycle(t *testing.T) {
	g := boxes(3, [2]int{0, 1}, [2]int{1, 2}, [2]int{2, 0})
	g.Edges[0].Weight, g.Edges[1].Weight = 10, 10
	if diff := cmp.Diff([]bool{false, false, true}, acyclic(g)); diff != "" {
		t.Error(diff)
	}
	l := layered(t, g)
	back := l.Edges[2].Curve
	if back[0].Y <= back[len(back)-1].Y {
		t.Error("the edge that closes the cycle does not lead up")
	}
}

func TestWrongEdge(t *testing.T) {
	for _, e := range [][2]int{{0, 1}, {-1, 0}} {
		if _, err := Layered(boxes(1, e), plain); err == nil {
			t.Errorf("no error for %v in a graph of one node", e)
		}
	}
}

func TestNothing(t *testing.T) {
	if l := layered(t, Graph{}); l.Width != 20 || l.Height != 20 {
		t.Errorf("%g × %g for nothing", l.Width, l.Height)
	}
	if l := layered(t, boxes(1, [2]int{0, 0})); len(l.Edges) != 1 || l.Edges[0].Curve != nil {
		t.Errorf("a loop got %v", l.Edges)
	}
}

func anyGraph(t *rapid.T) Graph {
	var g Graph
	size := rapid.Float64Range(1, 200)
	for range rapid.IntRange(1, 12).Draw(t, "nodes") {
		g.Nodes = append(g.Nodes, Node{size.Draw(t, "width"), size.Draw(t, "height")})
	}
	node := rapid.IntRange(0, len(g.Nodes)-1)
	for range rapid.IntRange(0, 20).Draw(t, "edges") {
		g.Edges = append(g.Edges, Edge{From: node.Draw(t, "from"), To: node.Draw(t, "to"), Weight: float64(rapid.IntRange(0, 9).Draw(t, "weight")),
			LabelWidth: size.Draw(t, "label width"), LabelHeight: 12})
	}
	return g
}

// box is a rectangle with a name.
type box struct {
	name                     string
	left, right, top, bottom float64
}

func around(name string, p Point, w, h float64) box {
	return box{name, p.X - w/2, p.X + w/2, p.Y - h/2, p.Y + h/2}
}

const rounding = 1e-6

func (b box) holds(p Point) bool {
	return p.X > b.left+rounding && p.X < b.right-rounding && p.Y > b.top+rounding && p.Y < b.bottom-rounding
}

// TestLayoutsAreClean: whatever the graph, boxes and labels do not overlap and are inside the
// picture, and edges connect boxes and cross none.
func TestLayoutsAreClean(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := anyGraph(rt)
		l := layered(t, g)
		if diff := cmp.Diff(l, layered(t, g)); diff != "" {
			rt.Fatalf("the layout is another one the second time:\n%s", diff)
		}
		var all []box
		for i, n := range g.Nodes {
			all = append(all, around(fmt.Sprint("node ", i), l.Nodes[i], n.Width, n.Height))
		}
		nodes := all[:len(all):len(all)]
		for i, e := range g.Edges {
			if e.From == e.To {
				continue
			}
			all = append(all, around(fmt.Sprint("label ", i), l.Edges[i].Label, e.LabelWidth, e.LabelHeight))
			curve := l.Edges[i].Curve
			if len(curve)%3 != 1 || len(curve) < 4 {
				rt.Fatalf("edge %d has %d points", i, len(curve))
			}
			ends(rt, curve, nodes[e.From], nodes[e.To])
			for _, p := range along(curve) {
				for _, b := range nodes {
					if b.holds(p) {
						rt.Fatalf("edge %d from %d to %d runs through %s at %v", i, e.From, e.To, b.name, p)
					}
				}
			}
		}
		for i, a := range all {
			if a.left < -rounding || a.top < -rounding || a.right > l.Width+rounding || a.bottom > l.Height+rounding {
				rt.Fatalf("%s is outside of the picture", a.name)
			}
			for _, b := range all[i+1:] {
				if a.left < b.right-rounding && b.left < a.right-rounding && a.top < b.bottom-rounding && b.top < a.bottom-rounding {
					rt.Fatalf("%+v and %+v overlap", a, b)
				}
			}
		}
	})
}

// ends checks that a curve joins the lower or upper sides of two boxes.
func ends(t *rapid.T, curve []Point, from, to box) {
	for _, end := range []struct {
		p Point
		b box
	}{{curve[0], from}, {curve[len(curve)-1], to}} {
		if end.p.X < end.b.left || end.p.X > end.b.right || min(math.Abs(end.p.Y-end.b.top), math.Abs(end.p.Y-end.b.bottom)) > rounding {
			t.Fatalf("an edge ends at %v, not at %+v", end.p, end.b)
		}
	}
}

// along returns points of a chain of Bézier curves.
func along(curve []Point) []Point {
	var out []Point
	for i := 0; i+3 < len(curve); i += 3 {
		a, b, c, d := curve[i], curve[i+1], curve[i+2], curve[i+3]
		for step := range 11 {
			t := float64(step) / 10
			s := 1 - t
			mix := func(a, b, c, d float64) float64 { return s*s*s*a + 3*s*s*t*b + 3*s*t*t*c + t*t*t*d }
			out = append(out, Point{mix(a.X, b.X, c.X, d.X), mix(a.Y, b.Y, c.Y, d.Y)})
		}
	}
	return out
}

func ExampleLayered() {
	g := Graph{
		Nodes: []Node{{80, 20}, {80, 20}},
		Edges: []Edge{{From: 0, To: 1}},
	}
	l, err := Layered(g, Options{NodeGap: 10, LayerGap: 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Width, l.Height, l.Nodes)
	// Output: 80 70 [{40 10} {40 60}]
}

func BenchmarkLayered(b *testing.B) {
	for _, n := range []int{80, 1000} {
		r := rand.New(rand.NewPCG(1, 2))
		g := boxes(n)
		for to := 1; to < n; to++ {
			for range 1 + r.IntN(3) { // calls from slightly above, as in programs
				g.Edges = append(g.Edges, Edge{From: max(0, to-1-r.IntN(1+n/8)), To: to, Weight: r.Float64(), LabelWidth: 30, LabelHeight: 10})
			}
		}
		b.Run(fmt.Sprint(n, " nodes"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Layered(g, plain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
