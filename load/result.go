package load

import (
	"cmp"
	"time"

	"github.com/hone-go/hone/histogram"
)

// Result is what one stretch of load measured.
type Result struct {
	Start   time.Time
	Elapsed time.Duration // by schedule without the wait for the last answers
	Closed  bool          // closed loop: Latency is nil, only service time is known
	Rate    float64       // asked for; 0 in a closed loop
	Expect  Expect        // the statuses that count as success

	Requests   int64            // answered, whatever the status
	Missed     int64            // scheduled, not sent (or not answered) in this stretch; never silent
	Status     map[int]int64    // by status code
	Errors     map[string]int64 // transport errors by kind
	RedirectTo string           // the Location of one answer of 3xx; "" when there was none
	BytesIn    int64            // of HTTP, inside TLS
	BytesOut   int64            // of requests begun

	// The histograms are in nanoseconds. They hold every answer, and with at least
	// the time that passed also what timed out or was missed.
	Latency *histogram.Histogram // done − due; nil in a closed loop
	Service *histogram.Histogram // done − sent
	Lag     *histogram.Histogram // sent − due; nil in a closed loop

	PeakIn10ms  int64   // most requests sent within 10 ms; 0 in a closed loop
	CPUSeconds  float64 // the generator's own process, user + system
	Verdict     Verdict
	VerdictWhy  string // in words, when not ok
	OpenConns   int    // at the end of the stretch
	Waiting     int    // of those, how many wait for an answer
	ConnsOpened int64

	due, sent int64 // by schedule: requests that fell due, and that were sent
	capped    int64 // of those sent, how many found every connection allowed in use
}

// Failed counts transport errors and answers that are not expected: by default those of 400 and above.
func (r *Result) Failed() int64 {
	var n int64
	for code, c := range r.Status {
		if !r.Expect.Has(code) {
			n += c
		}
	}
	for _, c := range r.Errors {
		n += c
	}
	return n
}

// Throughput returns answers per second, zero when no time passed.
func (r *Result) Throughput() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Requests) / r.Elapsed.Seconds()
}

// Merge adds the stretch o, which follows r in time, and judges the sum again.
func (r *Result) Merge(o *Result) {
	if r.Status == nil {
		r.Status = map[int]int64{}
	}
	if r.Errors == nil {
		r.Errors = map[string]int64{}
	}
	for _, h := range []struct{ to, from **histogram.Histogram }{
		{&r.Service, &o.Service}, {&r.Latency, &o.Latency}, {&r.Lag, &o.Lag},
	} {
		if *h.to == nil && *h.from != nil {
			*h.to = histogram.New()
		}
		if *h.to != nil {
			(*h.to).Merge(*h.from)
		}
	}
	r.Elapsed += o.Elapsed
	r.Requests += o.Requests
	r.Missed += o.Missed
	for code, n := range o.Status {
		r.Status[code] += n
	}
	for kind, n := range o.Errors {
		r.Errors[kind] += n
	}
	r.BytesIn += o.BytesIn
	r.BytesOut += o.BytesOut
	r.PeakIn10ms = max(r.PeakIn10ms, o.PeakIn10ms)
	r.CPUSeconds += o.CPUSeconds
	r.OpenConns, r.Waiting = o.OpenConns, o.Waiting
	r.RedirectTo = cmp.Or(r.RedirectTo, o.RedirectTo)
	r.ConnsOpened += o.ConnsOpened
	r.due += o.due
	r.sent += o.sent
	r.capped += o.capped
	r.judge()
}
