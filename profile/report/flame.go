package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"

	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// FlameOptions says what Flame lays out.
type FlameOptions struct {
	SampleIndex int
	Filter      profile.Filter
	Granularity profile.Granularity // what a box is: a function, file or line
	Columns     bool                // lines are distinguished by column
	Inverted    bool                // leaves at the root: the boxes below a box are its callers

	MaxBoxes int     // the widest boxes are kept; 0 for all
	MinShare float64 // boxes narrower than this share (0 to 1) of the root are left out
}

// FlameFunction is a function of a FlameGraph (a file or a line, by granularity) and its cost in
// all stacks.
type FlameFunction struct {
	Name      string // as Row.String
	Flat, Cum int64
}

// FlameBox is one box: a sequence of frames that starts at the root, and the samples whose stacks
// start with it.
type FlameBox struct {
	Parent   int32 // index in Boxes, -1 for the root
	Function int32 // index in Functions, -1 for the root
	Depth    int32 // 0 for the root
	X, Width int64 // left edge and width; the width is the sum of the magnitudes of the samples' values
	Value    int64 // sum of the samples' values: less than Width in a difference of profiles
	Self     int64 // Value of the samples that end here
	Inlined  bool  // in every one of these samples the call was inlined into its caller
}

// FlameGraph is a flame graph: stacks merged by common prefix. The children of a box are side by
// side within it, widest first.
type FlameGraph struct {
	SampleType profile.ValueType
	Functions  []FlameFunction
	Boxes      []FlameBox // the root first, then in depth-first order: parents before children
	Total      int64      // as Table.Total
	// Dropped is the total width of the gaps: of boxes that were left out directly below boxes that
	// were kept.
	Dropped int64
}

// Flame lays out one value as a flame graph. It does no work below boxes that are too narrow to be
// kept: a node is a range of samples, and only the ranges of the widest nodes are divided by their
// next frame.
func Flame(p *profile.Profile, o FlameOptions) (*FlameGraph, error) {
	if err := frames.CheckIndex(p, o.SampleIndex); err != nil {
		return nil, fmt.Errorf("flame graph: %w", err)
	}
	return newFlameSource(p, o).layOut(o), nil
}

// FlamePair returns the flame graph from the roots (callees) and the inverted one (callers), for
// less than twice the work of one. It ignores FlameOptions.Inverted.
func FlamePair(p *profile.Profile, o FlameOptions) (callees, callers *FlameGraph, err error) {
	if err := frames.CheckIndex(p, o.SampleIndex); err != nil {
		return nil, nil, fmt.Errorf("flame graph: %w", err)
	}
	s := newFlameSource(p, o)
	o.Inverted = false
	callees = s.layOut(o)
	o.Inverted = true
	return callees, s.layOut(o), nil
}

// flameSource is what the flame graphs of one value share.
type flameSource struct {
	view       *profile.Profile
	sampleType profile.ValueType
	total      int64
	values     []int64
	frames     *frames.Table
	sums       []frames.Sum
	cursors    []cursor // memory of the last splitter, reused by the next
	keys       []uint32
}

func newFlameSource(p *profile.Profile, o FlameOptions) *flameSource {
	view := p.Filter(o.Filter)
	f := frames.By(view, o.Granularity, o.Columns)
	return &flameSource{
		view: view, sampleType: p.SampleTypes[o.SampleIndex], total: p.Total(o.SampleIndex),
		values: view.Values(o.SampleIndex), frames: f, sums: f.Sum(view, o.SampleIndex),
	}
}

func (s *flameSource) layOut(o FlameOptions) *FlameGraph {
	f := &FlameGraph{SampleType: s.sampleType, Total: s.total}
	split := newSplitter(s, o.Inverted)
	f.place(split.grow(o))
	s.cursors, s.keys = split.cursors, split.keys
	f.name(s.frames, s.sums)
	return f
}

// flameNode is a node of the trie while it is built.
type flameNode struct {
	parent, function, depth    int32
	seq                        int // order among siblings of equal width
	lo, hi                     int // range of its samples in splitter.cursors
	width, value, self, inline int64
	ends                       int64 // width of the samples that end here
}

// cursor is a position in the stack of one sample. It holds no pointer, so that the garbage
// collector does not scan millions of them, and a page and an offset instead of a slice, which
// halves its size.
type cursor struct {
	value int64
	page  uint32 // of the column of stacks
	at    uint32 // the next location in the page
	left  uint32 // locations left, including the next one
	taken int32  // frames of the next location already passed
}

// splitter divides ranges of samples by their next frame. The samples of a node are contiguous, and
// its children's ranges are within its own.
type splitter struct {
	frames   *frames.Table
	pages    [][]int32 // the column of stacks
	inverted bool
	first    []uint32 // by location: twice the first key of the location, plus one when it has more
	cursors  []cursor
	scratch  []cursor // of place
	keys     []uint32 // scratch of split: the key that each cursor passed
	slot     []int32  // by function: its index among the children of the current node
	seen     []int32  // by function: the node that slot is valid for
	children []flameNode
	next     []int
}

