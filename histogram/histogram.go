package histogram

import (
	"iter"
	"math"
	"math/bits"
)

const (
	subBits    = 7            // 128 buckets to a power of two
	subBuckets = 1 << subBits // width of a bucket ≤ its lower edge / 128
	// Values of up to subBits+1 bits have a bucket of their own; each of the
	// other 63-(subBits+1) bit lengths has subBuckets.
	buckets = 2*subBuckets + (63-subBits-1)*subBuckets
)

// Histogram counts values (nanoseconds by convention) in log-linear buckets. It always takes 57
// KiB. The zero value is an empty histogram. A Histogram is not safe for concurrent use: keep one
// per worker and Merge them.
type Histogram struct {
	counts   [buckets]uint64
	n        int64
	sumHi    uint64 // the sum in 128 bits: 64 could overflow
	sumLo    uint64
	min, max int64
}

// New returns an empty histogram.
func New() *Histogram { return new(Histogram) }

// bucket returns the index of the bucket that holds v ≥ 0.
func bucket(v int64) int {
	u := uint64(v)
	shift := bits.Len64(u|(2*subBuckets-1)) - (subBits + 1)
	return shift<<subBits + int(u>>shift)
}

// bounds returns the lowest and the highest value of bucket i.
func bounds(i int) (low, high int64) {
	if i < 2*subBuckets {
		return int64(i), int64(i)
	}
	shift := i>>subBits - 1
	low = int64(i-shift<<subBits) << shift
	return low, low + (1<<shift - 1)
}

// middle returns the value that represents bucket i.
func middle(i int) int64 {
	low, high := bounds(i)
	return low + (high-low)/2
}

// Record counts one value. A negative value counts as zero.
func (h *Histogram) Record(v int64) {
	v = max(v, 0)
	h.counts[bucket(v)]++
	if h.n == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.n++
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, uint64(v), 0)
	h.sumHi += carry
}

// RecordAll counts values as Record does, in half the time per value.
func (h *Histogram) RecordAll(values []int64) {
	if len(values) == 0 {
		return
	}
	least, most := h.min, h.max
	if h.n == 0 {
		least = math.MaxInt64
	}
	hi, lo := uint64(0), uint64(0)
	for _, v := range values {
		v = max(v, 0)
		h.counts[bucket(v)]++
		least, most = min(least, v), max(most, v)
		var carry uint64
		lo, carry = bits.Add64(lo, uint64(v), 0)
		hi += carry
	}
	h.min, h.max = least, most
	h.n += int64(len(values))
	h.addSum(hi, lo)
}

// RecordN counts the value v n times. It does nothing if n is not positive.
func (h *Histogram) RecordN(v, n int64) {
	if n <= 0 {
		return
	}
	v = max(v, 0)
	h.counts[bucket(v)] += uint64(n)
	if h.n == 0 || v < h.min {
		h.min = v
	}
	h.max = max(h.max, v)
	h.n += n
	hi, lo := bits.Mul64(uint64(v), uint64(n))
	h.addSum(hi, lo)
}

func (h *Histogram) addSum(hi, lo uint64) {
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, lo, 0)
	h.sumHi, _ = bits.Add64(h.sumHi, hi, carry)
}

// Merge adds all of o to h. A nil o adds nothing.
func (h *Histogram) Merge(o *Histogram) {
	if o == nil || o.n == 0 {
		return
	}
	for i := bucket(o.min); i <= bucket(o.max); i++ {
		h.counts[i] += o.counts[i]
	}
	if h.n == 0 || o.min < h.min {
		h.min = o.min
	}
	h.max = max(h.max, o.max)
	h.n += o.n
	h.addSum(o.sumHi, o.sumLo)
}

// Reset empties h. It clears only the buckets between the minimum and the maximum, so frequent
// resets are cheap.
func (h *Histogram) Reset() {
	if h.n != 0 {
		clear(h.counts[bucket(h.min) : bucket(h.max)+1])
	}
	h.n, h.sumHi, h.sumLo, h.min, h.max = 0, 0, 0, 0, 0
}

// Count returns how many values were recorded.
func (h *Histogram) Count() int64 { return h.n }

// Min returns the lowest value recorded, exactly; zero when h is empty.
func (h *Histogram) Min() int64 { return h.min }

// Max returns the highest value recorded, exactly; zero when h is empty.
func (h *Histogram) Max() int64 { return h.max }

// Mean returns the mean of the values recorded, not of their buckets; zero
// when h is empty.
func (h *Histogram) Mean() float64 {
	if h.n == 0 {
		return 0
	}
	return (float64(h.sumHi)*(1<<64) + float64(h.sumLo)) / float64(h.n)
}

// Quantile returns the q-quantile, for q from 0 to 1: of n values in order, the one at rank
// ceil(q·n), to within half the width of its bucket (0.4 %). The first and the last rank are exact:
// Quantile(1) is Max. It returns zero when h is empty.
func (h *Histogram) Quantile(q float64) int64 {
	if h.n == 0 {
		return 0
	}
	// The subtrahend keeps a product like 0.07·100 = 7.000000000000001 at 7.
	place := int64(math.Ceil(q*float64(h.n) - 1e-9))
	switch {
	case !(q > 0) || place <= 1:
		return h.min
	case place >= h.n:
		return h.max
	}
	seen := int64(0)
	for i := bucket(h.min); i < bucket(h.max); i++ {
		seen += int64(h.counts[i])
		if seen >= place {
			return max(h.min, middle(i))
		}
	}
	return max(h.min, min(h.max, middle(bucket(h.max))))
}

// Bucket is the number of values from Low to High, inclusive.
type Bucket struct{ Low, High, Count int64 }

// Buckets returns an iterator over the nonempty buckets, lowest first.
func (h *Histogram) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		if h.n == 0 {
			return
		}
		for i := bucket(h.min); i <= bucket(h.max); i++ {
			if h.counts[i] == 0 {
				continue
			}
			low, high := bounds(i)
			if !yield(Bucket{low, high, int64(h.counts[i])}) {
				return
			}
		}
	}
}
