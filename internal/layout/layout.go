package layout

import "fmt"

// Graph is the input of Layered. The unit of lengths is the caller's; y grows downwards.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// Node is a box.
type Node struct{ Width, Height float64 }

// Edge is an arrow between two of the Nodes. Edges from a node to itself are not laid out. There
// may be several edges between two nodes.
type Edge struct {
	From, To int
	Weight   float64 // at least 0: edges with more weight are shorter and straighter
	// Label is the size of the text at the edge, for which space is reserved.
	LabelWidth, LabelHeight float64
}

// Options are the distances of a layout.
type Options struct {
	NodeGap  float64 // between neighbours in a layer
	LayerGap float64 // between layers; up to four times that in a graph that is wider than high
	Margin   float64 // around everything
}

// Point is a position.
type Point struct{ X, Y float64 }

// Route is the path of an edge.
type Route struct {
	// Curve is a chain of cubic Bézier curves from box to box: the start, then three points per
	// curve. It is empty for an edge from a node to itself.
	Curve []Point
	Label Point // centre of the label
}

// Layout is the result of Layered.
type Layout struct {
	Width, Height float64
	Nodes         []Point // centres
	Edges         []Route
}

// Layered computes the layout of a graph. It returns an error if an edge refers to a node that does
// not exist.
func Layered(g Graph, o Options) (*Layout, error) {
	for i, e := range g.Edges {
		if min(e.From, e.To) < 0 || max(e.From, e.To) >= len(g.Nodes) {
			return nil, fmt.Errorf("lay out edge %d: it goes from node %d to %d of %d", i, e.From, e.To, len(g.Nodes))
		}
	}
	parts := components(g)
	layouts := make([]*Layout, len(parts))
	for i, p := range parts {
		l := newLayers(p.graph, o)
		l.order()
		l.place()
		layouts[i] = l.result()
	}
	return shelve(g, parts, layouts, o), nil
}

// layers is a graph divided into layers: an edge over several layers is a chain of vertices, one
// per layer.
type layers struct {
	g        Graph
	o        Options
	vertices []vertex // of the nodes, then of the edges
	rows     [][]int  // vertices of each layer, from left to right
	chains   [][]int  // vertices of each edge, top down; nil for loops
	reversed []bool   // edges whose chain goes from To to From
}

// vertex is a node, or the point at which an edge crosses a layer.
type vertex struct {
	width, height float64
	layer         float64 // height of its layer, which has the same middle
	row, column   int
	x, y          float64
	up, down      []arc
	node          bool
}

// arc is the part of an edge between two layers, seen from one end.
type arc struct {
	to     int
	weight float64
}

// newLayers ranks the nodes. Every second layer is for labels, so that an edge between adjacent
// layers has a vertex for its label.
func newLayers(g Graph, o Options) *layers {
	l := &layers{g: g, o: o, chains: make([][]int, len(g.Edges))}
	l.reversed = acyclic(g)
	rank := ranks(g, l.reversed)
	last := -1
	for i, n := range g.Nodes {
		l.vertices = append(l.vertices, vertex{width: n.Width, height: n.Height, row: 2 * rank[i], node: true})
		last = max(last, 2*rank[i])
	}
	for i := range g.Edges {
		l.addChain(i)
	}
	l.rows = make([][]int, last+1)
	return l
}

func (l *layers) addChain(edge int) {
	e := l.g.Edges[edge]
	from, to := e.From, e.To
	if from == to {
		return
	}
	if l.reversed[edge] {
		from, to = to, from
	}
	chain := []int{from}
	top, bottom := l.vertices[from].row, l.vertices[to].row
	label := labelRow(top, bottom)
	for row := top + 1; row < bottom; row++ {
		v := vertex{row: row}
		if row == label {
			v.width, v.height = e.LabelWidth, e.LabelHeight
		}
		chain = append(chain, len(l.vertices))
		l.vertices = append(l.vertices, v)
	}
	chain = append(chain, to)
	for i, v := range chain[1:] {
		u := chain[i]
		// The inner parts of long edges bend first: keep them straight.
		w := 1 + e.Weight
		if !l.vertices[u].node && !l.vertices[v].node {
			w *= 8
		}
		l.vertices[u].down = append(l.vertices[u].down, arc{v, w})
		l.vertices[v].up = append(l.vertices[v].up, arc{u, w})
	}
	l.chains[edge] = chain
}

// labelRow returns the layer of labels nearest the middle of an edge.
func labelRow(top, bottom int) int { return (top+bottom)/2/2*2 + 1 }