func newSplitter(src *flameSource, inverted bool) *splitter {
	n := len(src.frames.Keys)
	s := &splitter{
		frames: src.frames, inverted: inverted, pages: src.view.StackPages(),
		slot: make([]int32, n), seen: make([]int32, n),
		cursors: src.cursors[:0], keys: src.keys,
	}
	if cap(s.cursors) == 0 {
		s.cursors = make([]cursor, 0, len(src.values))
	}
	if inverted {
		s.first = src.frames.KeysAt(0)
	} else {
		s.first = src.frames.Outermost()
	}
	for row, v := range src.values {
		if v == 0 {
			continue
		}
		page, off, n := src.view.StackPlace(row)
		if !inverted && n > 0 {
			off += n - 1
		}
		s.cursors = append(s.cursors, cursor{value: v, page: page, at: off, left: n})
	}
	s.scratch = make([]cursor, min(mostScratch, len(s.cursors)/4))
	if len(s.keys) != len(s.cursors) {
		s.keys = make([]uint32, len(s.cursors))
	}
	return s
}

// atEnd is the key of a cursor at the end of its stack.
const atEnd = 1<<32 - 1

// batch is how many cursors look up their next frames together.
const batch = 512

// ahead looks up the next frame of each cursor: twice its key, plus one when its location has more
// frames.
//
// Most of these lookups miss the processor's caches, and there are millions of them. In a loop that
// does nothing else, the processor overlaps many of them; in a loop that also sums, it waits for
// one after the other.
func (s *splitter) ahead(from []cursor, keys []uint32) {
	for i := range from {
		c := &from[i]
		if c.left == 0 {
			keys[i] = atEnd
			continue
		}
		keys[i] = uint32(s.pages[c.page][c.at])
	}
	start, list := s.frames.Start, s.frames.List
	for i, l := range keys {
		switch {
		case l == atEnd:
		case from[i].taken == 0: // the common case
			keys[i] = s.first[l]
		case s.inverted: // the frames of a location are stored leaf first
			at := start[l] + from[i].taken
			keys[i] = uint32(list[at])<<1 | flag(at+1 < start[l+1])
		default:
			at := start[l+1] - 1 - from[i].taken
			keys[i] = uint32(list[at])<<1 | flag(at > start[l])
		}
	}
}

func flag(set bool) uint32 {
	if set {
		return 1
	}
	return 0
}

// pass moves a cursor past the frame with a key and reports whether that frame was inlined.
func (s *splitter) pass(c *cursor, key uint32) (inlined bool) {
	more := key&1 != 0
	inlined = c.taken > 0
	if s.inverted {
		inlined = more
	}
	if more {
		c.taken++
		return inlined
	}
	c.taken = 0
	c.left--
	if s.inverted {
		c.at++
	} else {
		c.at--
	}
	return inlined
}

// split divides a node's samples among its children and returns the children that are at least as
// wide as least, widest first. The slice is valid until the next call.
func (s *splitter) split(n *flameNode, index int32, least int64) []flameNode {
	mark := index + 1
	s.children = s.children[:0]
	from, keys := s.cursors[n.lo:n.hi], s.keys[:n.hi-n.lo]
	for i := range from {
		c := &from[i]
		if i%batch == 0 {
			end := min(i+batch, len(from))
			s.ahead(from[i:end], keys[i:end])
		}
		if keys[i] == atEnd {
			n.self += c.value
			n.ends += abs(c.value)
			continue
		}
		inlined := s.pass(c, keys[i])
		function := keys[i] >> 1
		if s.seen[function] != mark {
			s.seen[function], s.slot[function] = mark, int32(len(s.children))
			s.children = append(s.children, flameNode{parent: index, function: int32(function), depth: n.depth + 1})
		}
		child := &s.children[s.slot[function]]
		child.hi++ // the number of samples, until lo is known
		child.value += c.value
		child.width += abs(c.value)
		if inlined {
			child.inline += abs(c.value)
		}
	}
	s.children = slices.DeleteFunc(s.children, func(c flameNode) bool {
		narrow := c.width < least
		if narrow {
			s.slot[c.function] = -1
		}
		return narrow
	})
	names := s.frames.Keys
	slices.SortFunc(s.children, func(a, b flameNode) int {
		x, y := &names[a.function], &names[b.function]
		return cmp.Or(cmp.Compare(b.width, a.width), cmp.Compare(x.Name, y.Name), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(a.function, b.function))
	})
	s.place(n.lo, from, keys)
	return s.children
}

// mostScratch is how many samples are sorted into other memory: 1.5 MiB, which the processor's caches hold.
const mostScratch = 1 << 16

