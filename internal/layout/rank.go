package layout

import (
	"cmp"
	"slices"
)

// acyclic chooses the edges to reverse so that no cycle is left: the back edges of a depth-first
// search. The search starts at nodes without callers and follows heavy edges first, so that the
// reversed edges are light.
func acyclic(g Graph) []bool {
	out, in := incident(g)
	for _, edges := range out {
		slices.SortStableFunc(edges, func(a, b int) int { return cmp.Compare(g.Edges[b].Weight, g.Edges[a].Weight) })
	}
	reversed := make([]bool, len(g.Edges))
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(g.Nodes))
	type visit struct{ node, next int }
	walk := func(root int) {
		path := []visit{{root, 0}}
		state[root] = open
		for len(path) > 0 {
			v := &path[len(path)-1]
			if v.next == len(out[v.node]) {
				state[v.node] = done
				path = path[:len(path)-1]
				continue
			}
			e := out[v.node][v.next]
			v.next++
			switch to := g.Edges[e].To; state[to] {
			case open:
				reversed[e] = true
			case unseen:
				state[to] = open
				path = append(path, visit{to, 0})
			}
		}
	}
	for i := range g.Nodes {
		if len(in[i]) == 0 {
			walk(i)
		}
	}
	for i := range g.Nodes {
		if state[i] == unseen {
			walk(i)
		}
	}
	return reversed
}

// incident returns the edges that leave and enter each node, without loops.
func incident(g Graph) (out, in [][]int) {
	out, in = make([][]int, len(g.Nodes)), make([][]int, len(g.Nodes))
	for i, e := range g.Edges {
		if e.From != e.To {
			out[e.From] = append(out[e.From], i)
			in[e.To] = append(in[e.To], i)
		}
	}
	return out, in
}

// ranks assigns each node a layer such that edges lead down. It starts with the highest possible
// layers. Then it moves each node to the side where its edges are heavier, as long as that shortens
// them.
func ranks(g Graph, reversed []bool) []int {
	down := Graph{Nodes: g.Nodes, Edges: slices.Clone(g.Edges)}
	for i := range down.Edges {
		if e := &down.Edges[i]; reversed[i] {
			e.From, e.To = e.To, e.From
		}
	}
	out, in := incident(down)
	order := topological(down, out, in)
	rank := make([]int, len(g.Nodes))
	for _, n := range order {
		for _, e := range in[n] {
			rank[n] = max(rank[n], rank[down.Edges[e].From]+1)
		}
	}
	const passes = 20
	for range passes {
		moved := false
		for i := len(order) - 1; i >= 0; i-- {
			n := order[i]
			if to := pulled(down, rank, n, in[n], out[n]); to != rank[n] {
				rank[n], moved = to, true
			}
		}
		if !moved {
			break
		}
	}
	if len(rank) > 0 {
		least := slices.Min(rank)
		for i := range rank {
			rank[i] -= least
		}
	}
	return rank
}

// pulled returns the preferred rank of a node, within the ranks that its edges allow.
func pulled(g Graph, rank []int, n int, in, out []int) int {
	if len(out) == 0 && len(in) == 0 {
		return rank[n]
	}
	var up, down float64
	const far = 1 << 30
	top, bottom := -far, far
	for _, e := range in {
		up += 1 + g.Edges[e].Weight
		top = max(top, rank[g.Edges[e].From]+1)
	}
	for _, e := range out {
		down += 1 + g.Edges[e].Weight
		bottom = min(bottom, rank[g.Edges[e].To]-1)
	}
	switch {
	case up > down && top > -far:
		return top
	case down > up && bottom < far:
		return bottom
	}
	return rank[n]
}

// topological returns the nodes of an acyclic graph in topological order, callers first.
func topological(g Graph, out, in [][]int) []int {
	missing := make([]int, len(g.Nodes))
	var order []int
	for i := range g.Nodes {
		if missing[i] = len(in[i]); missing[i] == 0 {
			order = append(order, i)
		}
	}
	for at := 0; at < len(order); at++ {
		for _, e := range out[order[at]] {
			to := g.Edges[e].To
			if missing[to]--; missing[to] == 0 {
				order = append(order, to)
			}
		}
	}
	return order
}
