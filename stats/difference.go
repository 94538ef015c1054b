package stats

import "math"

// Tally is a count over an exposure: a sum of weighted Poisson events and the sampling variance of
// that sum (Σ weight² × events). The exposure is what the sum is divided by, such as seconds or
// requests. It is taken as exactly known.
type Tally struct {
	Value, Variance float64
	Exposure        float64
}

// events returns the Poisson count with the same mean and variance, and the weight of one event. ok
// is false for a variance without a value, or a value without a variance.
func (t Tally) events() (n, weight float64, ok bool) {
	switch {
	case !finite(t.Value) || !finite(t.Variance) || !finite(t.Exposure):
		return 0, 0, false
	case t.Value < 0 || t.Variance < 0 || t.Exposure <= 0:
		return 0, 0, false
	case t.Value == 0:
		return 0, 0, t.Variance == 0
	}
	return t.Value * (t.Value / t.Variance), t.Variance / t.Value, true
}

// Difference is the difference new − old of two rates, per unit of exposure.
type Difference struct {
	Interval         // bounds of the difference, which may be negative
	P        float64 // two-sided p-value of "no difference"
	// LeastP is the smallest p-value that this number of events can give. A test whose level is
	// below LeastP cannot reject, however the events are split.
	LeastP float64
}

// manyTrials is the number of trials above which the normal approximation replaces binomial tails.
const manyTrials = 1e6

// RateDifference compares two rates, Value ÷ Exposure.
//
// The p-value is twice the smaller tail of the exact conditional test: given the total number of
// events, the number on one side is binomial (J. Przyborowski and H. Wilenski, "Homogeneity of
// results in testing samples from Poisson series", Biometrika 31, 1940). Weighted sums enter as the
// count with their mean and variance, so it is exact for equal weights. The test is conservative
// for small counts. LeastP identifies tests that can never reject. Because the test is conditional
// on the total, leaving those out of a family does not bias it (R. E. Tarone, "A modified
// Bonferroni method for discrete data", Biometrics 46, 1990).
//
// The interval is that of the two rates' [Sum] intervals (Zou and Donner, see [Add]). A side
// without events is bounded by the other side's weight. Invalid tallies (negative, infinite,
// without exposure) give an unbounded interval and p = 1.
func RateDifference(old, new Tally) Difference {
	n, v, okOld := old.events()
	m, w, okNew := new.events()
	if !okOld || !okNew {
		return Difference{Interval{math.NaN(), math.Inf(-1), math.Inf(1)}, 1, 1}
	}
	if n == 0 {
		v = w
	}
	if m == 0 {
		w = v
	}
	before, after := old.Value/old.Exposure, new.Value/new.Exposure
	if v == 0 || w == 0 { // nothing on either side, or a side known exactly
		return exactSide(old, new)
	}
	d := Difference{Interval: Minus(
		Sum(Count{m, w}).Scale(1/new.Exposure),
		Sum(Count{n, v}).Scale(1/old.Exposure))}
	share := 1 / (1 + (old.Exposure/v)/(new.Exposure/w)) // of events on the new side, were the rates equal
	all := n + m
	d.LeastP = math.Min(1, 2*math.Pow(math.Min(share, 1-share), all))
	if all > manyTrials {
		d.P = math.Erfc(math.Abs(after-before) / math.Sqrt(2*(old.rateVariance()+new.rateVariance())))
		return d
	}
	d.P = math.Min(1, 2*math.Min(atLeast(m, all, share), atLeast(n, all, 1-share)))
	return d
}

func (t Tally) rateVariance() float64 { return t.Variance / t.Exposure / t.Exposure }

// exactSide compares two tallies by the normal approximation: at least one has no variance.
func exactSide(old, new Tally) Difference {
	d := new.Value/new.Exposure - old.Value/old.Exposure
	s := math.Sqrt(old.rateVariance() + new.rateVariance())
	out := Difference{Interval{d, d - z95*s, d + z95*s}, 1, 1}
	if d != 0 {
		out.P, out.LeastP = math.Erfc(math.Abs(d)/s/math.Sqrt2), 0
	}
	return out
}

// atLeast returns the probability of k or more successes in n trials of probability p, extended to
// fractional k and n.
func atLeast(k, n, p float64) float64 {
	if k <= 0 {
		return 1
	}
	return betaI(k, n-k+1, p)
}

// Minus returns the interval of a − b for independent quantities, by [Add]'s method.
func Minus(a, b Interval) Interval {
	if math.IsNaN(a.Value) || math.IsNaN(b.Value) {
		return Interval{math.NaN(), math.Inf(-1), math.Inf(1)}
	}
	return Add(a, Interval{-b.Value, -b.High, -b.Low})
}

// Mean returns the mean of a sample with Student's interval. Fewer than two values, or a NaN or
// infinity, give an unbounded interval, and without any value there is no mean.
func Mean(xs []float64) Interval {
	if len(xs) == 0 || !allFinite(xs) {
		return Interval{math.NaN(), math.Inf(-1), math.Inf(1)}
	}
	if len(xs) < 2 {
		return Interval{xs[0], math.Inf(-1), math.Inf(1)}
	}
	mean, variance := meanAndVariance(xs) // the variance of the mean
	half := tQuantile975(float64(len(xs)-1)) * math.Sqrt(variance)
	return Interval{mean, mean - half, mean + half}
}

// manyDegrees is the number of degrees of freedom above which the normal replaces Student's t.
const manyDegrees = 1e5

// PartlyKnownDifference returns the interval and the p-value of a difference of means. The variance
// of the difference is the sum of a known part and a part estimated with df degrees of freedom. The
// sum has the degrees of freedom of Welch and Satterthwaite (F. E. Satterthwaite, "An approximate
// distribution of estimates of variance components", Biometrics Bulletin 2, 1946), so a well-known
// part does not widen the interval. Negative or NaN variances, or an estimate without df, give an
// unbounded interval and p = 1.
func PartlyKnownDifference(value, known, estimated, df float64) (difference Interval, p float64) {
	variance := known + estimated
	if !finite(value) || !finite(variance) || known < 0 || estimated < 0 || estimated > 0 && !(df > 0) {
		return Interval{math.NaN(), math.Inf(-1), math.Inf(1)}, 1
	}
	if variance == 0 {
		if value == 0 {
			return Interval{}, 1
		}
		return Interval{value, value, value}, 0
	}
	s, quantile := math.Sqrt(variance), z95
	if all := df * (variance / estimated) * (variance / estimated); estimated == 0 || all > manyDegrees {
		p = math.Erfc(math.Abs(value) / s / math.Sqrt2)
	} else {
		quantile, p = tQuantile975(all), tTails(value/s, all)
	}
	return Interval{value, value - quantile*s, value + quantile*s}, p
}
