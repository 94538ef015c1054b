package layout

import "math"

// result moves the layout to the origin and computes the routes of the edges.
func (l *layers) result() *Layout {
	left, right, bottom := math.Inf(1), math.Inf(-1), 0.0
	for _, v := range l.vertices {
		left, right = min(left, v.x-v.width/2), max(right, v.x+v.width/2)
		bottom = max(bottom, v.y+v.height/2)
	}
	for i := range l.vertices {
		l.vertices[i].x -= left
	}
	out := &Layout{Width: right - left, Height: bottom, Edges: make([]Route, len(l.g.Edges))}
	for i := range l.g.Nodes {
		out.Nodes = append(out.Nodes, Point{l.vertices[i].x, l.vertices[i].y})
	}
	for i, chain := range l.chains {
		if chain != nil {
			out.Edges[i] = l.route(i, chain)
		}
	}
	return out
}

// route returns the curve through a chain of vertices: straight down through each layer, past the
// highest box in it, and between layers an S with vertical ends. The curve is therefore smooth and
// touches no box.
func (l *layers) route(edge int, chain []int) Route {
	first, last := &l.vertices[chain[0]], &l.vertices[chain[len(chain)-1]]
	at := Point{port(first, l.vertices[chain[1]].x), first.y + first.height/2}
	r := Route{Curve: []Point{at}}
	to := func(x, y float64) {
		if p := (Point{x, y}); p != at {
			middle := (at.Y + y) / 2
			r.Curve = append(r.Curve, Point{at.X, middle}, Point{x, middle}, p)
			at = p
		}
	}
	to(at.X, first.y+first.layer/2)
	for _, v := range chain[1 : len(chain)-1] {
		x := &l.vertices[v]
		to(x.x, x.y-x.layer/2)
		to(x.x, x.y+x.layer/2)
	}
	x := port(last, at.X)
	to(x, last.y-last.layer/2)
	to(x, last.y-last.height/2)

	label := labelRow(first.row, last.row)
	v := &l.vertices[chain[label-first.row]]
	r.Label = Point{v.x, v.y}
	if l.reversed[edge] {
		for i, j := 0, len(r.Curve)-1; i < j; i, j = i+1, j-1 {
			r.Curve[i], r.Curve[j] = r.Curve[j], r.Curve[i]
		}
	}
	return r
}

// port returns the x at which an edge that comes from x meets a box: directly above or below x if
// possible, but not at a corner.
func port(v *vertex, x float64) float64 {
	reach := 0.4 * v.width
	return min(max(x, v.x-reach), v.x+reach)
}
