package load

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/hone-go/hone/histogram"
)

// Target is one request to send.
type Target struct {
	Method string      // default GET
	URL    string      // http or https, absolute
	Header [][2]string // in the order sent; Host, Content-Length are derived
	Body   []byte
}

// Options says what to send and how fast.
type Options struct {
	Targets        []Target      // sent in turn; at least one
	Rate           float64       // requests per second by a constant schedule; 0 = closed loop, flat out
	Connections    int           // closed loop: that many; by schedule: opened beforehand. 0 = a default
	MaxConnections int           // by schedule: the cap; 0 = derived from limits of files and memory
	Timeout        time.Duration // a request's; 0 = 30 s
	MaxRequests    int64         // stop by itself after that many; 0 = no bound
	MaxDuration    time.Duration // stop by itself after that long; 0 = until Stop or ctx ends
	TLS            *tls.Config
}

// Generator is a running load.
type Generator struct{}

// Start validates o, warms the connections and begins to send.
func Start(ctx context.Context, o Options) (*Generator, error) { panic("contract") }

// Cut returns what was measured since the previous Cut (or Start) and goes on.
func (g *Generator) Cut() *Result { panic("contract") }

// Done is closed when the load has ended by itself (a bound, or ctx).
func (g *Generator) Done() <-chan struct{} { panic("contract") }

// Stop ends the load, waits for its workers and returns the sum since Start.
func (g *Generator) Stop() *Result { panic("contract") }

// Try sends every target once (at most a handful), one after the other, and
// says what is wrong when none is answered below 400.
func Try(ctx context.Context, o Options) error { panic("contract") }

// ParseTargets reads what users type after -load: a URL, 'METHOD URL', or the
// name of a targets file (vegeta's http format).
func ParseTargets(arg string, header [][2]string) ([]Target, error) { panic("contract") }

// Result is what one stretch of load measured.
type Result struct {
	Start   time.Time
	Elapsed time.Duration
	Closed  bool    // closed loop: Latency is nil, only service time is known
	Rate    float64 // asked for; 0 in a closed loop

	Requests int64            // answered, whatever the status
	Missed   int64            // scheduled, not sent (or not answered) in this stretch; never silent
	Status   map[int]int64    // by status code
	Errors   map[string]int64 // transport errors by kind
	BytesIn  int64
	BytesOut int64

	Latency *histogram.Histogram // done − due; nil in a closed loop
	Service *histogram.Histogram // done − sent
	Lag     *histogram.Histogram // sent − due; nil in a closed loop

	PeakIn10ms  int64   // most requests sent within 10 ms; 0 in a closed loop
	CPUSeconds  float64 // the generator's own process, user + system
	Verdict     string  // "ok" or "generator-limited"
	VerdictWhy  string  // in words, when not ok
	OpenConns   int
	ConnsOpened int64
}

// Failed counts transport errors and answers of 400 and above.
func (r *Result) Failed() int64 { panic("contract") }
