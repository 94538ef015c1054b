package profile

import "encoding/binary"

// Wire types of the protobuf encoding
// (https://protobuf.dev/programming-guides/encoding/).
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// uvarint decodes a varint at the start of b and returns its length in bytes; 0 means that it is
// truncated or longer than ten bytes. Bits beyond the 64th are dropped, as protobuf decoders do.
func uvarint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return longUvarint(b)
}

func longUvarint(b []byte) (uint64, int) {
	var v uint64
	for i := 0; i < len(b) && i < 10; i++ {
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// field is one field of a message.
type field struct {
	num  int
	wire int
	val  uint64 // of a varint
	data []byte // of a length-delimited field
	at   int64  // offset of the field in the decompressed profile
}

// message iterates over the fields of a message in memory.
type message struct {
	b    []byte
	at   int64 // offset of b[0]
	name string
}

// next reads the next field into f; ok is false at the end of the message.
func (m *message) next(f *field) (ok bool, err error) {
	if len(m.b) == 0 {
		return false, nil
	}
	tag, n := uvarint(m.b)
	num := fieldNumber(tag)
	if n == 0 || num == 0 {
		return false, syntaxErrorf(m.at, m.name, "broken field tag")
	}
	f.at, f.num, f.wire = m.at, num, int(tag&7)
	rest := m.b[n:]
	switch f.wire {
	case wireVarint:
		f.val, n = uvarint(rest)
		if n == 0 {
			return false, syntaxErrorf(f.at, m.name, "broken varint in field %d", num)
		}
	case wireFixed64:
		n = 8
	case wireFixed32:
		n = 4
	case wireBytes:
		size, k := uvarint(rest)
		if k == 0 || size > uint64(len(rest)-k) {
			return false, syntaxErrorf(f.at, m.name, "field %d reaches beyond its message", num)
		}
		f.data = rest[k : k+int(size)]
		n = k + int(size)
	default:
		return false, syntaxErrorf(f.at, m.name, "field %d has wire type %d, which profiles do not use", num, f.wire)
	}
	if n > len(rest) {
		return false, syntaxErrorf(f.at, m.name, "field %d reaches beyond its message", num)
	}
	m.at += int64(len(m.b) - len(rest) + n)
	m.b = rest[n:]
	return true, nil
}

// fieldNumber returns the field number of a tag, or 0 if protobuf does not allow it.
func fieldNumber(tag uint64) int {
	if tag>>3 > 1<<29-1 {
		return 0
	}
	return int(tag >> 3)
}

// dataAt returns the offset of the first byte of a length-delimited field's data. m has just
// returned f, so m.at is after that data.
func (m *message) dataAt(f *field) int64 { return m.at - int64(len(f.data)) }

// fields calls set for each varint field of a message of scalars. Fields of other wire types are an
// error if their number is at most known; otherwise they are skipped.
func (m *message) fields(known int, set func(f field) error) error {
	var f field
	for {
		ok, err := m.next(&f)
		if err != nil || !ok {
			return err
		}
		if f.num > known {
			continue
		}
		if f.wire != wireVarint {
			return syntaxErrorf(f.at, m.name, "field %d has wire type %d instead of a varint", f.num, f.wire)
		}
		if err := set(f); err != nil {
			return err
		}
	}
}

// appendVarintField appends a varint field; zero is the default and left out.
func appendVarintField(b []byte, num int, v uint64) []byte {
	if v == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(num)<<3|wireVarint)
	return binary.AppendUvarint(b, v)
}

func appendBoolField(b []byte, num int, v bool) []byte {
	if !v {
		return b
	}
	return appendVarintField(b, num, 1)
}

func appendBytesField(b []byte, num int, data []byte) []byte {
	b = binary.AppendUvarint(b, uint64(num)<<3|wireBytes)
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}
