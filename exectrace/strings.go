package exectrace

import (
	"fmt"

	"github.com/hone-go/hone/exectrace/internal/wire"
)

// stringTable is the table of strings of one generation. It refers to the bytes where they were
// read.
type stringTable struct {
	limit  uint64
	dense  []stringRef
	sparse map[uint64]stringRef
}

// stringRef is the position of a string, and the roles in which it was used.
type stringRef struct {
	at    uint32
	size  uint16
	there bool
	word  reasonWord // set when it was used as a reason; else 0
	name  uint32     // set when it named a function or file: 1 + its index among the names of stacks
	label uint32     // set when it was a label: its index among labels
}

func (s *stringTable) emptied() stringTable { return stringTable{dense: s.dense[:0]} }

// reserve allocates memory for the strings of a table of that many bytes, and an eighth as many
// entries. Unused memory costs nothing; growing the table would cost five times as much as it
// takes.
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
		return fmt.Errorf("string %d has %d bytes; the limit is %d", id, size, wire.MaxString)
	}
	if s.get(id) != nil {
		return fmt.Errorf("string %d is defined twice", id)
	}
	ref := stringRef{at: d.base + uint32(d.i), size: uint16(size), there: true}
	if d.i += int(size); d.i > d.end {
		return fmt.Errorf("string %d is truncated", id)
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

// noString is the string with id 0: no string.
var noString = stringRef{there: true}

// get returns the string with an id, or nil when the generation has no such string. What is written
// to a string with an invalid id is lost.
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

// bytes returns the bytes of a string.
func (g *generation) bytes(r *stringRef) []byte {
	if r.size == 0 {
		return nil
	}
	return g.memory.bytes(r.at, int(r.size))
}
