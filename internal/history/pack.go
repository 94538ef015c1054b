package history

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// pack encodes values as the differences of their bit patterns: each is combined by exclusive-or
// with the one before, bit-reversed so that its trailing zeros come first, and written as a
// variable-length integer. Trailing zeros of round decimals then cost nothing, and a repeated value
// costs one byte (the idea of T. Pelkonen et al., "Gorilla", VLDB 2015, with bytes instead of
// bits).
func pack(values []float64) []byte {
	out := binary.AppendUvarint(nil, uint64(len(values)))
	before := uint64(0)
	for _, v := range values {
		b := math.Float64bits(v)
		out = binary.AppendUvarint(out, bits.Reverse64(b^before))
		before = b
	}
	return out
}

// mostValues limits the values of one sample, to survive a corrupt database.
const mostValues = 1 << 20

var errPacked = errors.New("packed samples are broken")

// unpack decodes what pack wrote.
func unpack(b []byte) ([]float64, error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > mostValues || n > uint64(len(b)) {
		return nil, errPacked
	}
	b = b[k:]
	values := make([]float64, n)
	before := uint64(0)
	for i := range values {
		x, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, errPacked
		}
		b = b[k:]
		before ^= bits.Reverse64(x)
		values[i] = math.Float64frombits(before)
	}
	if len(b) > 0 {
		return nil, errPacked
	}
	return values, nil
}
