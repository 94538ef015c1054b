package stats

import "math"

// Count is a number of events of Weight units each, such as profile samples of 10 ms.
type Count struct {
	N      float64 // events; may be fractional if the count is itself an estimate
	Weight float64 // units per event, not negative
}

// Sum returns the interval of Σ weight × mean for independent Poisson counts, whose variance is Σ
// weight² × n. The bounds are those of the total count, stretched to that variance, so that small
// counts keep the skew of the exact interval and equal weights give the interval of [Poisson] (A.
// J. Dobson, K. Kuulasmaa, E. Eberle, J. Scherer, "Confidence intervals for weighted sums of
// Poisson parameters", Statistics in Medicine 10, 1991).
//
// Without events, the upper bound is that of zero events at the largest weight, or 0 if there are
// no counts. Counts with a negative, infinite or NaN field give [Unknown].
func Sum(counts ...Count) Interval {
	var n, total, variance, largest float64
	for _, c := range counts {
		if !finite(c.N) || !finite(c.Weight) || c.N < 0 || c.Weight < 0 {
			return Unknown()
		}
		n += c.N
		total += c.Weight * c.N
		variance += c.Weight * c.Weight * c.N
		largest = math.Max(largest, c.Weight)
	}
	if n == 0 {
		return Interval{0, 0, largest * gammaQuantile(1, 0.975)}
	}
	unit := math.Sqrt(variance / n)
	low := total - unit*(n-gammaQuantile(n, 0.025))
	high := total + unit*(gammaQuantile(n+1, 0.975)-n)
	return Interval{total, math.Max(0, low), high}
}

// Add returns the interval of a sum of independent quantities: the distances from value to bound
// are added in quadrature, separately below and above (G. Y. Zou and A. Donner, "Construction of
// confidence limits about effect measures", Statistics in Medicine 27, 2008, the method called
// MOVER). The empty sum is exactly 0.
func Add(xs ...Interval) Interval {
	var value, down, up float64
	for _, x := range xs {
		if math.IsNaN(x.Value) {
			return Unknown()
		}
		value += x.Value
		down += (x.Value - x.Low) * (x.Value - x.Low)
		up += (x.High - x.Value) * (x.High - x.Value)
	}
	return Interval{value, value - math.Sqrt(down), value + math.Sqrt(up)}
}

// Mul returns the interval of a product of two independent nonnegative quantities by [Add]'s method
// on logarithms. If a value is 0 the bounds are multiplied, which is conservative.
func Mul(a, b Interval) Interval {
	if math.IsNaN(a.Value) || math.IsNaN(b.Value) {
		return Unknown()
	}
	value := scale(a.Value, b.Value)
	if a.Value <= 0 || b.Value <= 0 {
		return Interval{0, 0, scale(a.High, b.High)}
	}
	down := math.Hypot(logRatio(a.Value, a.Low), logRatio(b.Value, b.Low))
	up := math.Hypot(logRatio(a.High, a.Value), logRatio(b.High, b.Value))
	return Interval{value, value * math.Exp(-down), value * math.Exp(up)}
}

// Combine joins two independent estimates of one quantity: their mean, weighted by the inverse
// squares of their half widths. If they are further apart than their widths allow, the result is
// widened accordingly (R. T. Birge, "The Calculation of Errors by the Method of Least Squares",
// Physical Review 40, 1932). An unbounded estimate is ignored; if both are unbounded, Combine
// returns a.
func Combine(a, b Interval) Interval {
	switch {
	case !b.Known():
		return a
	case !a.Known():
		return b
	}
	x, y := (a.High-a.Low)/2, (b.High-b.Low)/2
	switch {
	case !(x > 0):
		return a
	case !(y > 0):
		return b
	}
	p, q := 1/(x*x), 1/(y*y)
	value := (a.Value*p + b.Value*q) / (p + q)
	apart := math.Abs(a.Value-b.Value) / math.Hypot(x, y) * z95
	half := math.Max(1, apart) / math.Sqrt(p+q)
	return Interval{value, value - half, value + half}
}

// Part returns the interval of part ÷ (part + rest) for independent nonnegative quantities. It
// computes the odds part ÷ rest, so the bounds are within [0, 1].
func Part(part, rest Interval) Interval {
	if math.IsNaN(part.Value) || math.IsNaN(rest.Value) || part.Value+rest.Value <= 0 {
		return Interval{math.NaN(), 0, 1}
	}
	value := part.Value / (part.Value + rest.Value)
	switch {
	case part.Value <= 0:
		return Interval{0, 0, ratio(part.High, rest.Low)}
	case rest.Value <= 0:
		return Interval{1, ratio(part.Low, rest.High), 1}
	}
	odds := part.Value / rest.Value
	down := math.Hypot(logRatio(part.Value, part.Low), logRatio(rest.High, rest.Value))
	up := math.Hypot(logRatio(part.High, part.Value), logRatio(rest.Value, rest.Low))
	return Interval{value, ratio(odds*math.Exp(-down), 1), ratio(odds*math.Exp(up), 1)}
}

// ratio returns a ÷ (a + b).
func ratio(a, b float64) float64 {
	if math.IsInf(a, 1) || a+b == 0 {
		return 1
	}
	return a / (a + b)
}

// logRatio is log(a/b) for a ≥ b ≥ 0.
func logRatio(a, b float64) float64 {
	switch {
	case a == b:
		return 0
	case b <= 0 || math.IsInf(a, 1):
		return math.Inf(1)
	}
	return math.Log(a / b)
}
