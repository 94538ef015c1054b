package profile

import (
	"github.com/hone-go/hone/profile/internal/columns"

	"encoding/binary"
	"fmt"
	"math"
)

// sampleDecoder turns samples into columns.
//
// Locations usually come after the samples that use them, with the ids 1 to n. So the stack column
// first holds id−1, which then already is the index; other ids are translated at the end. Ids of
// more than 31 bits (addresses used as ids) are numbered in order of appearance and stored as
// −1−number.
type sampleDecoder struct {
	stacks columns.Stacks
	values [][]int64
	maxID  uint64 // largest id below 2³¹
	bigIDs []uint64
	big    map[uint64]int32

	labelSet []int32 // per row, into rawSets
	rawSet   map[string]int32
	rawSets  []labelSpan
	raw      []rawLabel
	key      []byte // the label messages of the current sample
	row      []int64
}

// rawLabel is a label as stored in the file.
type rawLabel struct {
	key, str, unit int32
	num            int64
}

func (d *sampleDecoder) rows() int { return len(d.stacks.Spans) }

func (d *sampleDecoder) add(m *message) error {
	d.row, d.key = d.row[:0], d.key[:0]
	m.name = "body"
	var (
		f     field
		stack []int32 // the ids so far, in the reserved memory
	)
	for {
		ok, err := m.next(&f)
		if err != nil {
			return d.locate(err)
		}
		if !ok {
			break
		}
		switch f.num {
		case 1:
			stack, err = d.ids(&f, stack)
		case 2:
			err = d.sampleValues(&f)
		case 3:
			err = d.label(&f)
		}
		if err != nil {
			return d.locate(err)
		}
	}
	if d.values == nil && d.rows() == 0 {
		d.values = make([][]int64, len(d.row))
	}
	if len(d.row) != len(d.values) {
		return d.locate(syntaxErrorf(m.at, "value", "there are %d values, the previous samples have %d", len(d.row), len(d.values)))
	}
	for i, v := range d.row {
		d.values[i] = columns.AppendDoubling(d.values[i], v)
	}
	set, err := d.labels(m.at)
	if err != nil {
		return d.locate(err)
	}
	if set != 0 && d.labelSet == nil {
		d.labelSet = make([]int32, d.rows(), max(64, 2*d.rows()))
	}
	if d.labelSet != nil {
		d.labelSet = columns.AppendDoubling(d.labelSet, set)
	}
	d.stacks.Commit(len(stack))
	return nil
}

// locate adds the number of the sample to an error.
func (d *sampleDecoder) locate(err error) error {
	if s, ok := err.(*SyntaxError); ok {
		s.Field = fmt.Sprintf("sample %d: %s", d.rows(), s.Field)
	}
	return err
}

// ids decodes location ids and appends them to stack, which is in reserved memory.
func (d *sampleDecoder) ids(f *field, stack []int32) ([]int32, error) {
	if f.wire == wireVarint {
		room := d.room(stack, 1)
		id, err := d.id(f.val, f.at)
		room[len(stack)] = id
		return room[:len(stack)+1], err
	}
	if f.wire != wireBytes {
		return nil, syntaxErrorf(f.at, "location_id", "wire type %d", f.wire)
	}
	b := f.data
	most := len(b) // maximum number of ids in b
	if most > columns.PageLen {
		most = countVarints(b)
	}
	room := d.room(stack, most)
	n := len(stack)
	maxID := d.maxID
	for i := 0; i < len(b); n++ {
		var id uint64
		switch { // most ids have one to three bytes
		case b[i] < 0x80:
			id = uint64(b[i])
			i++
		case i+1 < len(b) && b[i+1] < 0x80:
			id = uint64(b[i]&0x7f) | uint64(b[i+1])<<7
			i += 2
		case i+2 < len(b) && b[i+2] < 0x80:
			id = uint64(b[i]&0x7f) | uint64(b[i+1]&0x7f)<<7 | uint64(b[i+2])<<14
			i += 3
		default:
			v, k := uvarint(b[i:])
			if k == 0 {
				return nil, syntaxErrorf(f.at, "location_id", "broken varint")
			}
			id = v
			i += k
		}
		if id-1 < math.MaxInt32 {
			maxID = max(maxID, id)
			room[n] = int32(id - 1)
			continue
		}
		x, err := d.id(id, f.at)
		if err != nil {
			return nil, err
		}
		room[n] = x
	}
	d.maxID = maxID
	return room[:n], nil
}

