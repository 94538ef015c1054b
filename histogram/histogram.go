package histogram

// Histogram counts values (nanoseconds by convention) in log-linear buckets.
// A Histogram is not safe for concurrent use; keep one a worker and Merge.
type Histogram struct{}

// New returns an empty histogram.
func New() *Histogram { panic("contract") }

// Record counts one value.
func (h *Histogram) Record(v int64) { panic("contract") }

// RecordN counts n values of v.
func (h *Histogram) RecordN(v, n int64) { panic("contract") }

// Merge adds all of o to h.
func (h *Histogram) Merge(o *Histogram) { panic("contract") }

// Reset empties h.
func (h *Histogram) Reset() { panic("contract") }

// Count, Min, Max and Mean describe what was recorded; zero when empty.
func (h *Histogram) Count() int64  { panic("contract") }
func (h *Histogram) Min() int64    { panic("contract") }
func (h *Histogram) Max() int64    { panic("contract") }
func (h *Histogram) Mean() float64 { panic("contract") }

// Quantile returns the value below which a share q (0 to 1) of the counts lie.
func (h *Histogram) Quantile(q float64) int64 { panic("contract") }
