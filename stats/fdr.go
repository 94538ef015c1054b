package stats

import (
	"math"
	"slices"
)

// FalseDiscovery adjusts the p-values of a family of tests (Y. Benjamini and Y. Hochberg,
// "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995): if
// every test with an adjusted value of at most q is rejected, the expected share of false
// rejections is at most q. If no null hypothesis is false, the probability of any rejection is at
// most q. This holds for independent tests and for positively dependent ones.
//
// The result is in the order of p: never less than p, never more than 1, and
// ordered as p is. A NaN counts as 1; p itself is not changed.
func FalseDiscovery(p []float64) []float64 {
	order := make([]int, len(p))
	adjusted := make([]float64, len(p))
	for i, x := range p {
		order[i], adjusted[i] = i, math.Min(1, math.Max(0, x))
		if math.IsNaN(x) {
			adjusted[i] = 1
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case adjusted[a] < adjusted[b]:
			return 1
		case adjusted[a] > adjusted[b]:
			return -1
		}
		return 0
	})
	least, m := 1.0, float64(len(p))
	for i, at := range order { // the largest first: its rank is m
		least = math.Min(least, math.Max(adjusted[at], adjusted[at]*(m/(m-float64(i)))))
		adjusted[at] = least
	}
	return adjusted
}
