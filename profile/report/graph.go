package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"

	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// GraphOptions says what Graph computes. The zero value is the whole call graph by function, with
// the default sample type, as pprof's `-tree -trim=false`.
type GraphOptions struct {
	SampleIndex int // column; see Profile.SampleIndex
	Granularity profile.Granularity
	// Addresses creates a node for each address, line, function and binary, whatever the
	// Granularity. A callgrind file needs that.
	Addresses bool
	Columns   bool // lines are distinguished by column
	Order     Order
	Filter    profile.Filter // selects rows and frames; the total remains that of the whole profile

	// CallTree creates a node for each path from a root instead of each frame.
	CallTree bool
	// Visual trims for a picture: nodes are ranked by how much the picture would lose without them
	// (see entropy), and residual edges are left out where another path connects their nodes.
	Visual bool

	Mean         bool // values are divided by the sums of column 0; order and trimming use the sums
	DropNegative bool // drop nodes whose flat is negative, or whose flat is 0 and cum negative
	// Nodes with less |cum| and edges with less |weight| than this share (0 to 1) of the sum of all
	// flat values are dropped. pprof's defaults are 0.005 and 0.001.
	NodeFraction, EdgeFraction float64
	NodeCount                  int // most nodes to return; 0 for all

	// EdgesOf limits the edges to those from or to nodes whose String matches, as peek prints them.
	// Nil keeps all edges. Nodes are not affected.
	EdgesOf *regexp.Regexp
}

// Node is a node of a call graph. Fields that the granularity does not have are zero.
type Node struct {
	Name      string // function as the profile names it
	File      string
	Line      int64
	Column    int64  // only by address
	Address   uint64 // only by address
	Object    string // file of the mapping; only by address
	StartLine int64  // of the function; only by address
	Flat      int64  // sum over the samples whose leaf is this node, in the sample type's unit
	Cum       int64  // sum over the samples whose stack contains this node, each sample once
	// Context distinguishes nodes of one function in different places of a call tree: the index of
	// the caller among all paths, plus one. It is 0 for roots and outside of call trees.
	Context int32

	flatCount, cumCount int64 // of column 0, with GraphOptions.Mean
}

// nodeSum is the cost of a node; the counts are set with GraphOptions.Mean.
type nodeSum struct{ flat, cum, flatCount, cumCount int64 }

// String returns the node as pprof prints it: address, function, file and line, as far as they are
// known.
func (n *Node) String() string {
	var words []string
	if n.Address != 0 {
		words = append(words, fmt.Sprintf("%016x", n.Address))
	}
	if n.Name != "" {
		words = append(words, n.Name)
	}
	switch {
	case n.Line != 0 && n.Column != 0:
		words = append(words, n.File+":"+strconv.FormatInt(n.Line, 10)+":"+strconv.FormatInt(n.Column, 10))
	case n.Line != 0:
		words = append(words, n.File+":"+strconv.FormatInt(n.Line, 10))
	case n.File != "":
		words = append(words, n.File)
	case n.Name != "":
	case n.Object != "":
		words = append(words, "["+path.Base(n.Object)+"]")
	default:
		words = append(words, "<unknown>")
	}
	return strings.Join(words, " ")
}

// Edge is the calls from one node to another.
type Edge struct {
	From, To int32 // indices of CallGraph.Nodes
	Weight   int64 // sum over the samples with the call, each sample once
	Inline   bool  // every one of the calls was inlined
	Residual bool  // at least one of the calls went through nodes that were dropped

	count int64 // of column 0, with GraphOptions.Mean
}

// CallGraph is a call graph: who calls whom, and at what cost. Calls of a node to itself have no
// edge.
type CallGraph struct {
	SampleType profile.ValueType
	Nodes      []Node // in the order of the options; nodes whose values are all zero are left out
	Edges      []Edge // by From, then heaviest first
	Total      int64  // as Table.Total
	Flat       int64  // sum of the flat values of Nodes

	Candidates   int // number of nodes before NodeCount was applied
	DroppedNodes int // number of nodes below NodeCutoff
	DroppedEdges int // number of edges below EdgeCutoff
	NodeCutoff   int64
	EdgeCutoff   int64

	out    []int32 // index in Edges of each node's first edge
	in     []int32 // index in byDest of each node's first edge
	byDest []Edge
}

