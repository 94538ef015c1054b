package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"

	"math/bits"

	"github.com/hone-go/hone/profile/internal/columns"
)

// graphFrames holds the frames of each location as nodes, leaf first.
type graphFrames struct {
	nodes []Node  // costs not set
	start []int32 // of location i in list; one more entry than locations
	list  []int32 // into nodes
}

func graphFramesOf(p *profile.Profile, o GraphOptions) *graphFrames {
	if o.Addresses {
		return addressFrames(p)
	}
	f := frames.By(p, o.Granularity, o.Columns)
	g := &graphFrames{start: f.Start, list: f.List, nodes: make([]Node, len(f.Keys))}
	for i, k := range f.Keys {
		g.nodes[i] = Node{Name: k.Name, File: k.File, Line: k.Line, Column: k.Column, Address: k.Address}
	}
	return g
}

// addressFrames distinguishes frames by everything that the profile records: see
// GraphOptions.Addresses.
func addressFrames(p *profile.Profile) *graphFrames {
	g := &graphFrames{start: make([]int32, 1, len(p.Locations)+1)}
	index := make(map[Node]int32, len(p.Locations))
	add := func(n Node) {
		i, ok := index[n]
		if !ok {
			i = int32(len(g.nodes))
			index[n] = i
			g.nodes = append(g.nodes, n)
		}
		g.list = append(g.list, i)
	}
	for i := range p.Locations {
		l := &p.Locations[i]
		n := Node{Address: l.Address}
		if l.Mapping >= 0 {
			n.Object = p.Mappings[l.Mapping].File
		}
		for _, ln := range l.Lines {
			fn := &p.Functions[ln.Func]
			at := profile.ByLine.Frame(fn, ln.Line)
			n.Name, n.File, n.StartLine = at.Name, at.File, fn.StartLine
			n.Line, n.Column = ln.Line, ln.Column
			add(n)
		}
		if len(l.Lines) == 0 {
			add(n)
		}
		g.start = append(g.start, int32(len(g.list)))
	}
	return g
}

// weights holds the values to sum and, with GraphOptions.Mean, the counts to divide them by.
type weights struct{ values, counts []int64 }

func newWeights(p *profile.Profile, o GraphOptions) weights {
	c := weights{values: p.Values(o.SampleIndex)}
	if o.Mean {
		c.counts = p.Values(0)
	}
	return c
}

// row returns a row's value and count; ok is false if both are zero.
func (c *weights) row(i int) (value, count int64, ok bool) {
	value = c.values[i]
	if c.counts != nil {
		count = c.counts[i]
	}
	return value, count, value != 0 || count != 0
}

// callGraph builds nodes and edges in which a frame is one node, whatever its callers.
type callGraph struct {
	p      *profile.Profile
	frames *graphFrames
	weights
}

func (c *callGraph) addTo(b *graphBuild) {
	f := &frames.Table{Keys: make([]profile.Frame, len(c.frames.nodes)), Start: c.frames.start, List: c.frames.list}
	b.sums = make([]nodeSum, len(c.frames.nodes))
	for i, s := range f.Sum(c.p, c.p.Values(b.o.SampleIndex)) {
		b.sums[i].flat, b.sums[i].cum = s.Flat, s.Cum
	}
	if b.o.Mean {
		for i, s := range f.Sum(c.p, c.p.Values(0)) {
			b.sums[i].flatCount, b.sums[i].cumCount = s.Flat, s.Cum
		}
	}
	b.link = c.link
}

// link walks each stack from its root. It skips nodes that are not kept: the edge from the caller
// to the callee of a skipped node is residual.
func (c *callGraph) link(keep, wanted []bool) []Edge {
	f := c.frames
	edges := newEdgeTable()
	for row := range c.values {
		v, count, ok := c.row(row)
		if !ok {
			continue
		}
		stack := c.p.Stack(row)
		parent, residual := int32(-1), false
		for i := len(stack) - 1; i >= 0; i-- {
			nodes := f.list[f.start[stack[i]]:f.start[stack[i]+1]]
			for j := len(nodes) - 1; j >= 0; j-- {
				n := nodes[j]
				if !keep[n] {
					residual = true
					continue
				}
				if parent >= 0 && n != parent && (wanted == nil || wanted[n] || wanted[parent]) {
					edges.add(Edge{parent, n, v, j != len(nodes)-1, residual, count}, int32(row))
				}
				parent, residual = n, false
			}
		}
	}
	return edges.edges
}

// edgeTable sums edges. rows holds the last row that was added to each edge, so that recursion
// counts once.
type edgeTable struct {
	pairs pairTable
	edges []Edge
	rows  []int32
}

func newEdgeTable() *edgeTable { return &edgeTable{pairs: newPairTable()} }

