package covdata

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// errShort is the error of an input that is shorter than it claims.
var errShort = errors.New("truncated")

// reader reads values from the start of an input. After the first error all values are zero.
type reader struct {
	data []byte
	at   int
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %w", r.at, fmt.Errorf(format, args...))
	}
}

// bytes reads n bytes; the slice shares the input's memory.
func (r *reader) bytes(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.data)-r.at) {
		r.fail("%w", errShort)
		return nil
	}
	b := r.data[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// uleb reads a number in ULEB128.
func (r *reader) uleb() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 {
		r.fail("an unterminated number")
		return 0
	}
	r.at += n
	return v
}

// count reads a number of entries, each of which takes at least size bytes of the input, so that a
// wrong number is an error and not an allocation.
func (r *reader) count(size int) int {
	return r.fits(r.uleb(), size)
}

func (r *reader) fits(n uint64, size int) int {
	if r.err == nil && n > uint64((len(r.data)-r.at)/size) {
		r.fail("%d entries do not fit in the %d bytes that are left", n, len(r.data)-r.at)
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

// strings reads a table of strings.
func (r *reader) strings() []string {
	table := make([]string, 0, r.count(1))
	for range cap(table) {
		table = append(table, string(r.bytes(r.uleb())))
	}
	return table
}

// pick returns a string of a table by index.
func (r *reader) pick(table []string, i uint64) string {
	if i >= uint64(len(table)) {
		r.fail("string %d of a table of %d", i, len(table))
		return ""
	}
	return table[i]
}