// Out returns the edges to the callees of a node, heaviest first. The slice must not be changed.
func (g *CallGraph) Out(node int) []Edge { return g.Edges[g.out[node]:g.out[node+1]] }

// In returns the edges from the callers of a node, heaviest first. The slice must not be changed.
func (g *CallGraph) In(node int) []Edge { return g.byDest[g.in[node]:g.in[node+1]] }

// Least returns the smallest magnitude other than zero of any node: of flat, or of cum where flat
// is zero. It decides the unit to print in (see View.UnitFor), and is 0 when there is none.
func (g *CallGraph) Least() int64 {
	var least int64
	for _, n := range g.Nodes {
		v := abs(n.Flat)
		if v == 0 {
			v = abs(n.Cum)
		}
		if v > 0 && (least == 0 || v < least) {
			least = v
		}
	}
	return least
}

// Graph returns the call graph of the view. The view's options apply. Of o only Addresses, Visual,
// EdgesOf and NodeCount (the report's default) are used, and CallTree, which says whether the
// report honours the view's CallTree.
func (v *View) Graph(o GraphOptions) (*CallGraph, error) {
	o.SampleIndex, o.Mean, o.DropNegative = v.Index, v.Mean, v.DropNegative
	o.Granularity, o.Columns, o.Order = v.Granularity, v.ShowColumns, v.Order
	o.CallTree = o.CallTree && v.CallTree
	o.NodeCount = v.limit(o.NodeCount)
	o.NodeFraction, o.EdgeFraction = v.NodeFraction, v.EdgeFraction
	o.Filter = profile.Filter{}
	if o.Addresses || o.EdgesOf != nil { // callgrind and peek print all nodes
		o.NodeCount, o.NodeFraction, o.EdgeFraction = 0, 0, 0
	}
	g, err := Graph(v.Profile, o)
	if err != nil {
		return nil, err
	}
	g.Total, g.SampleType = v.Total, v.SampleType
	return g, nil
}

// Graph sums one value by node and by call. It reads the stacks and one column, not the labels. It
// chooses nodes as pprof's newTrimmedGraph does (internal/report there). Flat and cum do not depend
// on which nodes are shown, so edges are built only for the nodes that are kept, once or twice.
func Graph(p *profile.Profile, o GraphOptions) (*CallGraph, error) {
	if err := frames.CheckIndex(p, o.SampleIndex); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	view := p.Filter(o.Filter)
	f := graphFramesOf(view, o)
	b := &graphBuild{
		g: &CallGraph{SampleType: p.SampleTypes[o.SampleIndex], Total: p.Total(o.SampleIndex)},
		o: o, frames: f, names: make([]string, len(f.nodes)),
	}
	if o.CallTree {
		newCallTree(view, f, newWeights(view, o)).addTo(b)
	} else {
		c := &callGraph{p: view, frames: f, weights: newWeights(view, o)}
		c.addTo(b)
	}
	b.trim()
	if o.Mean {
		b.g.divide()
	}
	return b.g, nil
}

// divide replaces sums by means.
func (g *CallGraph) divide() {
	g.Flat = 0
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Flat, n.Cum = quotient(n.Flat, n.flatCount), quotient(n.Cum, n.cumCount)
		g.Flat += n.Flat
	}
	for _, edges := range [][]Edge{g.Edges, g.byDest} {
		for i := range edges {
			edges[i].Weight = quotient(edges[i].Weight, edges[i].count)
		}
	}
}

// graphBuild chooses which nodes to show. A call tree can have millions of nodes, of which few are
// shown, so nodes are columns until they are chosen.
type graphBuild struct {
	g      *CallGraph
	o      GraphOptions
	frames *graphFrames
	names  []string  // of frames, filled in on first use
	frame  []int32   // of each node; nil when nodes are frames
	parent []int32   // of each node of a call tree, −1 for roots; else nil
	sums   []nodeSum // of each node
	// link returns the edges between the nodes for which keep is true. Edges refer to nodes by
	// number.
	link func(keep []bool, wanted []bool) []Edge
}

func (b *graphBuild) frameOf(node int32) int32 {
	if b.frame == nil {
		return node
	}
	return b.frame[node]
}

func (b *graphBuild) name(node int32) string {
	f := b.frameOf(node)
	if b.names[f] == "" {
		b.names[f] = b.frames.nodes[f].String()
	}
	return b.names[f]
}

