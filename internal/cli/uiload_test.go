package cli

import (
	"testing"

	"github.com/hone-go/hone/histogram"
)

// TestLatencyBins: every request is in exactly one bin, the one of its latency.
func TestLatencyBins(t *testing.T) {
	h := histogram.New()
	h.RecordN(90_000, 3)         // 90 µs
	h.RecordN(250_000, 5)        // 250 µs
	h.RecordN(40_000_000_000, 1) // 40 s
	bins := binned(h)
	var counts []int64
	for _, b := range bins {
		counts = append(counts, b.Count)
	}
	if len(bins) != 3 || counts[0] != 3 || counts[1] != 5 || counts[2] != 1 {
		t.Fatalf("%+v", bins)
	}
	for i, seconds := range []float64{90e-6, 250e-6, 40} {
		if bins[i].Low > seconds || bins[i].High <= seconds {
			t.Errorf("%v s is in the bin from %v to %v", seconds, bins[i].Low, bins[i].High)
		}
	}
}
