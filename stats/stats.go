package stats

import (
	"encoding/json"
	"math"
)

// Interval is an estimate with its 95 % bounds. A Value of NaN means that there
// is no estimate; a bound of ±Inf means that the data do not bound it.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Unknown returns the interval of an unknown nonnegative quantity: no value, [0, +Inf).
func Unknown() Interval { return Interval{math.NaN(), 0, math.Inf(1)} }

// Known reports whether there is a value and both bounds are finite.
func (i Interval) Known() bool { return finite(i.Value) && finite(i.Low) && finite(i.High) }

// Scale returns the interval of k times the quantity, for an exactly known k ≥ 0.
func (i Interval) Scale(k float64) Interval {
	return Interval{scale(i.Value, k), scale(i.Low, k), scale(i.High, k)}
}

// scale returns x*k, with 0 × Inf = 0.
func scale(x, k float64) float64 {
	if k == 0 {
		return 0
	}
	return x * k
}

// MarshalJSON writes NaN and infinities as null, since JSON has neither: no
// value, or no bound on that side.
func (i Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal(wire{number(i.Value), number(i.Low), number(i.High)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (i *Interval) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*i = Interval{math.NaN(), math.Inf(-1), math.Inf(1)}
	for _, f := range []struct {
		from *float64
		to   *float64
	}{{w.Value, &i.Value}, {w.Low, &i.Low}, {w.High, &i.High}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	return nil
}

// wire is Interval as it is in JSON.
type wire struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

func number(x float64) *float64 {
	if !finite(x) {
		return nil
	}
	return &x
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// z95 is the 97.5 % quantile of the normal distribution.
const z95 = 1.959963984540054

// Poisson returns the exact central interval of a Poisson mean after seeing n
// events: half the 2.5 % quantile of χ² with 2n degrees of freedom, and half the
// 97.5 % quantile with 2n+2 (F. Garwood, "Fiducial limits for the Poisson
// distribution", Biometrika 28, 1936). It covers at least 95 %. Above 100,000
// events the quantiles are Wilson and Hilferty's cube-root approximation, which
// is off there by less than a millionth of the interval's width.
//
// No events give [0, 3.69]; a negative n gives [Unknown].
func Poisson(n int64) Interval {
	if n < 0 {
		return Unknown()
	}
	x := float64(n)
	return Interval{x, gammaQuantile(x, 0.025), gammaQuantile(x+1, 0.975)}
}

// Share returns the interval of a proportion after k successes in n trials, by
// the score method (E. B. Wilson, "Probable inference, the law of succession,
// and statistical inference", JASA 22, 1927). Its coverage is 95 % on average,
// not at least.
//
// No trials, or a k outside 0 to n, give no value and [0, 1].
func Share(k, n int64) Interval {
	if n <= 0 || k < 0 || k > n {
		return Interval{math.NaN(), 0, 1}
	}
	p, m := float64(k)/float64(n), float64(n)
	z2 := z95 * z95
	mid := (p + z2/(2*m)) / (1 + z2/m)
	half := z95 / (1 + z2/m) * math.Sqrt(p*(1-p)/m+z2/(4*m*m))
	// The bounds are exactly 0 or 1 for no or only successes, whatever the rounding.
	low, high := math.Max(0, mid-half), math.Min(1, mid+half)
	if k == 0 {
		low = 0
	}
	if k == n {
		high = 1
	}
	return Interval{p, low, high}
}
