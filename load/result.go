package load

import (
	"cmp"
	"time"

	"github.com/hone-go/hone/histogram"
)

// Result holds the measurements of a load over an interval of time.
type Result struct {
	Start   time.Time
	Elapsed time.Duration // by schedule, without the wait for the last responses
	Closed  bool          // closed loop: Latency and Lag are nil
	Rate    float64       // the rate requested; 0 in a closed loop
	Expect  Expect        // the statuses that count as success

	Requests   int64               // complete responses, whatever the status
	Missed     int64               // requests due and not answered; see Generator.Stop
	Status     map[int]int64       // by status code
	Errors     map[ErrorKind]int64 // transport errors by kind
	RedirectTo string              // the Location of one 3xx response; "" if there was none
	BytesIn    int64               // of HTTP, without TLS
	BytesOut   int64               // of requests started
	Bodies     *Bodies             // nil unless Options.Bodies is set

	// The histograms are in nanoseconds. They include every response. Timeouts and missed requests
	// count with the time that had passed.
	Latency *histogram.Histogram // done − due; nil in a closed loop
	Service *histogram.Histogram // done − sent
	Lag     *histogram.Histogram // sent − due; nil in a closed loop

	PeakIn10ms  int64   // most requests sent in a 10 ms interval; 0 in a closed loop
	CPUSeconds  float64 // the generator's own process, user + system
	Verdict     Verdict
	VerdictWhy  string // the reason, if not ok
	OpenConns   int    // at the end of the interval
	Waiting     int    // of those, the number waiting for a response
	ConnsOpened int64

	due, sent int64 // by schedule: requests that fell due, and those that were sent
	capped    int64 // of those sent, the number delayed by the limit of connections
}

// Failed returns the number of transport errors and of responses with a status outside Expect.
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

// Throughput returns responses per second, 0 if no time passed.
func (r *Result) Throughput() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Requests) / r.Elapsed.Seconds()
}

// Merge adds o, the result of the following interval, to r and computes the verdict of the sum.
func (r *Result) Merge(o *Result) {
	if r.Status == nil {
		r.Status = map[int]int64{}
	}
	if r.Errors == nil {
		r.Errors = map[ErrorKind]int64{}
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
	if o.Bodies != nil {
		if r.Bodies == nil {
			r.Bodies = &Bodies{}
		}
		r.Bodies.add(o.Bodies)
	}
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
