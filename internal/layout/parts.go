package layout

import (
	"cmp"
	"math"
	"slices"
)

// part is a connected component of a graph.
type part struct {
	graph        Graph
	nodes, edges []int // indices in the whole graph
}

// components returns the connected components of a graph, in order of their first nodes.
func components(g Graph) []part {
	group := make([]int, len(g.Nodes))
	for i := range group {
		group[i] = i
	}
	find := func(n int) int {
		for group[n] != n {
			group[n] = group[group[n]]
			n = group[n]
		}
		return n
	}
	for _, e := range g.Edges {
		a, b := find(e.From), find(e.To)
		group[max(a, b)] = min(a, b)
	}
	var parts []part
	at := make([]int, len(g.Nodes)) // index of a node in its part
	of := make([]int, len(g.Nodes)) // part of each group
	for i, n := range g.Nodes {
		root := find(i)
		if root == i {
			of[i] = len(parts)
			parts = append(parts, part{})
		}
		p := &parts[of[root]]
		at[i] = len(p.nodes)
		p.nodes = append(p.nodes, i)
		p.graph.Nodes = append(p.graph.Nodes, n)
	}
	for i, e := range g.Edges {
		p := &parts[of[find(e.From)]]
		e.From, e.To = at[e.From], at[e.To]
		p.edges = append(p.edges, i)
		p.graph.Edges = append(p.graph.Edges, e)
	}
	return parts
}

// shelve puts the layouts of the parts side by side, highest first. It starts a new row when a row
// is as wide as the widest part, or as a square of all parts.
func shelve(g Graph, parts []part, layouts []*Layout, o Options) *Layout {
	out := &Layout{Nodes: make([]Point, len(g.Nodes)), Edges: make([]Route, len(g.Edges))}
	order := make([]int, len(parts))
	var room, area float64
	for i, l := range layouts {
		order[i] = i
		room = max(room, l.Width)
		area += (l.Width + o.NodeGap) * (l.Height + o.LayerGap)
	}
	room = max(room, 1.5*math.Sqrt(area))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(layouts[b].Height, layouts[a].Height) })
	var x, y, high float64
	for _, i := range order {
		l := layouts[i]
		if x > 0 && x+l.Width > room {
			x, y, high = 0, y+high+o.LayerGap, 0
		}
		l.moveTo(Point{x + o.Margin, y + o.Margin}, parts[i], out)
		out.Width, out.Height = max(out.Width, x+l.Width), max(out.Height, y+l.Height)
		x += l.Width + 2*o.NodeGap
		high = max(high, l.Height)
	}
	out.Width += 2 * o.Margin
	out.Height += 2 * o.Margin
	return out
}

// moveTo copies a part's layout to its position in the whole.
func (l *Layout) moveTo(by Point, p part, out *Layout) {
	move := func(q Point) Point { return Point{q.X + by.X, q.Y + by.Y} }
	for i, n := range p.nodes {
		out.Nodes[n] = move(l.Nodes[i])
	}
	for i, e := range p.edges {
		r := l.Edges[i]
		for j := range r.Curve {
			r.Curve[j] = move(r.Curve[j])
		}
		if r.Curve != nil {
			r.Label = move(r.Label)
		}
		out.Edges[e] = r
	}
}
