package exectrace

import (
	"fmt"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// stringTable is the table of strings of one generation. The bytes stay where they were read.
type stringTable struct {
	limit  uint64
	dense  []stringRef
	sparse map[uint64]stringRef
}

// stringRef is where a string is, and what it is known to be.
type stringRef struct {
	at    uint32
	size  uint16
	there bool
	word  reasonWord // once it was used as a reason; 0 before
	name  uint32     // once it named a function or file: 1 + its place among the names of stacks
	label uint32     // once it was a label: its place among labels
}

func (s *stringTable) emptied() stringTable { return stringTable{dense: s.dense[:0]} }

// reserve makes room for the strings of a table of so many bytes, an eighth as many: room that is not used costs
// nothing, growing costs five times what is.
func (s *stringTable) reserve(bytes int) {
	if n := min(bytes/8, 1<<16); cap(s.dense) < n {
		s.dense = make([]stringRef, 0, n)
	}
}

func (s *stringTable) read(d *decoder) error {
	if err := d.want(wire.String); err != nil {
		return err
	}
	id, size := d.uvarint(), d.uvarint()
	if size > wire.MaxString {
		return fmt.Errorf("string %d has %d bytes; the most is %d", id, size, wire.MaxString)
	}
	if s.get(id) != nil {
		return fmt.Errorf("string %d is there twice", id)
	}
	ref := stringRef{at: d.base + uint32(d.i), size: uint16(size), there: true}
	if d.i += int(size); d.i > d.end {
		return fmt.Errorf("string %d is cut off", id)
	}
	if id >= s.limit {
		if s.sparse == nil {
			s.sparse = map[uint64]stringRef{}
		}
		s.sparse[id] = ref
		return nil
	}
	for uint64(len(s.dense)) <= id {
		s.dense = append(s.dense, stringRef{})
	}
	s.dense[id] = ref
	return nil
}

// noString is what id 0 stands for: no string.
var noString = stringRef{there: true}

// get returns the string id, or nil when the generation has no such string. What is written
// to a string of a strange id is forgotten.
func (s *stringTable) get(id uint64) *stringRef {
	if id < uint64(len(s.dense)) {
		if r := &s.dense[id]; r.there {
			return r
		}
	} else if r, ok := s.sparse[id]; ok {
		return &r
	}
	if id == 0 {
		r := noString
		return &r
	}
	return nil
}

// bytes returns what r stands for.
func (g *generation) bytes(r *stringRef) []byte {
	if r.size == 0 {
		return nil
	}
	return g.memory.bytes(r.at, int(r.size))
}