// add adds the value of one row to an edge.
func (t *edgeTable) add(e Edge, row int32) {
	at, known := t.pairs.find(e.From, e.To)
	if !known {
		t.edges = append(t.edges, e)
		t.rows = append(t.rows, row)
		return
	}
	if t.rows[at] == row {
		return
	}
	t.rows[at] = row
	sum := &t.edges[at]
	sum.Weight += e.Weight
	sum.count += e.count
	sum.Inline = sum.Inline && e.Inline
	sum.Residual = sum.Residual || e.Residual
}

// pairTable numbers pairs in order of first use: open addressing with linear probing over a slice.
type pairTable struct {
	slots []int32 // into pairs, plus one; 0 is free
	pairs []pair
}

type pair struct{ from, to int32 }

func newPairTable() pairTable { return pairTable{slots: make([]int32, 1<<10)} }

// find returns the number of a pair, and whether it already had one.
func (t *pairTable) find(from, to int32) (at int32, known bool) {
	if 2*len(t.pairs) >= len(t.slots) {
		t.grow()
	}
	want := pair{from, to}
	mask := uint32(len(t.slots) - 1)
	for slot := want.hash() & mask; ; slot = (slot + 1) & mask {
		i := t.slots[slot] - 1
		if i < 0 {
			t.pairs = columns.AppendDoubling(t.pairs, want)
			t.slots[slot] = int32(len(t.pairs))
			return int32(len(t.pairs) - 1), false
		}
		if t.pairs[i] == want {
			return i, true
		}
	}
}

func (t *pairTable) grow() {
	t.slots = make([]int32, 2*len(t.slots))
	mask := uint32(len(t.slots) - 1)
	for i, p := range t.pairs {
		slot := p.hash() & mask
		for t.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		t.slots[slot] = int32(i + 1)
	}
}

// hash folds the 128-bit product of two 64-bit numbers, as the hash of stacks does. The numbers are
// dense and assigned by hone, so no seed is needed.
func (p pair) hash() uint32 {
	hi, lo := bits.Mul64(uint64(uint32(p.from))<<32|uint64(uint32(p.to))^0x2545f4914f6cdd1d, 0x9e3779b97f4a7c15)
	return uint32(hi ^ lo)
}

// callTree builds nodes and edges where a node is a path from a root.
type callTree struct {
	parent []int32 // of each path; −1 for roots
	frame  []int32 // last frame of each path
	sums   []nodeSum
	inline []bool // the call of the path's last frame was inlined in every sample
}

func newCallTree(p *profile.Profile, f *graphFrames, c weights) *callTree {
	t := &callTree{}
	paths := newPairTable() // numbers each pair of a path and the frame that follows it
	for row := range c.values {
		v, count, ok := c.row(row)
		if !ok {
			continue
		}
		stack := p.Stack(row)
		at := int32(-1)
		for i := len(stack) - 1; i >= 0; i-- {
			nodes := f.list[f.start[stack[i]]:f.start[stack[i]+1]]
			for j := len(nodes) - 1; j >= 0; j-- {
				inline := j != len(nodes)-1
				child, known := paths.find(at, nodes[j])
				if !known {
					t.sums = columns.AppendDoubling(t.sums, nodeSum{})
					t.inline = columns.AppendDoubling(t.inline, inline)
				}
				s := &t.sums[child]
				s.cum += v
				s.cumCount += count
				t.inline[child] = t.inline[child] && inline
				at = child
			}
		}
		if at >= 0 {
			t.sums[at].flat += v
			t.sums[at].flatCount += count
		}
	}
	t.parent, t.frame = make([]int32, len(paths.pairs)), make([]int32, len(paths.pairs))
	for i, p := range paths.pairs {
		t.parent[i], t.frame[i] = p.from, p.to
	}
	return t
}

func (t *callTree) addTo(b *graphBuild) {
	b.parent, b.frame, b.sums, b.link = t.parent, t.frame, t.sums, t.link
}

// link joins each kept node to its nearest kept ancestor. If nodes between the two were dropped,
// the edge is residual, and it is inlined only if every call on the way was.
func (t *callTree) link(keep, wanted []bool) []Edge {
	var edges []Edge
	for i, kept := range keep {
		if !kept {
			continue
		}
		e := Edge{To: int32(i), From: t.parent[i], Weight: t.sums[i].cum, Inline: t.inline[i], count: t.sums[i].cumCount}
		for e.From >= 0 && !keep[e.From] {
			e.Inline = e.Inline && t.inline[e.From]
			e.Residual = true
			e.From = t.parent[e.From]
		}
		if e.From >= 0 && (wanted == nil || wanted[e.From] || wanted[i]) {
			edges = append(edges, e)
		}
	}
	return edges
}
