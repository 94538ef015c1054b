package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"

	"fmt"
	"slices"
)

// FlameOptions says what Flame lays out.
type FlameOptions struct {
	SampleIndex int
	Filter      profile.Filter
	Selection   *profile.Selection  // what filters of p keep, instead of Filter; nil for none
	Granularity profile.Granularity // what a box is: a function, file or line
	Columns     bool                // lines are distinguished by column
	Inverted    bool                // leaves at the root: the boxes below a box are its callers
	Cache       *Cache              // what earlier reports of the same profile computed; nil for none

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
// kept: a node is some ranges of sorted samples, and only the ranges of the widest nodes are
// divided by their next frame.
func Flame(p *profile.Profile, o FlameOptions) (*FlameGraph, error) {
	if err := frames.CheckIndex(p, o.SampleIndex); err != nil {
		return nil, fmt.Errorf("flame graph: %w", err)
	}
	cache := o.Cache.of(p)
	cache.mu.Lock()
	defer cache.mu.Unlock()
	return newSource(p, cache, o).layOut(o), nil
}

// FlamePair returns the flame graph from the roots (callees) and the inverted one (callers), for
// less than twice the work of one. It ignores FlameOptions.Inverted.
func FlamePair(p *profile.Profile, o FlameOptions) (callees, callers *FlameGraph, err error) {
	if err := frames.CheckIndex(p, o.SampleIndex); err != nil {
		return nil, nil, fmt.Errorf("flame graph: %w", err)
	}
	cache := o.Cache.of(p)
	cache.mu.Lock()
	defer cache.mu.Unlock()
	s := newSource(p, cache, o)
	o.Inverted = false
	callees = s.layOut(o)
	o.Inverted = true
	return callees, s.layOut(o), nil
}

func (s *source) layOut(o FlameOptions) *FlameGraph {
	f := &FlameGraph{SampleType: s.sampleType, Total: s.total}
	if s.settle(); s.readsStacks(o.Inverted) {
		f.place(s.layOutStacks(o))
	} else {
		s.finish()
		split := newSpanSplitter(s, o.Inverted)
		f.place(grow(split, o))
		split.order.Trim()
		if s.cache.small {
			delete(s.cache.orders, o.Inverted)
		}
	}
	f.name(s.frames, s.sums)
	return f
}

// layOutStacks lays out without the order of all stacks.
func (s *source) layOutStacks(o FlameOptions) []flameNode {
	if !s.few && s.manyRows {
		if w := newWalker(s, o.Inverted, o); w != nil {
			return grow(w, o)
		}
	}
	return grow(newRowSplitter(s, o.Inverted), o)
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
