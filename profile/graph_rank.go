package profile

import (
	"cmp"
	"math"
	"slices"
)

// sort orders nodes the largest first: by the options' order, or for a picture
// by entropy, which reads the edges.
func (b *graphBuild) sort(order []int32, edges []GraphEdge) {
	score := make([]int64, len(b.nodes))
	switch {
	case b.o.Visual:
		b.entropy(order, edges, score)
	case b.o.Order == ByCum:
		for _, i := range order {
			score[i] = b.nodes[i].Cum
		}
	default:
		for _, i := range order {
			score[i] = b.nodes[i].Flat
		}
	}
	names := make([]string, len(b.nodes))
	name := func(i int32) string {
		if names[i] == "" {
			names[i] = b.nodes[i].String()
		}
		return names[i]
	}
	slices.SortStableFunc(order, func(i, j int32) int {
		if c := cmp.Compare(abs(score[j]), abs(score[i])); c != 0 {
			return c
		}
		x, y := &b.nodes[i], &b.nodes[j]
		if x.Address != y.Address && x.Address != 0 && y.Address != 0 {
			return cmp.Compare(x.Address, y.Address)
		}
		last := cmp.Compare(abs(y.Flat), abs(x.Flat))
		if !b.o.Visual && b.o.Order == ByFlat {
			last = cmp.Compare(abs(y.Cum), abs(x.Cum))
		}
		return cmp.Or(cmp.Compare(name(i), name(j)), last)
	})
}

// entropy is pprof's score of how much a picture would lose without a node
// (entropyScore in internal/graph there): its cum, times the entropy of the
// weights of its edges, so that a node that only hands on from one caller to
// one callee counts little; roots and leaves count more.
func (b *graphBuild) entropy(order []int32, edges []GraphEdge, score []int64) {
	type sums struct {
		total float64
		n     int
	}
	in, out := make([]sums, len(b.nodes)), make([]sums, len(b.nodes))
	for _, e := range edges {
		w := float64(max(0, e.Weight))
		in[e.To].total += w
		out[e.From].total += w
		in[e.To].n++
		out[e.From].n++
	}
	for i := range b.nodes {
		out[i].total += float64(b.nodes[i].Flat)
	}
	inBits, outBits := make([]float64, len(b.nodes)), make([]float64, len(b.nodes))
	information := func(weight int64, total float64) float64 {
		if weight == 0 || total == 0 {
			return 0
		}
		share := math.Abs(float64(weight)) / total
		return -share * math.Log2(share)
	}
	for _, e := range edges {
		inBits[e.To] += information(e.Weight, in[e.To].total)
		outBits[e.From] += information(e.Weight, out[e.From].total)
	}
	for _, i := range order {
		n := &b.nodes[i]
		var s float64
		if in[i].n == 0 {
			s++
		} else {
			s += inBits[i]
		}
		if out[i].n == 0 {
			s++
		} else {
			s += outBits[i] + information(max(0, n.Flat), out[i].total)
		}
		score[i] = int64(s*float64(n.Cum)) + n.Flat
	}
}

// removeRedundant drops residual edges where another path leads from their
// caller to their callee, the least important first. In each node's callers it
// stops at the first edge, from the lightest, that is not residual, so that no
// edge vanishes that is heavier than one that stays.
func (g *Graph) removeRedundant() {
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
	edges := slices.DeleteFunc(g.Edges, func(e GraphEdge) bool { return gone[[2]int32{e.From, e.To}] })
	g.index(edges)
}

// redundant tells whether another path leads from e.From to e.To.
func (g *Graph) redundant(e GraphEdge, gone map[[2]int32]bool) bool {
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
