package exectrace

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestUvarint(t *testing.T) {
	check := func(v uint64) {
		t.Helper()
		d := append(binary.AppendUvarint([]byte{0xff}, v), make([]byte, pad)...)
		got, next := uvarint(d, 1)
		if want := 1 + len(binary.AppendUvarint(nil, v)); got != v || next != want {
			t.Errorf("uvarint(%#x) = %#x, ends at %d; want %d", v, got, next, want)
		}
	}
	for shift := range 64 {
		check(1 << shift)
		check(1<<shift - 1)
	}
	check(math.MaxUint64)
	rapid.Check(t, func(t *rapid.T) { check(rapid.Uint64().Draw(t, "v")) })
}

func TestUvarintEnds(t *testing.T) {
	d := make([]byte, 20)
	for i := range d {
		d[i] = 0xff
	}
	if _, next := uvarint(d, 3); next != 13 {
		t.Errorf("a number without end: ends at %d, want 13", next)
	}
}
