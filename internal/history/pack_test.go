package history

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Float64()).Draw(t, "values")
		got, err := unpack(pack(values))
		if err != nil || len(got) != len(values) {
			t.Fatalf("%v, %v", got, err)
		}
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(values[i]) {
				t.Fatalf("%d: %v, want %v", i, got[i], values[i])
			}
		}
	})
	if n := len(pack([]float64{12.5, 12.5, 12.5})); n > 6 {
		t.Errorf("three equal values take %d bytes", n)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(pack([]float64{1, 2.5, -3}))
	f.Add([]byte{255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		values, err := unpack(b)
		if err == nil && !bytes.Equal(pack(values), b) {
			again, err := unpack(pack(values)) // a number can be written with more bytes than it needs
			if err != nil || len(again) != len(values) {
				t.Errorf("%v", err)
			}
		}
	})
}