func (b *graphBuild) node(i int32) Node {
	n, s := b.frames.nodes[b.frameOf(i)], &b.sums[i]
	n.Flat, n.Cum, n.flatCount, n.cumCount = s.flat, s.cum, s.flatCount, s.cumCount
	if b.parent != nil {
		n.Context = b.parent[i] + 1
	}
	return n
}

func (b *graphBuild) trim() {
	g, o := b.g, b.o
	keep := make([]bool, len(b.sums))
	var order []int32
	var flat int64
	for i, s := range b.sums {
		if s.flat == 0 && s.cum == 0 || o.DropNegative && (s.flat < 0 || s.flat == 0 && s.cum < 0) {
			continue
		}
		flat += s.flat
		order = append(order, int32(i))
	}
	g.NodeCutoff = abs(int64(float64(flat) * o.NodeFraction))
	g.EdgeCutoff = abs(int64(float64(flat) * o.EdgeFraction))
	all := len(order)
	order = slices.DeleteFunc(order, func(i int32) bool { return abs(b.sums[i].cum) < g.NodeCutoff })
	g.DroppedNodes, g.Candidates = all-len(order), len(order)
	for _, i := range order {
		keep[i] = true
	}

	var edges []Edge
	linked := false
	if o.Visual {
		edges, linked = b.link(keep, nil), true
	}
	b.sort(order, edges)
	if o.NodeCount > 0 && o.NodeCount < len(order) {
		for _, i := range order[o.NodeCount:] {
			keep[i] = false
		}
		order, linked = order[:o.NodeCount], false
	}
	if !linked {
		edges = b.link(keep, b.wanted(keep))
		if o.Visual {
			b.sort(order, edges)
		}
	}
	before := len(edges)
	edges = slices.DeleteFunc(edges, func(e Edge) bool { return abs(e.Weight) < g.EdgeCutoff })
	g.DroppedEdges = before - len(edges)
	b.fill(order, edges)
	if o.Visual {
		g.removeRedundant()
	}
}

// wanted reports for each node whether its edges are wanted; nil means all.
func (b *graphBuild) wanted(keep []bool) []bool {
	if b.o.EdgesOf == nil {
		return nil
	}
	wanted := make([]bool, len(keep))
	for i := range keep {
		wanted[i] = keep[i] && b.o.EdgesOf.MatchString(b.name(int32(i)))
	}
	return wanted
}

// fill sets the nodes and edges of the CallGraph, with the nodes in this order.
func (b *graphBuild) fill(order []int32, edges []Edge) {
	g := b.g
	at := make([]int32, len(b.sums))
	g.Nodes = make([]Node, len(order))
	for i, n := range order {
		at[n] = int32(i)
		g.Nodes[i] = b.node(n)
		g.Flat += b.sums[n].flat
	}
	for i := range edges {
		edges[i].From, edges[i].To = at[edges[i].From], at[edges[i].To]
	}
	g.index(edges)
}

// index sorts edges as pprof prints them: by weight, then by the names at their ends.
func (g *CallGraph) index(edges []Edge) {
	names := make([]string, len(g.Nodes))
	name := func(i int32) string {
		if names[i] == "" {
			names[i] = g.Nodes[i].String()
		}
		return names[i]
	}
	heavier := func(a, b Edge) int {
		if c := cmp.Compare(abs(b.Weight), abs(a.Weight)); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(name(a.From), name(b.From)), cmp.Compare(name(a.To), name(b.To)),
			cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	}
	// gather groups the edges by one end: a counting sort.
	gather := func(end func(Edge) int32) (start []int32, gathered []Edge) {
		start = make([]int32, len(g.Nodes)+2)
		for _, e := range edges {
			start[end(e)+2]++
		}
		for i := range g.Nodes {
			start[i+2] += start[i+1]
		}
		gathered = make([]Edge, len(edges))
		for _, e := range edges {
			at := &start[end(e)+1]
			gathered[*at] = e
			*at++
		}
		for i := range g.Nodes {
			slices.SortFunc(gathered[start[i]:start[i+1]], heavier)
		}
		return start[:len(g.Nodes)+1], gathered
	}
	g.out, g.Edges = gather(func(e Edge) int32 { return e.From })
	g.in, g.byDest = gather(func(e Edge) int32 { return e.To })
}
