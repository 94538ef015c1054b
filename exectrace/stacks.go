package exectrace

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// stackMap maps the stack ids of one generation to the stacks of the trace.
type stackMap struct {
	limit  uint64
	dense  []StackID
	sparse map[uint64]StackID
}

// noSuchStack marks ids without a stack. A stack without frames is stack 0.
const noSuchStack = ^StackID(0)

func (m *stackMap) emptied() stackMap { return stackMap{dense: append(m.dense[:0], 0)} }

// get returns the stack with an id, or noSuchStack.
func (m *stackMap) get(id uint64) StackID {
	if id < uint64(len(m.dense)) {
		return m.dense[id]
	}
	if s, ok := m.sparse[id]; ok {
		return s
	}
	return noSuchStack
}

func (m *stackMap) set(id uint64, s StackID) {
	if id >= m.limit {
		if m.sparse == nil {
			m.sparse = map[uint64]StackID{}
		}
		m.sparse[id] = s
		return
	}
	for uint64(len(m.dense)) <= id {
		m.dense = append(m.dense, noSuchStack)
	}
	m.dense[id] = s
}

func (m *stackMap) read(d *decoder, g *generation, all *internTable) error {
	if err := d.want(wire.Stack); err != nil {
		return err
	}
	id, n := d.uvarint(), d.uvarint()
	if n > wire.MaxFrames {
		return fmt.Errorf("stack %d has %d frames; the limit is %d", id, n, wire.MaxFrames)
	}
	if id != 0 && m.get(id) != noSuchStack {
		return fmt.Errorf("stack %d is defined twice", id)
	}
	all.begin()
	for range n {
		pc, fn, file, line := d.uvarint(), d.uvarint(), d.uvarint(), d.uvarint()
		fnName, ok := all.name(g, fn)
		if !ok {
			return fmt.Errorf("stack %d: no string %d for a function", id, fn)
		}
		fileName, ok := all.name(g, file)
		if !ok {
			return fmt.Errorf("stack %d: no string %d for a file", id, file)
		}
		all.frame(frame{pc: pc, fn: fnName, file: fileName, line: uint32(min(line, 1<<31))})
	}
	if d.i > d.end {
		return fmt.Errorf("stack %d is truncated", id)
	}
	s, err := all.stack()
	if err != nil {
		return err
	}
	if id != 0 {
		m.set(id, s)
	}
	return nil
}

// stacks holds the stacks of the whole trace. They are only added to: a copy may be read while more
// are added.
type stacks struct {
	names  []string
	frames []frame
	refs   []uint32 // the frames of all stacks, concatenated
	spans  []span   // by StackID
}

// frame is a frame with its names as indices in names.
type frame struct {
	pc       uint64
	fn, file uint32
	line     uint32
}

type span struct{ from, to uint32 }

// internTable deduplicates names, frames and stacks.
type internTable struct {
	stacks
	nameIDs  map[string]uint32
	frameIDs map[frame]uint32
	// index maps the hash of a stack's frames to the stack: open addressing, at most half full.
	index    []StackID
	now      []frame // of the stack being read
	hash     uint64
	seed     uint64 // random: no trace can be made whose stacks all have the same hash
	nameSize int
}

// Limits on what is kept of all stacks, against malicious traces: 256 MiB of references to frames,
// and of names.
const (
	maxFrameRefs = 64 << 20
	maxNameBytes = 256 << 20
)

func newInternTable() *internTable {
	return &internTable{
		stacks:   stacks{names: []string{""}, spans: make([]span, 1)},
		nameIDs:  map[string]uint32{"": 0},
		frameIDs: map[frame]uint32{},
		index:    make([]StackID, 1<<10),
		seed:     rand.Uint64(),
	}
}

// name returns the index in names of a string of the generation.
func (t *internTable) name(g *generation, id uint64) (uint32, bool) {
	r := g.strings.get(id)
	if r == nil {
		return 0, false
	}
	if r.name != 0 {
		return r.name - 1, true
	}
	b := g.bytes(r)
	n, ok := t.nameIDs[string(b)]
	if !ok {
		n = uint32(len(t.names))
		s := string(b)
		t.names = append(t.names, s)
		t.nameIDs[s] = n
		t.nameSize += len(s)
	}
	r.name = n + 1
	return n, true
}

func (t *internTable) begin() {
	t.now = t.now[:0]
	t.hash = t.seed
}

// frame adds a frame to the current stack, leaf first.
func (t *internTable) frame(f frame) {
	t.now = append(t.now, f)
	h := t.hash
	for _, v := range [...]uint64{f.pc, uint64(f.fn)<<32 | uint64(f.file), uint64(f.line)} {
		h = (h ^ v) * 0xd6e8feb86659fd93
		h ^= h >> 32
	}
	t.hash = h
}

// stack returns the ID of the stack whose frames were added since begin.
func (t *internTable) stack() (StackID, error) {
	if len(t.now) == 0 {
		return 0, nil
	}
	mask := uint64(len(t.index) - 1)
	i := t.hash & mask
	for ; t.index[i] != 0; i = (i + 1) & mask {
		if s := t.index[i]; t.equal(s) {
			return s, nil
		}
	}
	if len(t.refs)+len(t.now) > maxFrameRefs || t.nameSize > maxNameBytes {
		return 0, errors.New("too many different stacks")
	}
	s := StackID(len(t.spans))
	t.index[i] = s
	from := uint32(len(t.refs))
	for _, f := range t.now {
		id, ok := t.frameIDs[f]
		if !ok {
			id = uint32(len(t.frames))
			t.frames = append(t.frames, f)
			t.frameIDs[f] = id
		}
		t.refs = append(t.refs, id)
	}
	t.spans = append(t.spans, span{from, uint32(len(t.refs))})
	if 2*len(t.spans) > len(t.index) {
		t.rehash()
	}
	return s, nil
}

func (t *internTable) equal(s StackID) bool {
	sp := t.spans[s]
	if int(sp.to-sp.from) != len(t.now) {
		return false
	}
	for i, ref := range t.refs[sp.from:sp.to] {
		if t.frames[ref] != t.now[i] {
			return false
		}
	}
	return true
}

func (t *internTable) rehash() {
	t.index = make([]StackID, 2*len(t.index))
	mask := uint64(len(t.index) - 1)
	for s := 1; s < len(t.spans); s++ {
		t.begin()
		for _, ref := range t.refs[t.spans[s].from:t.spans[s].to] {
			t.frame(t.frames[ref])
		}
		i := t.hash & mask
		for t.index[i] != 0 {
			i = (i + 1) & mask
		}
		t.index[i] = StackID(s)
	}
}
