package exectrace

import (
	"encoding/binary"
	"math/bits"
)

// pad is how many zero bytes stand behind each batch in memory, so that an event
// can be decoded without asking for its end at every byte: a type, a time and the most
// arguments, ten bytes each, and the eight bytes that are read at once.
const pad = 72

// uvarint decodes the LEB128 number at d[i] and returns the place after it. A number of more
// than ten bytes ends after ten.
func uvarint(d []byte, i int) (uint64, int) {
	if b := d[i]; b < 0x80 {
		return uint64(b), i + 1
	}
	return uvarintLong(d, i)
}

// uvarintLong takes eight bytes at once: a loop over bytes would be mispredicted at
// the end of nearly every number.
func uvarintLong(d []byte, i int) (uint64, int) {
	x := binary.LittleEndian.Uint64(d[i:])
	last := ^x & 0x8080808080808080 // the first byte without its high bit ends the number
	if last == 0 {
		return uvarintHuge(d, i)
	}
	n := bits.TrailingZeros64(last) // 8*bytes - 1
	x &= uint64(2)<<n - 1
	x = x&0x007f007f007f007f | x>>1&0x3f803f803f803f80
	x = x&0x00003fff00003fff | x>>2&0x0fffc0000fffc000
	x = x&0x000000000fffffff | x>>4&0x00fffffff0000000
	return x, i + (n+1)>>3
}

func uvarintHuge(d []byte, i int) (v uint64, next int) {
	for k := range 10 {
		b := d[i+k]
		v |= uint64(b&0x7f) << (7 * k)
		if b < 0x80 {
			return v, i + k + 1
		}
	}
	return v, i + 10
}
