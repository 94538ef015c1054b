package stats

import "math"

// The special functions that the intervals need. Series and continued fractions
// are those of the NIST Digital Library of Mathematical Functions (DLMF),
// chapter 8; continued fractions are evaluated by Lentz's method.

const (
	epsilon = 1e-15
	tiny    = 1e-300
	// maxTerms bounds a series; the gamma series need about 10√a terms.
	maxTerms = 10_000
	// manyEvents is the shape above which gammaQuantile uses an approximation.
	manyEvents = 100_000
)

// gammaP is the regularised lower incomplete gamma function P(a, x), which is
// the distribution function of a gamma variable with shape a and scale 1.
func gammaP(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	lg, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lg)
	if x < a+1 {
		// DLMF 8.7.1.
		term, sum := 1/a, 1/a
		for k := 1; k < maxTerms && term > sum*epsilon; k++ {
			term *= x / (a + float64(k))
			sum += term
		}
		return math.Min(1, front*sum)
	}
	// 1 - Q(a, x), DLMF 8.9.2.
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for k := 1; k < maxTerms; k++ {
		num := float64(k) * (a - float64(k))
		b += 2
		d = 1 / notZero(num*d+b)
		c = notZero(b + num/c)
		h *= c * d
		if math.Abs(c*d-1) < epsilon {
			break
		}
	}
	return math.Max(0, 1-front*h)
}

func notZero(x float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}

// gammaQuantile is the p quantile, for p of 0.025 or 0.975, of a gamma variable with shape a and
// scale 1, which is half the quantile of χ² with 2a degrees of freedom. For shape 0 it is 0.
func gammaQuantile(a, p float64) float64 {
	if a <= 0 {
		return 0
	}
	z := z95
	if p < 0.5 {
		z = -z95
	}
	// E. B. Wilson and M. M. Hilferty, "The distribution of chi-square", PNAS 17, 1931.
	t := 1 - 1/(9*a) + z/(3*math.Sqrt(a))
	guess := a * t * t * t
	if a > manyEvents {
		return guess
	}
	if x, ok := polish(guess, a, p); ok {
		return x
	}
	return invert(func(x float64) float64 { return gammaP(a, x) }, p, 0, a+10*math.Sqrt(a)+20)
}

// polish improves a guess of a gamma quantile by Newton's method, usually in three or four steps.
// It returns false if the steps do not converge, as near 0 for small shapes.
func polish(x, a, p float64) (float64, bool) {
	lg, _ := math.Lgamma(a)
	last := math.Inf(1)
	for x > 0 {
		density := math.Exp((a-1)*math.Log(x) - x - lg)
		step := (gammaP(a, x) - p) / density
		if math.Abs(step) <= 1e-13*x {
			return x, true
		}
		if !(math.Abs(step) < last) {
			return 0, false
		}
		last = math.Abs(step)
		x -= step
	}
	return 0, false
}

// invert finds x in [low, high] with f(x) = p for a nondecreasing f.
func invert(f func(float64) float64, p, low, high float64) float64 {
	for range 200 {
		mid := low + (high-low)/2
		if mid == low || mid == high {
			break
		}
		if f(mid) < p {
			low = mid
		} else {
			high = mid
		}
		if high-low <= 4e-16*high {
			break
		}
	}
	return low + (high-low)/2
}

// betaI is the regularised incomplete beta function I_x(a, b).
func betaI(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaFraction(b, a, 1-x)
	}
	return betaFraction(a, b, x)
}

// betaFraction is betaI for an x not far above the mean, where the continued fraction converges
// quickly. It does not swap sides itself: at the border, rounding could make it swap forever.
func betaFraction(a, b, x float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	// DLMF 8.17.22.
	c, d := 1.0, 1/notZero(1-(a+b)*x/(a+1))
	h := d
	for k := 1; k < maxTerms; k++ {
		m := float64(k)
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / notZero(1+even*d)
		c = notZero(1 + even/c)
		h *= c * d
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / notZero(1+odd*d)
		c = notZero(1 + odd/c)
		h *= c * d
		if math.Abs(c*d-1) < epsilon {
			break
		}
	}
	return front * h
}

// tTails is the probability that Student's t with df degrees of freedom is
// further from 0 than |t| (DLMF 8.17 with the substitution x = df/(df+t²)).
func tTails(t, df float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return betaI(df/2, 0.5, df/(df+t*t))
}

// tQuantile975 is the 97.5 % quantile of Student's t, at most 1e6. Newton's method starts at the
// quantile of the normal distribution, which is smaller; the tails are convex, so that no step goes
// too far.
func tQuantile975(df float64) float64 {
	const most = 1e6
	la, _ := math.Lgamma((df + 1) / 2)
	lb, _ := math.Lgamma(df / 2)
	density := 2 * math.Exp(la-lb) / math.Sqrt(math.Pi*df) // of both tails, at 0
	t := z95
	for range 200 {
		next := min(most, t+(tTails(t, df)-0.05)/(density*math.Pow(1+t*t/df, -(df+1)/2)))
		if !(next > t*(1+4e-16)) {
			break
		}
		t = next
	}
	return t
}
