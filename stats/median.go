package stats

import (
	"math"
	"slices"
)

// Median returns the median of x: the mean of the middle two if len(x) is even, NaN if it is 0.
func Median(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return x[(n-1)/2] + (x[n/2]-x[(n-1)/2])/2
}