// place sorts the samples of a node by child and sets the children's ranges. Samples of no child are
// not used again. Many samples are sorted in place, because other memory for all samples would be a
// tenth of what a server of a large profile uses.
func (s *splitter) place(lo int, from []cursor, keys []uint32) {
	s.next = s.next[:0]
	at := 0
	for i := range s.children {
		c := &s.children[i]
		s.slot[c.function] = int32(i)
		s.next = append(s.next, at)
		c.lo, c.hi = lo+at, lo+at+c.hi
		at += c.hi - c.lo
	}
	if to := s.scratch; len(from) <= len(to) {
		for i, key := range keys {
			if key == atEnd || s.slot[key>>1] < 0 {
				continue
			}
			next := &s.next[s.slot[key>>1]]
			to[*next] = from[i]
			*next++
		}
		copy(from, to[:at])
		return
	}
	none := uint32(len(s.children))
	s.next = append(s.next, at)
	for i, key := range keys {
		if keys[i] = none; key != atEnd && s.slot[key>>1] >= 0 {
			keys[i] = uint32(s.slot[key>>1])
		}
	}
	for child := range none {
		for end := s.children[child].hi - lo; s.next[child] < end; s.next[child]++ {
			i := s.next[child]
			if keys[i] == child {
				continue
			}
			c, of := from[i], keys[i] // each goes to its child's range, and what was there is next, until one belongs here
			for of != child {
				to := s.next[of]
				s.next[of]++
				c, from[to] = from[to], c
				of, keys[to] = keys[to], of
			}
			from[i], keys[i] = c, of
		}
	}
}

// grow returns the nodes to keep, widest first: every node comes after its parent, and siblings are
// in their order.
func (s *splitter) grow(o FlameOptions) []flameNode {
	root := flameNode{parent: -1, function: -1, hi: len(s.cursors)}
	for i := range s.cursors {
		v := s.cursors[i].value
		root.width += abs(v)
		root.value += v
	}
	least := max(1, int64(o.MinShare*float64(root.width)))
	waiting := &nodeHeap{root}
	var kept []flameNode
	for seq := 0; waiting.Len() > 0 && (o.MaxBoxes <= 0 || len(kept) < o.MaxBoxes); {
		n := heap.Pop(waiting).(flameNode)
		index := int32(len(kept))
		for _, c := range s.split(&n, index, least) {
			seq++
			c.seq = seq
			heap.Push(waiting, c)
		}
		kept = append(kept, n)
	}
	return kept
}

// nodeHeap is a heap with the widest node at the top.
type nodeHeap []flameNode

func (h nodeHeap) Len() int { return len(h) }
func (h nodeHeap) Less(i, j int) bool {
	return h[i].width > h[j].width || h[i].width == h[j].width && h[i].seq < h[j].seq
}
func (h nodeHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *nodeHeap) Push(x any)   { *h = append(*h, x.(flameNode)) }
func (h *nodeHeap) Pop() any {
	last := len(*h) - 1
	n := (*h)[last]
	*h = (*h)[:last]
	return n
}

// place puts the nodes side by side within their parents, in depth-first order.
func (f *FlameGraph) place(nodes []flameNode) {
	first, sibling := make([]int32, len(nodes)), make([]int32, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- { // prepend to the lists of children: siblings come out in order
		n := &nodes[i]
		f.Dropped += n.width - n.ends
		if n.parent >= 0 {
			f.Dropped -= n.width
			sibling[i], first[n.parent] = first[n.parent], int32(i)
		}
	}
	f.Boxes = make([]FlameBox, 0, len(nodes))
	type step struct {
		node, parent int32
		x            int64
	}
	for walk := []step{{0, -1, 0}}; len(walk) > 0; {
		at := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		n := &nodes[at.node]
		box := int32(len(f.Boxes))
		f.Boxes = append(f.Boxes, FlameBox{
			Parent: at.parent, Function: n.function, Depth: n.depth, X: at.x, Width: n.width,
			Value: n.value, Self: n.self, Inlined: n.inline > 0 && n.inline == n.width,
		})
		x, top := at.x, len(walk)
		for c := first[at.node]; c != 0; c = sibling[c] {
			walk = append(walk, step{c, box, x})
			x += nodes[c].width
		}
		slices.Reverse(walk[top:])
	}
}

// name collects the functions that boxes refer to.
func (f *FlameGraph) name(fr *frames.Table, sums []frames.Sum) {
	number := map[int32]int32{}
	for i := range f.Boxes {
		b := &f.Boxes[i]
		if b.Function < 0 {
			continue
		}
		n, ok := number[b.Function]
		if !ok {
			n = int32(len(f.Functions))
			number[b.Function] = n
			f.Functions = append(f.Functions, FlameFunction{rowOf(&fr.Keys[b.Function]).String(), sums[b.Function].Flat, sums[b.Function].Cum})
		}
		b.Function = n
	}
}
