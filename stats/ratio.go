package stats

import (
	"math"
	"slices"
)

// MedianRatio compares two independent samples without an assumption about their distribution. The
// ratio new/old is the median of the ratios of all pairs, which is Hodges and Lehmann's estimate of
// a shift, taken on logarithms; its interval contains every ratio that a Mann-Whitney test does not
// reject (J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests", Annals of
// Mathematical Statistics 34, 1963; M. Hollander and D. A. Wolfe, "Nonparametric Statistical
// Methods", 2nd ed., sections 4.1 to 4.3).
//
// p is the two-sided p-value of the Mann-Whitney test: exact, ties included, up to 60 values in
// all, and the normal approximation with tie and continuity corrections above.
//
// Fewer than four values against four cannot reject anything at 5 %: the interval is then [0,
// +Inf). A ratio 0/0 counts as 1. Samples that are empty or hold a NaN or an infinity give
// [Unknown] and p = 1; negative values have a p but no ratio.
func MedianRatio(old, new []float64) (ratio Interval, p float64) {
	if len(old) == 0 || len(new) == 0 || !allFinite(old) || !allFinite(new) {
		return Unknown(), 1
	}
	x, y := slices.Sorted(slices.Values(old)), slices.Sorted(slices.Values(new))
	p = mannWhitney(x, y)
	if x[0] < 0 || y[0] < 0 {
		return Unknown(), p
	}
	pairs := len(x) * len(y)
	ratio = Interval{medianPair(x, y), 0, math.Inf(1)}
	if k := rejectedPairs(len(x), len(y)); k >= 1 {
		ratio.Low = pairRatio(x, y, k)
		ratio.High = pairRatio(x, y, pairs+1-k)
	}
	return ratio, p
}

func allFinite(xs []float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return !finite(x) })
}

// medianPair returns the median of the ratios of all pairs; for an even number, the geometric mean
// of the two in the middle.
func medianPair(x, y []float64) float64 {
	pairs := len(x) * len(y)
	a := pairRatio(x, y, (pairs+1)/2)
	if pairs%2 == 1 {
		return a
	}
	b := pairRatio(x, y, pairs/2+1)
	if a == b {
		return a
	}
	return math.Sqrt(a) * math.Sqrt(b)
}

// pairRatio returns the k-th smallest (from 1) of the ratios y[j]/x[i] for
// sorted samples without negative values. It bisects over the bit patterns of
// floating-point numbers, whose order is that of the numbers, so the answer is
// exact and needs no table of all pairs.
func pairRatio(x, y []float64, k int) float64 {
	low, high := uint64(0), math.Float64bits(math.Inf(1))
	for low < high {
		mid := low + (high-low)/2
		if pairsUpTo(x, y, math.Float64frombits(mid)) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return math.Float64frombits(low)
}

// pairsUpTo counts the pairs with y[j]/x[i] ≤ limit. As x grows the ratios decrease, so the count
// for each x is at least that for the previous one.
func pairsUpTo(x, y []float64, limit float64) (n int) {
	j := 0
	for _, v := range x {
		for j < len(y) && quotient(y[j], v) <= limit {
			j++
		}
		n += j
	}
	return n
}

func quotient(a, b float64) float64 {
	if a == 0 && b == 0 {
		return 1
	}
	return a / b
}

// MeanRatio compares the means of two independent samples. The p-value is that of Welch's t test
// (B. L. Welch, "The generalization of 'Student's' problem when several different population
// variances are involved", Biometrika 34, 1947) and the interval is Fieller's for a ratio of means
// with the same degrees of freedom (E. C. Fieller, "Some problems in interval estimation", Journal
// of the Royal Statistical Society B 16, 1954): it contains 1 exactly when p > 0.05. The means are
// assumed to be approximately normal, as for several one-second windows of a steady load.
//
// Quantities are taken as not negative, so the lower bound is at least 0. Fewer than two values in
// a sample, or a NaN or infinity, give [Unknown] and p = 1; if the old mean does not differ from 0,
// the ratio has no upper bound; if it is not positive, the ratio has no bounds. Samples without
// variance give an interval of zero width, and p = 1 or 0.
func MeanRatio(old, new []float64) (ratio Interval, p float64) {
	if len(old) < 2 || len(new) < 2 || !allFinite(old) || !allFinite(new) {
		return Unknown(), 1
	}
	x, a := meanAndVariance(old)
	y, b := meanAndVariance(new)
	ratio = Unknown()
	if x != 0 {
		ratio.Value = y / x
	}
	if a+b == 0 {
		p = 1
		if x != y {
			p = 0
		}
		if x > 0 {
			ratio.Low, ratio.High = ratio.Value, ratio.Value
		}
		return ratio, p
	}
	df := (a + b) * (a + b) / (a*a/float64(len(old)-1) + b*b/float64(len(new)-1))
	p = tTails((y-x)/math.Sqrt(a+b), df)
	// The roots of (y - θx)² = t²(b + θ²a) in θ.
	t2 := tQuantile975(df)
	t2 *= t2
	lead := x*x - t2*a
	rest := y*y - t2*b
	root := math.Sqrt(math.Max(0, x*x*y*y-lead*rest))
	if x <= 0 || y < 0 {
		return ratio, p
	}
	if rest > 0 {
		ratio.Low = rest / (x*y + root)
	}
	if lead > 0 {
		ratio.High = (x*y + root) / lead
	}
	return ratio, p
}

// PairedRatio returns the geometric mean of new ÷ old for paired samples: the n-th values of both
// were measured at the same time or one after the other, so that both see the same state of the
// machine. The ratio is taken as lognormal; the interval is Student's for the logarithms. Samples
// of different lengths, fewer than two pairs, or a value that is not positive and finite, give
// [Unknown].
func PairedRatio(old, new []float64) Interval {
	if len(old) != len(new) || len(old) < 2 {
		return Unknown()
	}
	logs := make([]float64, len(old))
	for i := range old {
		if !(old[i] > 0) || !(new[i] > 0) {
			return Unknown()
		}
		logs[i] = math.Log(new[i] / old[i])
	}
	mean := Mean(logs)
	if !mean.Known() {
		return Unknown()
	}
	return Interval{math.Exp(mean.Value), math.Exp(mean.Low), math.Exp(mean.High)}
}

// meanAndVariance returns the mean of xs and the variance of that mean.
func meanAndVariance(xs []float64) (mean, variance float64) {
	n := float64(len(xs))
	for _, x := range xs {
		mean += x / n
	}
	for _, x := range xs {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / (n - 1) / n
}
