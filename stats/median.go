package stats

import (
	"math"
	"slices"
)

// Median is the middle of some values, of an even number the mean of the two in the middle. Of none it is NaN.
func Median(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	return x[(n-1)/2] + (x[n/2]-x[(n-1)/2])/2
}
