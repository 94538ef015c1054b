package stats

import (
	"math"
	"slices"
)

// Step is a place in a series where its level changes.
type Step struct {
	At            int     // index of the first value of the new level
	Before, After float64 // medians of the two levels
	P             float64 // p-value of "both levels are equal", by Student's test of the logarithms
	// Provisional is set if the new level has under three values; later ones may remove the step.
	Provisional bool
}

// LeastStep is the number of values on both sides that makes a step final.
const LeastStep = 3

// stepLevel is the largest p-value of a step. The values that test a step also chose its place,
// which makes p too small: at this level, one in a hundred series of 100 values without a step
// shows one (a test simulates this).
const stepLevel = 0.001

// Steps finds where the level of a series of positive values changes by at least the share least
// (0.01 is 1 %). A single value far from its neighbours is not a step. If some values are not
// positive and finite, changes are differences rather than ratios, relative to the largest value.
//
// The segments minimise the sum of squares around their means plus a penalty for each (the optimal
// partition of B. Jackson et al., "An algorithm for optimal partitioning of data on an interval",
// IEEE Signal Processing Letters 12, 2005), on logarithms that are clipped near a running median
// and scaled by the median difference of neighbours. Then the least significant boundary is
// removed, as in the second pass of A. Hunter's method (M. Fleming et al., "Hunter: using change
// point detection to hunt for performance regressions", ICPE 2023), until all are significant: the
// first pass takes noise that lasts for a few values for steps.
func Steps(values []float64, least float64) []Step {
	y := logs(values)
	if y == nil {
		return nil
	}
	scale := neighbourScale(y)
	bounds := partition(clipped(y, scale), max(scale, 1e-9))
	for len(bounds) > 2 {
		worst, worstP := 0, -1.0
		for i := 1; i+1 < len(bounds); i++ {
			before, after := y[bounds[i-1]:bounds[i]], y[bounds[i]:bounds[i+1]]
			p := levelP(before, after, scale)
			if math.Abs(math.Expm1(Median(after)-Median(before))) < least {
				p = 1
			}
			if p > worstP {
				worst, worstP = i, p
			}
		}
		if worstP < stepLevel {
			break
		}
		bounds = slices.Delete(bounds, worst, worst+1)
	}
	var steps []Step
	for i := 1; i+1 < len(bounds); i++ {
		at, end := bounds[i], bounds[i+1]
		steps = append(steps, Step{
			At: at, Before: Median(values[bounds[i-1]:at]), After: Median(values[at:end]),
			P: levelP(y[bounds[i-1]:at], y[at:end], scale), Provisional: i+2 == len(bounds) && end-at < LeastStep,
		})
	}
	return steps
}

// logs returns the logarithms of values, or a linear scale if some have none.
func logs(values []float64) []float64 {
	if len(values) < 2 || !allFinite(values) {
		return nil
	}
	y := make([]float64, len(values))
	if slices.Min(values) > 0 {
		for i, v := range values {
			y[i] = math.Log(v)
		}
		return y
	}
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range values {
		if largest > 0 {
			y[i] = v / largest
		}
	}
	return y
}

// neighbourScale estimates the standard deviation of a series around its level by the median
// difference of neighbours, which a few steps do not change.
func neighbourScale(y []float64) float64 {
	d := make([]float64, 0, len(y)-1)
	for i := range len(y) - 1 {
		d = append(d, math.Abs(y[i+1]-y[i]))
	}
	return Median(d) / (0.6745 * math.Sqrt2)
}

// clipped pulls values to within three deviations of the median of the five around them. A level of
// three values or more keeps its place.
func clipped(y []float64, scale float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		m := Median(y[max(0, i-2):min(len(y), i+3)])
		if i >= len(y)-2 { // at the end, a new level has no values after it yet
			m = v
		}
		out[i] = min(max(v, m-3*scale), m+3*scale)
	}
	return out
}

// partition returns the boundaries of the segments of least cost, 0 and len(y) included.
func partition(y []float64, scale float64) []int {
	n := len(y)
	sum, square := make([]float64, n+1), make([]float64, n+1)
	for i, v := range y {
		sum[i+1], square[i+1] = sum[i]+v, square[i]+v*v
	}
	penalty := 4 * math.Log(float64(n)) * scale * scale
	cost, from := make([]float64, n+1), make([]int, n+1)
	for end := 1; end <= n; end++ {
		cost[end] = math.Inf(1)
		for start := range end {
			s := sum[end] - sum[start]
			c := cost[start] + penalty + max(0, square[end]-square[start]-s*s/float64(end-start))
			if c < cost[end] {
				cost[end], from[end] = c, start
			}
		}
	}
	bounds := []int{n}
	for at := n; at > 0; at = from[at] {
		bounds = append(bounds, from[at])
	}
	slices.Reverse(bounds)
	return bounds
}

// nearby is the number of values tested on each side of a boundary; older ones may have drifted.
const nearby = 30

// levelP is Student's test, with one variance for both sides, so that a side may have a single
// value. The variance is at least that of neighbours in the whole series.
func levelP(before, after []float64, scale float64) float64 {
	before, after = before[max(0, len(before)-nearby):], after[:min(len(after), nearby)]
	n, m := float64(len(before)), float64(len(after))
	if n+m < 4 {
		return 1
	}
	var squares [2]float64
	var means [2]float64
	for i, side := range [][]float64{before, after} {
		for _, v := range side {
			means[i] += v / float64(len(side))
		}
		for _, v := range side {
			squares[i] += (v - means[i]) * (v - means[i])
		}
	}
	variance := max((squares[0]+squares[1])/(n+m-2), scale*scale)
	d := means[1] - means[0]
	if variance == 0 {
		if d == 0 {
			return 1
		}
		return 0
	}
	return tTails(d/math.Sqrt(variance*(1/n+1/m)), n+m-2)
}