// room returns reserved memory that starts with stack and has space for n more ids.
func (d *sampleDecoder) room(stack []int32, n int) []int32 {
	if cap(stack)-len(stack) >= n && len(stack) > 0 {
		return stack[:len(stack)+n]
	}
	size := len(stack) + n
	if len(stack) > 0 {
		size += len(stack) // the ids come one by one: do not copy them each time
	}
	room := d.stacks.Reserve(size)
	copy(room, stack)
	return room
}

func (d *sampleDecoder) id(id uint64, at int64) (int32, error) {
	switch {
	case id == 0:
		return 0, syntaxErrorf(at, "location_id", "0 is not a location")
	case id <= math.MaxInt32:
		d.maxID = max(d.maxID, id)
		return int32(id - 1), nil
	}
	x, ok := d.big[id]
	if !ok {
		if d.big == nil {
			d.big = map[uint64]int32{}
		}
		x = int32(len(d.bigIDs))
		d.big[id] = x
		d.bigIDs = append(d.bigIDs, id)
	}
	return -1 - x, nil
}

func countVarints(b []byte) (n int) {
	for _, c := range b {
		if c < 0x80 {
			n++
		}
	}
	return n
}

func (d *sampleDecoder) sampleValues(f *field) error {
	switch f.wire {
	case wireVarint:
		d.row = append(d.row, int64(f.val))
		return nil
	case wireBytes:
		for b := f.data; len(b) > 0; {
			v, n := uvarint(b)
			if n == 0 {
				return syntaxErrorf(f.at, "value", "broken varint")
			}
			d.row = append(d.row, int64(v))
			b = b[n:]
		}
		return nil
	}
	return syntaxErrorf(f.at, "value", "wire type %d", f.wire)
}

// label collects a label message. Samples with the same messages share one number, so a message is
// decoded once and not once per sample.
func (d *sampleDecoder) label(f *field) error {
	if f.wire != wireBytes {
		return syntaxErrorf(f.at, "label", "wire type %d instead of a message", f.wire)
	}
	d.key = binary.AppendUvarint(d.key, uint64(len(f.data)))
	d.key = append(d.key, f.data...)
	return nil
}

// labels returns the number of the label messages collected.
func (d *sampleDecoder) labels(at int64) (int32, error) {
	if len(d.key) == 0 {
		return 0, nil
	}
	if set, ok := d.rawSet[string(d.key)]; ok {
		return set, nil
	}
	if d.rawSet == nil {
		d.rawSet = map[string]int32{}
		d.rawSets = []labelSpan{{}}
	}
	span := labelSpan{off: uint32(len(d.raw))}
	for rest := d.key; len(rest) > 0; {
		size, k := uvarint(rest)
		l, err := decodeLabel(message{b: rest[k : k+int(size)], at: at, name: "label"})
		if err != nil {
			return 0, err
		}
		rest = rest[k+int(size):]
		if l.str != 0 || l.num != 0 || l.unit != 0 {
			d.raw = columns.AppendDoubling(d.raw, l)
			span.n++
		}
	}
	set := int32(len(d.rawSets))
	d.rawSet[string(d.key)] = set
	d.rawSets = append(d.rawSets, span)
	return set, nil
}

func decodeLabel(m message) (l rawLabel, err error) {
	err = m.fields(4, func(f field) (err error) {
		switch f.num {
		case 1:
			l.key, err = stringRef(&f, m.name)
		case 2:
			l.str, err = stringRef(&f, m.name)
		case 3:
			l.num = int64(f.val)
		case 4:
			l.unit, err = stringRef(&f, m.name)
		}
		return err
	})
	return l, err
}
