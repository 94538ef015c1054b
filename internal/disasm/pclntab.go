package disasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
)

// pclntab is the runtime's table of functions, of the form since Go 1.20 (runtime/symtab.go,
// type pcHeader). All of it is offsets, each checked when it is followed.
type pclntab struct {
	order     binary.ByteOrder
	quantum   uint64 // smallest instruction, in bytes
	textStart uint64

	names, units, files, values []byte // funcnametab, cutab, filetab, pctab
	funcs                       []byte // pclntable: the index, then the records
	count                       int
}

// Size and fields of a function's record (runtime/runtime2.go, type _func), in bytes.
const (
	recordSize      = 44
	recordName      = 4
	recordFile      = 20
	recordLine      = 24
	recordPCData    = 28 // how many
	recordUnit      = 32
	recordFuncData  = 43 // how many
	pcdataInline    = 2  // internal/abi: PCDATA_InlTreeIndex
	funcdataInline  = 3  // internal/abi: FUNCDATA_InlTree
	noFuncData      = ^uint32(0)
	indexEntry      = 8 // entry and record, as offsets
	maxFunctions    = 1 << 24
	maxSourceLength = 4096
)

func parsePclntab(data []byte, textStart uint64) (*pclntab, error) {
	if len(data) < 8 {
		return nil, errors.New("it is truncated")
	}
	const magic = 0xfffffff1 // since Go 1.20
	t := &pclntab{textStart: textStart, quantum: uint64(data[6])}
	switch {
	case binary.LittleEndian.Uint32(data) == magic:
		t.order = binary.LittleEndian
	case binary.BigEndian.Uint32(data) == magic:
		t.order = binary.BigEndian
	default:
		return nil, fmt.Errorf("its format %#x is unknown; hone reads those of Go 1.20 and newer", data[:4])
	}
	size := int(data[7])
	if size != 4 && size != 8 || len(data) < 8+8*size {
		return nil, errors.New("its header is damaged")
	}
	word := func(n int) uint64 {
		if size == 4 {
			return uint64(t.order.Uint32(data[8+4*n:]))
		}
		return t.order.Uint64(data[8+8*n:])
	}
	for i, part := range []*[]byte{&t.names, &t.units, &t.files, &t.values, &t.funcs} {
		at := word(3 + i)
		if at > uint64(len(data)) {
			return nil, errors.New("its header is damaged: a part is beyond its end")
		}
		*part = data[at:]
	}
	n := word(0)
	if n > maxFunctions || n*indexEntry+4 > uint64(len(t.funcs)) {
		return nil, fmt.Errorf("it is truncated: %d functions do not fit", n)
	}
	t.count = int(n)
	return t, nil
}

// at reads a 32-bit number; false behind the end.
func (t *pclntab) at(b []byte, i uint64) (uint32, bool) {
	if i+4 > uint64(len(b)) || i+4 < i {
		return 0, false
	}
	return t.order.Uint32(b[i:]), true
}

// text reads the string at i.
func text(b []byte, i uint32) string {
	if uint64(i) >= uint64(len(b)) {
		return ""
	}
	b = b[i:]
	n := bytes.IndexByte(b[:min(len(b), maxSourceLength)], 0)
	if n < 0 {
		return ""
	}
	return string(b[:n])
}

func (t *pclntab) entry(i int) uint64 {
	return t.textStart + uint64(t.order.Uint32(t.funcs[i*indexEntry:]))
}

// record returns the record of function number i; nil when it is not whole.
func (t *pclntab) record(i int) []byte {
	at := uint64(t.order.Uint32(t.funcs[i*indexEntry+4:]))
	if at+recordSize > uint64(len(t.funcs)) {
		return nil
	}
	return t.funcs[at:]
}

// functions lists all functions by address.
func (t *pclntab) functions() []Func {
	out := make([]Func, 0, t.count)
	for i := range t.count {
		r := t.record(i)
		if r == nil {
			continue
		}
		f := Func{text(t.names, t.order.Uint32(r[recordName:])), t.entry(i), t.entry(i + 1)}
		if f.Name != "" && f.End > f.Entry && (len(out) == 0 || f.Entry >= out[len(out)-1].End) {
			out = append(out, f)
		}
	}
	return out
}

// find returns the record and the entry of the function at an address, nil when there is none.
func (t *pclntab) find(addr uint64) (record []byte, entry uint64) {
	i := sort.Search(t.count, func(i int) bool { return t.entry(i) > addr }) - 1
	if i < 0 || addr >= t.entry(i+1) {
		return nil, 0
	}
	return t.record(i), t.entry(i)
}

// step is a stretch of code with one value: up to end, an offset from the function's entry.
type step struct {
	end   uint64
	value int32
}

// steps decodes a table of values by address: pairs of a value's difference (zigzag) and a
// length, until a difference of zero (runtime/symtab.go, step).
func (t *pclntab) steps(at uint32) []step {
	if at == 0 || uint64(at) >= uint64(len(t.values)) {
		return nil
	}
	b := t.values[at:]
	var out []step
	var pc uint64
	value := int32(-1)
	for {
		diff, n := binary.Uvarint(b)
		if n <= 0 || diff == 0 && pc > 0 || diff > 1<<32 {
			return out
		}
		b = b[n:]
		length, n := binary.Uvarint(b)
		if n <= 0 || length == 0 || length > maxCode {
			return out
		}
		b = b[n:]
		value += int32(uint32(diff)>>1) ^ -int32(diff&1)
		pc += length * t.quantum
		if pc > maxCode {
			return out
		}
		out = append(out, step{pc, value})
	}
}

// valueAt looks up an offset from the entry; −1 if there is no value.
func valueAt(steps []step, offset uint64) int32 {
	i := sort.Search(len(steps), func(i int) bool { return steps[i].end > offset })
	if i == len(steps) {
		return -1
	}
	return steps[i].value
}
