package stats

// Interval is an estimate with its 95 % bounds.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Poisson returns the interval of a Poisson mean after seeing n events.
func Poisson(n int64) Interval { panic("contract") }

// Share returns the interval of k out of n (Wilson).
func Share(k, n int64) Interval { panic("contract") }

// MedianRatio returns new/old of two independent samples' centres with its
// interval and the two-sided p-value of "no difference".
func MedianRatio(old, new []float64) (ratio Interval, p float64) { panic("contract") }
