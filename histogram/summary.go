package histogram

// Summary holds the figures of a histogram of nanoseconds that reports print. All but Count are in
// seconds.
type Summary struct {
	Count int64   `json:"count"`
	Min   float64 `json:"min"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99.9"`
	Max   float64 `json:"max"`
}

// Summary returns h's figures in seconds. It returns nil if h is nil or empty.
func (h *Histogram) Summary() *Summary {
	if h == nil || h.n == 0 {
		return nil
	}
	s := func(q float64) float64 { return float64(h.Quantile(q)) / 1e9 }
	return &Summary{
		Count: h.n,
		Min:   float64(h.min) / 1e9,
		Mean:  h.Mean() / 1e9,
		P50:   s(0.5),
		P90:   s(0.9),
		P99:   s(0.99),
		P999:  s(0.999),
		Max:   float64(h.max) / 1e9,
	}
}
