package bench

import (
	"testing"

	"github.com/hone-go/hone/profile/pairing"
)

// TestVarianceOfShares: a function with nearly all samples has nearly all of a known total; one with half of them does not.
func TestVarianceOfShares(t *testing.T) {
	total := pairing.Cost{Value: 1000, Variance: 10_000}
	for _, tt := range []struct {
		value  int64
		shared bool
		want   float64
	}{{1000, true, 0}, {1000, false, 10_000}, {500, true, 2500}, {500, false, 5000}, {0, true, 0}} {
		c := pairing.Cost{Value: tt.value, Variance: float64(tt.value) * 10}
		if got := variance(c, total, tt.shared); got != tt.want {
			t.Errorf("%d of 1000, shared %v: %v, want %v", tt.value, tt.shared, got, tt.want)
		}
	}
}
