package report

import (
	"slices"

	"github.com/hone-go/hone/profile/internal/prefix"
)

// span is a node of the prefix tree of locations: positions in the order of the profile's stacks,
// which share depth locations, and taken frames of the next one. A node of the flame graph has many
// spans, because a function is called from several lines, and hidden frames may be between.
type span struct {
	prefix.Node
	taken    int32
	location int32 // that the taken frames are of; only if there are some
}

// foundSpan is a span of a child of the node that is being split.
type foundSpan struct {
	span
	child int32 // index in spanSplitter.children
}

// spanSplitter divides nodes with the order of all stacks as a prefix tree.
type spanSplitter struct {
	*source
	inverted bool
	order    *prefix.Order
	value    sums    // of the samples' values
	width    sums    // of their magnitudes; the same slice as value if no value is negative
	slot     []int32 // by function: its index among the children of the current node
	seen     []int32 // by function: the node that slot is valid for
	column   column  // without values, they are looked up by row

	// Of split:
	children     []flameNode
	spans, after []span // to pass, now and then
	found        []foundSpan
}

// sums holds, by position, the sum of the positions before.
type sums []int64

func (s sums) of(lo, hi int32) int64 { return s[hi] - s[lo] }

func newSpanSplitter(src *source, inverted bool) *spanSplitter {
	n := len(src.frames.Keys)
	order := src.cache.order(inverted) // uses memory
	s := &spanSplitter{
		source: src, inverted: inverted, order: order,
		slot: make([]int32, n), seen: make([]int32, n), value: src.cache.memory(0), column: src.cache.column(inverted, src.sampleIndex),
	}
	s.width = s.value
	if src.negative {
		s.width = src.cache.memory(1)
	}
	s.value[0], s.width[0] = 0, 0
	s.addUp(0, len(src.values))
	return s
}

// sorted updates what depends on the positions from lo to hi, after they changed.
func (s *spanSplitter) sorted(lo, hi int) {
	if column := s.column.values; column != nil {
		for i, row := range s.order.Rows()[lo:hi] {
			column[lo+i] = int32(s.values[row] / s.column.unit)
		}
	}
	s.addUp(lo, hi)
}

// addUp computes the sums for positions from lo to hi.
func (s *spanSplitter) addUp(lo, hi int) {
	value, width := s.value[lo], s.width[lo]
	column := s.column.values
	for i, row := range s.order.Rows()[lo:hi] {
		var v int64
		if column != nil {
			v = int64(column[lo+i]) * s.column.unit
		} else {
			v = s.values[row]
		}
		if s.rows != nil {
			v = s.rows.Select(int(row), v)
		}
		value += v
		s.value[lo+i+1] = value
		if s.negative {
			width += abs(v)
			s.width[lo+i+1] = width
		}
	}
}

func (s *spanSplitter) root() flameNode {
	n := int32(len(s.values))
	return flameNode{parent: -1, function: -1, spans: []span{{Node: s.order.Root()}}, width: s.width.of(0, n), value: s.value.of(0, n)}
}

func (s *spanSplitter) split(n *flameNode, index int32, least int64) []flameNode {
	s.children, s.found = s.children[:0], s.found[:0]
	s.spans = append(s.spans[:0], n.spans...)
	for len(s.spans) > 0 {
		s.after = s.after[:0]
		for _, sp := range s.spans {
			s.pass(n, index, sp)
		}
		s.spans, s.after = s.after, s.spans
	}
	for i := range s.children {
		if s.children[i].width < least {
			s.children[i].runs = 0
		}
	}
	s.storeSpans()
	s.children = slices.DeleteFunc(s.children, func(c flameNode) bool { return c.width < least })
	return s.children
}

// pass divides a span by its next location, unless some frames of that were taken, and passes its
// parts.
func (s *spanSplitter) pass(n *flameNode, index int32, sp span) {
	if sp.taken > 0 {
		s.passFrame(n, index, sp)
		return
	}
	if sp.Hi-sp.Lo == 1 {
		sp.location = s.order.Location(int(sp.Lo), sp.Depth)
		s.passFrame(n, index, sp)
		return
	}
	children, lo := s.order.Divide(sp.Node, s.sorted), sp.Lo
	for i, c := range children.List {
		s.passFrame(n, index, span{Node: children.Node(i, lo), location: c.Location})
		lo = c.Hi
	}
}

// passFrame moves a span past its next frame: to a child of n or, if the frame is hidden, back to
// the spans. location is −1 at the end of the stack. Spans that filters drop are left out.
func (s *spanSplitter) passFrame(n *flameNode, index int32, sp span) {
	width := s.width.of(sp.Lo, sp.Hi)
	if width == 0 {
		return
	}
	value := width
	if s.negative {
		value = s.value.of(sp.Lo, sp.Hi)
	}
	if sp.location < 0 {
		n.self += value
		n.ends += width
		return
	}
	start, end := s.frames.Start[sp.location], s.frames.Start[sp.location+1] // its frames, leaf first
	if start == end || n.parent < 0 && s.from != nil && s.from[sp.location] == 0 {
		// They are hidden, or they are callees of the frames that are kept.
		sp.Depth++
		s.after = append(s.after, sp)
		return
	}
	at := end - 1 - sp.taken
	if s.inverted {
		at = start + sp.taken
	}
	if sp.taken++; sp.taken == end-start {
		sp.taken = 0
		sp.Depth++
	}
	function := s.frames.List[at]
	if mark := index + 1; s.seen[function] != mark {
		s.seen[function], s.slot[function] = mark, int32(len(s.children))
		s.children = append(s.children, flameNode{parent: index, function: function, depth: n.depth + 1})
	}
	child := &s.children[s.slot[function]]
	child.runs++
	child.value += value
	child.width += width
	if at+1 < end {
		child.inline += width
	}
	s.found = append(s.found, foundSpan{sp, s.slot[function]})
}

// storeSpans stores the spans that were found in their children, except in those without runs,
// which are not kept.
func (s *spanSplitter) storeSpans() {
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
