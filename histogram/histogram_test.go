package histogram_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/histogram"
)

// values draws latencies of every size, from zero to the end of the range.
func values() *rapid.Generator[[]int64] {
	return rapid.SliceOfN(rapid.OneOf(
		rapid.Int64Range(0, 600),
		rapid.Int64Range(0, 1e6),
		rapid.Int64Range(0, 1e11),
		rapid.Int64Range(0, math.MaxInt64),
	), 1, 400)
}

func record(vs []int64) *histogram.Histogram {
	h := histogram.New()
	for _, v := range vs {
		h.Record(v)
	}
	return h
}

func TestQuantilesAgreeWithSortedSamples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := values().Draw(t, "values")
		h := record(vs)
		slices.Sort(vs)
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		for _, q := range []float64{q, 0, 0.5, 0.9, 0.99, 0.999, 1} {
			place := max(1, int(math.Ceil(q*float64(len(vs))-1e-9)))
			want := vs[place-1]
			got := h.Quantile(q)
			if diff := math.Abs(float64(got) - float64(want)); diff > float64(want)/255 {
				t.Fatalf("quantile %v: got %d, sorted samples say %d (off by %.3f %%)",
					q, got, want, 100*diff/float64(want))
			}
		}
		if h.Quantile(1) != vs[len(vs)-1] || h.Max() != vs[len(vs)-1] {
			t.Fatalf("max %d and quantile(1) %d, want exactly %d", h.Max(), h.Quantile(1), vs[len(vs)-1])
		}
		if h.Min() != vs[0] || h.Quantile(0) != vs[0] {
			t.Fatalf("min %d and quantile(0) %d, want exactly %d", h.Min(), h.Quantile(0), vs[0])
		}
		sum := 0.0
		for _, v := range vs {
			sum += float64(v)
		}
		if mean := sum / float64(len(vs)); math.Abs(h.Mean()-mean) > mean*1e-9 {
			t.Fatalf("mean %v, want %v", h.Mean(), mean)
		}
	})
}

func TestMergeEqualsRecordingEverythingInOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := values().Draw(t, "a"), values().Draw(t, "b")
		got := record(a)
		got.Merge(record(b))
		if d := cmp.Diff(record(append(a, b...)), got, cmp.AllowUnexported(histogram.Histogram{})); d != "" {
			t.Fatalf("merge differs (-want +got):\n%s", d)
		}
	})
}

func TestResetLeavesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := record(values().Draw(t, "values"))
		h.Reset()
		if *h != (histogram.Histogram{}) {
			t.Fatalf("reset left %d counts or their traces", h.Count())
		}
	})
}

func TestRecordNEqualsRecordNTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v")
		n := rapid.Int64Range(-2, 40).Draw(t, "n")
		once, many := histogram.New(), histogram.New()
		once.RecordN(v, n)
		for range n {
			many.Record(v)
		}
		if *once != *many {
			t.Fatalf("RecordN(%d, %d) differs from %d calls of Record", v, n, n)
		}
	})
}

func TestRecordAllEqualsRecordOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, then := values().Draw(t, "first"), rapid.SliceOf(rapid.Int64()).Draw(t, "then")
		each, all := record(append(slices.Clip(first), then...)), histogram.New()
		all.RecordAll(first)
		all.RecordAll(then)
		if *each != *all {
			t.Fatalf("RecordAll of %d and %d values differs from Record of each", len(first), len(then))
		}
	})
}

func TestBucketsCoverTheRangeWithoutGaps(t *testing.T) {
	h := histogram.New()
	for shift := range 63 {
		for _, d := range []int64{-1, 0, 1} {
			h.Record(int64(1)<<shift + d)
		}
	}
	h.Record(math.MaxInt64)
	last := int64(-1)
	var total int64
	for b := range h.Buckets() {
		if b.Low <= last || b.High < b.Low {
			t.Fatalf("bucket %d…%d after one that ended at %d", b.Low, b.High, last)
		}
		if width := float64(b.High - b.Low); width > float64(b.Low)/128 {
			t.Fatalf("bucket %d…%d is wider than 1/128 of its value", b.Low, b.High)
		}
		last = b.High
		total += b.Count
	}
	if last != math.MaxInt64 || total != h.Count() {
		t.Fatalf("buckets end at %d with %d counts, want %d with %d", last, total, int64(math.MaxInt64), h.Count())
	}
}

func TestEmptyHistogramIsAllZero(t *testing.T) {
	h := histogram.New()
	if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.Quantile(0.5) != 0 || h.Summary() != nil {
		t.Fatalf("an empty histogram reports %v", h.Summary())
	}
	h.Merge(nil)
	h.Merge(histogram.New())
	h.Record(-5)
	if h.Count() != 1 || h.Max() != 0 {
		t.Fatalf("a negative value counts as %d × %d, want once as zero", h.Count(), h.Max())
	}
	if got := h.Quantile(math.NaN()); got != 0 {
		t.Fatalf("quantile(NaN) = %d, want the minimum", got)
	}
}

func TestSumPassesTheEndOfInt64(t *testing.T) {
	h := histogram.New()
	h.RecordN(math.MaxInt64, 1000)
	h.Record(math.MaxInt64)
	if got := h.Mean(); math.Abs(got-math.MaxInt64) > 1e6 {
		t.Fatalf("mean %v, want %v", got, float64(math.MaxInt64))
	}
}

func TestSummaryIsInSeconds(t *testing.T) {
	h := histogram.New()
	h.RecordN(1e6, 98)
	h.RecordN(2e9, 2)
	got := h.Summary()
	want := &histogram.Summary{Count: 100, Min: 0.001, Mean: (98*0.001 + 2*2) / 100, P50: 0.001, P90: 0.001, P99: 2, P999: 2, Max: 2}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= math.Abs(a)/200 })
	if d := cmp.Diff(want, got, near); d != "" {
		t.Fatalf("summary (-want +got):\n%s", d)
	}
}

// latencies are 1024 log-normal values around a millisecond.
func latencies() []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	vs := make([]int64, 1024)
	for i := range vs {
		vs[i] = int64(math.Exp(r.NormFloat64()) * 1e6)
	}
	return vs
}

func BenchmarkRecord(b *testing.B) {
	vs := latencies()
	h := histogram.New()
	i := 0
	for b.Loop() {
		h.Record(vs[i&1023])
		i++
	}
}

func BenchmarkMerge(b *testing.B) {
	h, o := histogram.New(), record([]int64{1e3, 1e6, 1e9})
	for b.Loop() {
		h.Merge(o)
	}
}

func BenchmarkQuantile(b *testing.B) {
	h := record([]int64{1e3, 1e5, 1e6, 1e7, 1e9})
	for b.Loop() {
		h.Quantile(0.99)
	}
}
