package report

import (
	"cmp"
	"math"
	"slices"
)

// sort orders nodes, largest first: by the options' order, or for a picture by entropy, which
// depends on the edges.
func (b *graphBuild) sort(order []int32, edges []Edge) {
	score := func(i int32) int64 { return b.sums[i].flat }
	last := func(i int32) int64 { return b.sums[i].cum }
	switch {
	case b.o.Visual:
		score, last = b.entropy(order, edges), score
	case b.o.Order == ByCum:
		score, last = last, score
	}
	slices.SortStableFunc(order, func(i, j int32) int {
		if c := cmp.Compare(abs(score(j)), abs(score(i))); c != 0 {
			return c
		}
		x, y := b.frames.nodes[b.frameOf(i)].Address, b.frames.nodes[b.frameOf(j)].Address
		if x != y && x != 0 && y != 0 {
			return cmp.Compare(x, y)
		}
		return cmp.Or(cmp.Compare(b.name(i), b.name(j)), cmp.Compare(abs(last(j)), abs(last(i))))
	})
}

// entropy is pprof's score of how much a picture would lose without a node (entropyScore in
// internal/graph there): its cum, times the entropy of the weights of its edges. A node with one
// caller and one callee therefore scores low; roots and leaves score higher.
func (b *graphBuild) entropy(order []int32, edges []Edge) func(node int32) int64 {
	at := make([]int32, len(b.sums)) // index of each node in order
	for i, n := range order {
		at[n] = int32(i)
	}
	in, out := make([]side, len(order)), make([]side, len(order))
	for i, n := range order {
		out[i].total = float64(b.sums[n].flat)
	}
	for _, e := range edges {
		in[at[e.To]].count(e.Weight)
		out[at[e.From]].count(e.Weight)
	}
	for _, e := range edges {
		in[at[e.To]].inform(e.Weight)
		out[at[e.From]].inform(e.Weight)
	}
	scores := make([]int64, len(order))
	for i, n := range order {
		s := &b.sums[n]
		if out[i].edges > 0 && s.flat > 0 {
			out[i].inform(s.flat)
		}
		scores[i] = int64((in[i].score()+out[i].score())*float64(s.cum)) + s.flat
	}
	return func(node int32) int64 { return scores[at[node]] }
}

// side is one side of a node: its callers, or its callees and its own flat value.
type side struct {
	total float64 // of weights
	edges int
	bits  float64
}

func (s *side) count(weight int64) {
	s.total += float64(max(0, weight))
	s.edges++
}

// inform adds the information content of a part of the total.
func (s *side) inform(weight int64) {
	if weight != 0 && s.total != 0 {
		share := math.Abs(float64(weight)) / s.total
		s.bits -= share * math.Log2(share)
	}
}

func (s *side) score() float64 {
	if s.edges == 0 {
		return 1 // roots and leaves
	}
	return s.bits
}

// removeRedundant drops residual edges where another path leads from their caller to their callee,
// starting with the least important node. Among the callers of a node it starts with the lightest
// edge and stops at the first that is not residual, so that it never drops an edge that is heavier
// than one that it keeps.
func (g *CallGraph) removeRedundant() {
	gone := map[[2]int32]bool{}
	for n := len(g.Nodes) - 1; n >= 0; n-- {
		in := g.In(n)
		for j := len(in) - 1; j >= 0 && in[j].Residual; j-- {
			if g.redundant(in[j], gone) {
				gone[[2]int32{in[j].From, in[j].To}] = true
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	edges := slices.DeleteFunc(g.Edges, func(e Edge) bool { return gone[[2]int32{e.From, e.To}] })
	g.index(edges)
}

// redundant reports whether another path leads from e.From to e.To.
func (g *CallGraph) redundant(e Edge, gone map[[2]int32]bool) bool {
	seen := make([]bool, len(g.Nodes))
	seen[e.To] = true
	queue := []int32{e.To}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, x := range g.In(int(n)) {
			if x.From == e.From && x.To == e.To || seen[x.From] || gone[[2]int32{x.From, x.To}] {
				continue
			}
			if x.From == e.From {
				return true
			}
			seen[x.From] = true
			queue = append(queue, x.From)
		}
	}
	return false
}
