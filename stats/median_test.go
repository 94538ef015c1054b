package stats

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 2}, 2},
		{[]float64{4, 1, 2, 100}, 3},
		{nil, math.NaN()},
	} {
		if got := Median(c.x); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("of %v: %v, want %v", c.x, got, c.want)
		}
	}
	if x := []float64{3, 1, 2}; Median(x) != 2 || x[0] != 3 {
		t.Errorf("the values are in another order: %v", x)
	}
}
