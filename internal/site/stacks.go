package site

import (
	"math"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile"
)

// owners returns who owns a frame; *gocode.Index implements it.
type owners interface {
	Owner(function, file string) gocode.Owner
}

// stacks interns every distinct function, frame and stack of all profiles of a join, with the
// verdict on it.
type stacks struct {
	code      owners
	functions map[function]*trait
	nodes     map[nodeKey]*node
	places    map[nodeKey]*place
	known     map[uint64]*stack // by hash of the nodes, chained
	slab      []*Frame          // where the frames of new stacks are put
}

func newStacks(code owners) *stacks {
	return &stacks{
		code:      code,
		functions: map[function]*trait{},
		nodes:     map[nodeKey]*node{},
		places:    map[nodeKey]*place{},
		known:     map[uint64]*stack{},
	}
}

type function struct{ name, file string }

// nodeKey is a function's number, a line and whether the call is inlined, packed
// so that the map of them is fast.
type nodeKey uint64

func newNodeKey(t *trait, line int, inlined bool) nodeKey {
	k := nodeKey(t.id)<<32 | nodeKey(uint32(line)<<1)
	if inlined {
		k |= 1
	}
	return k
}

// node is an interned frame.
type node struct {
	Frame
	*trait
	*place
	number uint64 // from 1
}

// place is a line in a function, inlined or not: what sites are keyed by.
type place struct{ draft *draft }

// stack is an interned stack with its verdict.
type stack struct {
	frames []*Frame
	hash   uint64
	next   *stack

	owner  int    // index of the charged frame, -1 for none
	blamed *node  // nil for none
	entry  *node  // the main module's line that calls it, nil for none
	bucket string // when no frame is charged
	class  Class
	coarse bool // marking that may or may not be idle marking
	yields bool // the sweeper yields, see sweepYields
	row    *Row // of the profile that is being read
}

// expander turns the stacks of one profile into interned ones.
type expander struct {
	all       *stacks
	profile   *profile.Profile
	functions []*trait // by the profile's index, filled when first seen
	locations []span   // by the profile's index, filled when first seen
	lines     []*node  // what locations point into
	nodes     []*node  // scratch
}

// span is a part of expander.lines. No location is empty, so an empty span is one not seen yet.
type span struct{ from, to uint32 }

func newExpander(all *stacks, p *profile.Profile) *expander {
	return &expander{
		all:       all,
		profile:   p,
		functions: make([]*trait, len(p.Functions)),
		locations: make([]span, len(p.Locations)),
	}
}

// stack returns the interned stack of a sample.
func (e *expander) stack(sample int) *stack {
	e.nodes = e.nodes[:0]
	hash := uint64(14695981039346656037) // FNV-1a over frames
	for _, id := range e.profile.Stack(sample) {
		at := e.locations[id]
		if at.to == 0 {
			at = e.expand(&e.profile.Locations[id])
			e.locations[id] = at
		}
		for _, n := range e.lines[at.from:at.to] {
			hash = (hash ^ n.number) * 1099511628211
			e.nodes = append(e.nodes, n)
		}
	}
	return e.all.intern(hash, e.nodes)
}

// expand returns the frames of a location, leaf first. All but the last line
// were inlined.
func (e *expander) expand(l *profile.Location) span {
	from := len(e.lines)
	for i, line := range l.Lines {
		t := e.functions[line.Func]
		if t == nil {
			f := &e.profile.Functions[line.Func]
			t = e.all.trait(function{f.Name, f.Filename})
			e.functions[line.Func] = t
		}
		number := int(min(max(line.Line, 0), math.MaxInt32))
		e.lines = append(e.lines, e.all.node(t, number, i < len(l.Lines)-1))
	}
	if len(l.Lines) == 0 {
		e.lines = append(e.lines, e.all.node(e.all.trait(function{name: e.mapped(l)}), 0, false))
	}
	return span{uint32(from), uint32(len(e.lines))}
}

// mapped names an address without a symbol by the file that is mapped there.
func (e *expander) mapped(l *profile.Location) string {
	if l.Mapping >= 0 && int(l.Mapping) < len(e.profile.Mappings) {
		if file := e.profile.Mappings[l.Mapping].File; file != "" {
			return "[" + baseOf(file) + "]"
		}
	}
	return "[unknown]"
}

// baseOf returns the last element of a path of either system.
func baseOf(file string) string {
	return file[strings.LastIndexAny(file, `/\`)+1:]
}

// trait returns what is known about a function; it asks the code index once.
func (s *stacks) trait(f function) *trait {
	t := s.functions[f]
	if t == nil {
		t = newTrait(f, s.code.Owner(f.name, f.file))
		t.id = uint32(len(s.functions))
		s.functions[f] = t
	}
	return t
}

func (s *stacks) node(t *trait, line int, inlined bool) *node {
	k := newNodeKey(t, line, inlined)
	if n := s.nodes[k]; n != nil {
		return n
	}
	where := newNodeKey(t, line, false)
	p := s.places[where]
	if p == nil {
		p = &place{}
		s.places[where] = p
	}
	n := &node{
		Frame:  Frame{Function: t.name, File: t.file, Line: line, Inlined: inlined, Owner: t.owner},
		trait:  t,
		place:  p,
		number: uint64(len(s.nodes)) + 1,
	}
	s.nodes[k] = n
	return n
}

func (s *stacks) intern(hash uint64, nodes []*node) *stack {
	first := s.known[hash]
	for t := first; t != nil; t = t.next {
		if same(t.frames, nodes) {
			return t
		}
	}
	t := &stack{hash: hash, next: first, frames: s.keep(nodes)}
	t.judge(nodes)
	s.known[hash] = t
	return t
}

func same(frames []*Frame, nodes []*node) bool {
	if len(frames) != len(nodes) {
		return false
	}
	for i, f := range frames {
		if f != &nodes[i].Frame {
			return false
		}
	}
	return true
}

// keep copies a stack into the slab.
func (s *stacks) keep(nodes []*node) []*Frame {
	const chunk = 1 << 15
	if cap(s.slab)-len(s.slab) < len(nodes) {
		s.slab = make([]*Frame, 0, max(chunk, len(nodes)))
	}
	from := len(s.slab)
	for _, n := range nodes {
		s.slab = append(s.slab, &n.Frame)
	}
	return s.slab[from:len(s.slab):len(s.slab)]
}
