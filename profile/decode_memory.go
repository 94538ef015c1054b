package profile

import (
	"fmt"
	"unsafe"
)

// The tables of a real profile take up to five times the bytes that they are decoded from: a
// location of 22 bytes has a row of 64 and a line of 24. Compressed, those bytes are three to ten
// times fewer. Input that exceeds the first of these limits and one of the others is rejected: a
// location of two bytes has the same row.
const (
	tablesBytes       = 64 << 20
	tablesRatio       = 8
	tablesPackedRatio = 150
)

// checkTables rejects input whose tables are too large for its size. It checks the allocated size,
// so it costs nothing per record.
func (d *decoder) checkTables() error {
	read, tables := d.in.offset(), d.tables()
	packed := read
	if d.in.zip != "" {
		packed = d.in.in.n
	}
	if tables <= tablesBytes || tables/tablesRatio <= read && tables/tablesPackedRatio <= packed {
		return nil
	}
	return fmt.Errorf("%w: the first %d bytes hold so many tiny records that their tables take %d, %d times as much; no real profile does",
		ErrTooLarge, read, tables, tables/read)
}

// tables returns the size of the decoder's tables in bytes, including those that resolve creates.
func (d *decoder) tables() int64 {
	s := &d.samples
	n := room(d.strs) + room(d.functions) + int64(len(d.functions))*size[Function]() +
		room(d.mappings) + int64(len(d.mappings))*size[Mapping]() +
		room(d.locations) + room(d.p.Locations) + room(d.lineFuncs) + int64(len(d.lineFuncs))*size[Line]() +
		room(d.types) + room(d.comments) +
		room(s.stacks.Spans) + room(s.labelSet) + room(s.rawSets) + room(s.raw) + room(s.bigIDs)
	for _, v := range s.values {
		n += room(v)
	}
	// An entry of a map: key and value, twice because of its load factor, and the key's text.
	return n + int64(len(s.big))*32 + int64(len(s.rawSet))*96
}

func room[T any](s []T) int64 { return int64(cap(s)) * size[T]() }

func size[T any]() int64 {
	var v T
	return int64(unsafe.Sizeof(v))
}
