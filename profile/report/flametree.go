package report

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/hone-go/hone/profile/internal/prefix"
)

// flameNode is a node of the flame graph while it is built.
type flameNode struct {
	parent, function, depth    int32
	seq                        int    // order among siblings of equal width
	spans                      []span // its samples
	runs                       int    // number of spans, until they are stored
	width, value, self, inline int64
	ends                       int64 // width of the samples that end here
}

// span is a node of the prefix tree of locations: positions in the order of the profile's stacks,
// which share depth locations, and taken frames of the next one. A node of the flame graph has many
// spans, because a function is called from several lines, and hidden frames may be between.
type span struct {
	lo, hi int32
	depth  uint32
	taken  int32
}

// run is a span within a node that is being split, and its next frame.
type run struct {
	span
	location int32 // −1 at the end of the stack
	child    int32 // index in splitter.children
}

// splitter divides nodes by their next frame.
type splitter struct {
	*flameSource
	inverted bool
	order    *prefix.Order
	value    sums    // of the samples' values
	width    sums    // of their magnitudes; the same slice as value if no value is negative
	slot     []int32 // by function: its index among the children of the current node
	seen     []int32 // by function: the node that slot is valid for

	// Of split:
	children []flameNode
	spans    []span
	ends     []int
	runs     []run
	found    []run
}

// sums holds, by position, the sum of the positions before.
type sums []int64

func (s sums) of(lo, hi int32) int64 { return s[hi] - s[lo] }

func newSplitter(src *flameSource, inverted bool) *splitter {
	n := len(src.frames.Keys)
	s := &splitter{
		flameSource: src, inverted: inverted, order: src.cache.order(inverted),
		slot: make([]int32, n), seen: make([]int32, n), value: make(sums, len(src.values)+1),
	}
	s.width = s.value
	for _, v := range src.values {
		if v < 0 {
			s.width = make(sums, len(src.values)+1)
			break
		}
	}
	s.addUp(0, len(src.values))
	return s
}

// addUp computes the sums for positions from lo to hi.
func (s *splitter) addUp(lo, hi int) {
	value := s.value[lo]
	for i, row := range s.order.Rows()[lo:hi] {
		value += s.values[row]
		s.value[lo+i+1] = value
	}
	if &s.width[0] == &s.value[0] {
		return
	}
	width := s.width[lo]
	for i, row := range s.order.Rows()[lo:hi] {
		width += abs(s.values[row])
		s.width[lo+i+1] = width
	}
}

// split divides a node's samples among its children and returns the children that are at least as
// wide as least, widest first. The slice is valid until the next call.
func (s *splitter) split(n *flameNode, index int32, least int64) []flameNode {
	s.children, s.found = s.children[:0], s.found[:0]
	s.spans = append(s.spans[:0], n.spans...)
	for len(s.spans) > 0 {
		s.nextLocations()
		s.spans = s.spans[:0]
		for i := range s.runs {
			s.passFrame(n, index, &s.runs[i])
		}
	}
	for i := range s.children {
		if s.children[i].width < least {
			s.children[i].runs = 0
		}
	}
	s.storeSpans()
	s.children = slices.DeleteFunc(s.children, func(c flameNode) bool { return c.width < least })
	names := s.frames.Keys
	slices.SortFunc(s.children, func(a, b flameNode) int {
		x, y := &names[a.function], &names[b.function]
		return cmp.Or(cmp.Compare(b.width, a.width), cmp.Compare(x.Name, y.Name), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(a.function, b.function))
	})
	return s.children
}

// nextLocations sets runs to the spans, divided by their next location.
//
// Most of these lookups miss the processor's caches. In a loop that does nothing else, the
// processor overlaps many of them.
func (s *splitter) nextLocations() {
	s.runs = s.runs[:0]
	for _, sp := range s.spans {
		if sp.taken > 0 || sp.hi-sp.lo == 1 {
			s.runs = append(s.runs, run{span: sp})
			continue
		}
		s.ends = s.order.Divide(int(sp.lo), int(sp.hi), sp.depth, s.ends[:0], s.addUp)
		for _, end := range s.ends {
			sp.hi = int32(end)
			if s.width.of(sp.lo, sp.hi) != 0 { // otherwise the filters drop all of it
				s.runs = append(s.runs, run{span: sp})
			}
			sp.lo = sp.hi
		}
	}
	for i := range s.runs {
		r := &s.runs[i]
		r.location = s.order.Location(int(r.lo), r.depth)
	}
}

// passFrame moves a run past its next frame: to a child of n or, if the frame is hidden, back to
// the spans.
func (s *splitter) passFrame(n *flameNode, index int32, r *run) {
	value, width := s.value.of(r.lo, r.hi), s.width.of(r.lo, r.hi)
	if r.location < 0 {
		n.self += value
		n.ends += width
		return
	}
	start, end := s.frames.Start[r.location], s.frames.Start[r.location+1] // its frames, leaf first
	at := end - 1 - r.taken
	if s.inverted {
		at = start + r.taken
	}
	if r.taken++; r.taken == end-start {
		r.taken = 0
		r.depth++
	}
	if s.hidden != nil && s.hidden[at] {
		s.spans = append(s.spans, r.span)
		return
	}
	function := s.frames.List[at]
	if mark := index + 1; s.seen[function] != mark {
		s.seen[function], s.slot[function] = mark, int32(len(s.children))
		s.children = append(s.children, flameNode{parent: index, function: function, depth: n.depth + 1})
	}
	r.child = s.slot[function]
	child := &s.children[r.child]
	child.runs++
	child.value += value
	child.width += width
	if outer := at + 1; outer < end && (s.hidden == nil || slices.Contains(s.hidden[outer:end], false)) {
		child.inline += width
	}
	s.found = append(s.found, *r)
}

// storeSpans stores the runs that were found in their children, except in those without runs, which
// are not kept.
func (s *splitter) storeSpans() {
	total := 0
	for i := range s.children {
		total += s.children[i].runs
	}
	memory := make([]span, total)
	for i := range s.children {
		c := &s.children[i]
		c.spans, memory = memory[:0:c.runs], memory[c.runs:]
	}
	for i := range s.found {
		if c := &s.children[s.found[i].child]; c.runs > 0 {
			c.spans = append(c.spans, s.found[i].span)
		}
	}
}

// grow returns the nodes to keep, widest first: every node comes after its parent, and siblings are
// in their order.
func (s *splitter) grow(o FlameOptions) []flameNode {
	n := int32(len(s.values))
	root := flameNode{parent: -1, function: -1, spans: []span{{hi: n}}, width: s.width.of(0, n), value: s.value.of(0, n)}
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
		n.spans = nil
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
