package site

import (
	"path"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

// owners tells who owns a frame; *gocode.Index does.
type owners interface {
	Owner(function, file string) gocode.Owner
}

// stacks holds every distinct function, frame and stack of all profiles of a
// join once, with what was found out about it.
type stacks struct {
	code   owners
	traits map[function]*trait
	nodes  map[frameKey]*node
	places map[frameKey]*place
	known  map[uint64]*stack // by hash of the nodes, chained
	slab   []*Frame          // where the frames of new stacks are put
}

func newStacks(code owners) *stacks {
	return &stacks{
		code:   code,
		traits: map[function]*trait{},
		nodes:  map[frameKey]*node{},
		places: map[frameKey]*place{},
		known:  map[uint64]*stack{},
	}
}

type function struct{ name, file string }

type frameKey struct {
	function
	line    int
	inlined bool
}

// node is an interned frame.
type node struct {
	Frame
	*trait
	*place
	id    uint64
	probe bool
}

// place is a line in a function, inlined or not: what sites are keyed by.
type place struct{ draft *draft }

// stack is an interned stack with its verdict.
type stack struct {
	frames []*Frame
	hash   uint64
	next   *stack

	owner  int    // index of the blamed frame, -1 for none
	blamed *node  // nil for none
	entry  *node  // the main module's line that leads to it, nil for none
	bucket string // when nothing is to blame
	class  Class
	coarse bool // marking that cannot be told from idle marking
	row    *Row // of the profile that is being read
}

// expander turns the stacks of one profile into interned ones.
type expander struct {
	all       *stacks
	profile   *profile.Profile
	locations [][]*node // by index, filled when first seen
	ids       []int32   // scratch
	nodes     []*node   // scratch
}

// stack returns the interned stack of a sample.
func (e *expander) stack(sample int) *stack {
	e.ids = e.profile.Stack(sample, e.ids)
	e.nodes = e.nodes[:0]
	hash := uint64(14695981039346656037) // FNV-1a over frames
	for _, id := range e.ids {
		if e.locations[id] == nil {
			e.locations[id] = e.expand(&e.profile.Locations[id])
		}
		for _, n := range e.locations[id] {
			hash = (hash ^ n.id) * 1099511628211
			e.nodes = append(e.nodes, n)
		}
	}
	return e.all.intern(hash, e.nodes)
}

// expand returns the frames of a location, leaf first. All but the last line
// were inlined.
func (e *expander) expand(l *profile.Location) []*node {
	if len(l.Lines) == 0 {
		name := "[unknown]"
		if l.Mapping >= 0 && int(l.Mapping) < len(e.profile.Mappings) {
			if file := e.profile.Mappings[l.Mapping].File; file != "" {
				name = "[" + baseOf(file) + "]"
			}
		}
		return []*node{e.all.node(frameKey{function: function{name: name}})}
	}
	nodes := make([]*node, len(l.Lines))
	for i, line := range l.Lines {
		f := &e.profile.Functions[line.Func]
		nodes[i] = e.all.node(frameKey{function{f.Name, f.Filename}, int(line.Line), i < len(l.Lines)-1})
	}
	return nodes
}

// baseOf is the last element of a path as either system writes it.
func baseOf(file string) string {
	return path.Base(strings.ReplaceAll(file, `\`, "/"))
}

func (s *stacks) node(k frameKey) *node {
	if n := s.nodes[k]; n != nil {
		return n
	}
	t := s.traits[k.function]
	if t == nil {
		t = newTrait(k.function, s.code.Owner(k.name, k.file))
		s.traits[k.function] = t
	}
	where := k
	where.inlined = false
	p := s.places[where]
	if p == nil {
		p = &place{}
		s.places[where] = p
	}
	n := &node{
		Frame: Frame{Function: k.name, File: k.file, Line: k.line, Inlined: k.inlined, Owner: t.owner},
		trait: t,
		place: p,
		id:    uint64(len(s.nodes)) + 1,
		probe: baseOf(k.file) == target.ProbeFile,
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
