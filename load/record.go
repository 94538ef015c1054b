package load

import (
	"cmp"
	"sync"
	"time"

	"github.com/hone-go/hone/histogram"
)

// tally holds counts since it was last emptied.
type tally struct {
	requests, missed  int64
	bytesIn, bytesOut int64
	status            [500]int64 // of 100 to 599
	odd               map[int]int64
	errors            [len(kinds)]int64
	redirectTo        string // the first Location
	bodies            Bodies

	latency, service, lag histogram.Histogram
}

// shard is the tally of a few connections. Its lock is held for tens of nanoseconds per request and
// rarely contended. It lets Cut take the tally while the load runs.
type shard struct {
	mu  sync.Mutex
	now *tally
	_   [48]byte // pads to keep the next shard's lock on another cache line
}

// recorder spreads tallies over shards.
type recorder struct {
	closed bool
	shards []shard
	spare  *tally
}

func newRecorder(shards int, closed bool) *recorder {
	r := &recorder{closed: closed, shards: make([]shard, shards), spare: new(tally)}
	for i := range r.shards {
		r.shards[i].now = new(tally)
	}
	return r
}

func (r *recorder) shard(id int) *shard { return &r.shards[id%len(r.shards)] }

// exchange holds the times, on the clock, and sizes of one request.
type exchange struct {
	due, sent, done int64 // due only by schedule
	in, out         int64 // bytes
	scheduled       bool
}

// answered counts a complete response.
func (s *shard) answered(x exchange, a answer) {
	s.mu.Lock()
	t := s.now
	t.requests++
	if len(a.location) > 0 && t.redirectTo == "" {
		t.redirectTo = string(a.location)
	}
	if i := a.status - 100; uint(i) < uint(len(t.status)) {
		t.status[i]++
	} else {
		if t.odd == nil {
			t.odd = map[int]int64{}
		}
		t.odd[a.status]++
	}
	t.bytesIn += x.in
	t.bytesOut += x.out
	t.bodies.add(a.bodies)
	t.service.Record(x.done - x.sent)
	if x.scheduled {
		t.latency.Record(x.done - x.due)
		t.lag.Record(x.sent - x.due)
	}
	s.mu.Unlock()
}

// failed counts a transport error. The latency of a timeout is at least the time waited. Other
// errors have none: a refused connection is not a fast response.
func (s *shard) failed(x exchange, kind int) {
	s.mu.Lock()
	t := s.now
	t.errors[kind]++
	t.bytesIn += x.in
	t.bytesOut += x.out
	if kinds[kind] == ErrTimeout {
		t.waited(x)
	}
	s.mu.Unlock()
}

// missed counts a request that was due and not answered, or in a closed loop one in flight at the
// end; x.done is when it was abandoned.
func (s *shard) missed(x exchange) {
	s.mu.Lock()
	s.now.missed++
	s.now.bytesOut += x.out
	s.now.waited(x)
	s.mu.Unlock()
}

func (t *tally) waited(x exchange) {
	if x.sent != never {
		t.service.Record(x.done - x.sent)
	}
	if x.scheduled {
		t.latency.Record(x.done - x.due)
		t.lag.Record(min(x.sent, x.done) - x.due)
	}
}

// collect moves all counts into res.
func (r *recorder) collect(res *Result) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		t := s.now
		s.now = r.spare
		s.mu.Unlock()
		t.addTo(res, r.closed)
		t.reset()
		r.spare = t
	}
}

func (t *tally) addTo(res *Result, closed bool) {
	res.Requests += t.requests
	res.Missed += t.missed
	res.BytesIn += t.bytesIn
	res.BytesOut += t.bytesOut
	res.RedirectTo = cmp.Or(res.RedirectTo, t.redirectTo)
	if res.Bodies != nil {
		res.Bodies.add(&t.bodies)
	}
	for i, n := range t.status {
		if n != 0 {
			res.Status[i+100] += n
		}
	}
	for code, n := range t.odd {
		res.Status[code] += n
	}
	for i, n := range t.errors {
		if n != 0 {
			res.Errors[kinds[i]] += n
		}
	}
	res.Service.Merge(&t.service)
	if !closed {
		res.Latency.Merge(&t.latency)
		res.Lag.Merge(&t.lag)
	}
}

func (t *tally) reset() {
	t.requests, t.missed, t.bytesIn, t.bytesOut = 0, 0, 0, 0
	t.redirectTo, t.bodies = "", Bodies{}
	clear(t.status[:])
	clear(t.odd)
	clear(t.errors[:])
	t.latency.Reset()
	t.service.Reset()
	t.lag.Reset()
}

// newResult returns an empty result.
func newResult(start time.Time, o *Options) *Result {
	r := &Result{
		Start:   start,
		Closed:  o.Schedule == nil,
		Rate:    o.Rate,
		Expect:  o.Expect,
		Status:  map[int]int64{},
		Errors:  map[ErrorKind]int64{},
		Service: histogram.New(),
	}
	if o.Bodies {
		r.Bodies = &Bodies{}
	}
	if !r.Closed {
		r.Latency, r.Lag = histogram.New(), histogram.New()
	}
	return r
}
