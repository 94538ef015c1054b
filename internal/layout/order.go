package layout

import (
	"cmp"
	"slices"
)

// order orders the vertices of each layer to have few crossings: sweeps down and up sort each layer
// by the barycentres of its neighbours, then adjacent vertices are swapped. The best order found is
// kept.
func (l *layers) order() {
	l.firstOrder()
	passes := 24
	if len(l.vertices) > 5000 {
		passes = 4 // nobody reads such a graph completely
	}
	best, least := l.snapshot(), l.crossings()
	for pass := 0; pass < passes && least > 0; pass++ {
		if pass%2 == 0 {
			for row := 1; row < len(l.rows); row++ {
				l.sortRow(row, func(v *vertex) []arc { return v.up })
			}
		} else {
			for row := len(l.rows) - 2; row >= 0; row-- {
				l.sortRow(row, func(v *vertex) []arc { return v.down })
			}
		}
		l.swap()
		if n := l.crossings(); n < least {
			best, least = l.snapshot(), n
		}
	}
	l.restore(best)
}

// firstOrder orders vertices by a depth-first search from the top, so that connected vertices start
// side by side.
func (l *layers) firstOrder() {
	seen := make([]bool, len(l.vertices))
	var walk []int
	visit := func(root int) {
		walk = append(walk[:0], root)
		for len(walk) > 0 {
			v := walk[len(walk)-1]
			walk = walk[:len(walk)-1]
			if seen[v] {
				continue
			}
			seen[v] = true
			row := l.vertices[v].row
			l.vertices[v].column = len(l.rows[row])
			l.rows[row] = append(l.rows[row], v)
			for i := len(l.vertices[v].down) - 1; i >= 0; i-- {
				walk = append(walk, l.vertices[v].down[i].to)
			}
		}
	}
	for v := range l.g.Nodes {
		if len(l.vertices[v].up) == 0 {
			visit(v)
		}
	}
}

// sortRow sorts a layer by the mean column of each vertex's neighbours. A vertex without neighbours
// on that side keeps its place.
func (l *layers) sortRow(row int, neighbours func(*vertex) []arc) {
	type placed struct {
		v   int
		key float64
	}
	var moving []placed
	var at []int
	for i, v := range l.rows[row] {
		arcs := neighbours(&l.vertices[v])
		if len(arcs) == 0 {
			continue
		}
		var sum, weight float64
		for _, a := range arcs {
			sum += float64(l.vertices[a.to].column) * a.weight
			weight += a.weight
		}
		moving = append(moving, placed{v, sum / weight})
		at = append(at, i)
	}
	slices.SortStableFunc(moving, func(a, b placed) int { return cmp.Compare(a.key, b.key) })
	for i, m := range moving {
		l.rows[row][at[i]] = m.v
		l.vertices[m.v].column = at[i]
	}
}

// swap exchanges adjacent vertices of a layer if that saves crossings.
func (l *layers) swap() {
	for range 3 {
		better := false
		for _, row := range l.rows {
			for i := 0; i+1 < len(row); i++ {
				a, b := &l.vertices[row[i]], &l.vertices[row[i+1]]
				now := l.between(a.up, b.up) + l.between(a.down, b.down)
				if now == 0 {
					continue
				}
				if then := l.between(b.up, a.up) + l.between(b.down, a.down); then < now {
					row[i], row[i+1] = row[i+1], row[i]
					a.column, b.column = i+1, i
					better = true
				}
			}
		}
		if !better {
			return
		}
	}
}

// between counts the crossings of the arcs of two neighbours, a to the left of b.
func (l *layers) between(a, b []arc) int {
	n := 0
	for _, x := range a {
		for _, y := range b {
			if l.vertices[x.to].column > l.vertices[y.to].column {
				n++
			}
		}
	}
	return n
}

// crossings counts all crossings, layer by layer: the inversions among the lower
// ends of the arcs, taken in the order of their upper ends, with a Fenwick tree
// (W. Barth, M. Jünger, P. Mutzel, "Simple and Efficient Bilayer Cross
// Counting", 2002).
func (l *layers) crossings() int {
	total := 0
	var ends, tree []int
	for row := range len(l.rows) - 1 {
		ends = ends[:0]
		for _, v := range l.rows[row] {
			from := len(ends)
			for _, a := range l.vertices[v].down {
				ends = append(ends, l.vertices[a.to].column)
			}
			slices.Sort(ends[from:])
		}
		tree = append(tree[:0], make([]int, len(l.rows[row+1])+1)...)
		for seen, column := range ends {
			atMost := 0
			for i := column + 1; i > 0; i -= i & -i {
				atMost += tree[i]
			}
			total += seen - atMost
			for i := column + 1; i < len(tree); i += i & -i {
				tree[i]++
			}
		}
	}
	return total
}

func (l *layers) snapshot() [][]int {
	rows := make([][]int, len(l.rows))
	for i, row := range l.rows {
		rows[i] = slices.Clone(row)
	}
	return rows
}

func (l *layers) restore(rows [][]int) {
	l.rows = rows
	for _, row := range rows {
		for column, v := range row {
			l.vertices[v].column = column
		}
	}
}
