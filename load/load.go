package load

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Defaults of Options.
const (
	DefaultConnections = 64
	DefaultTimeout     = 30 * time.Second
)

// grace is how long an ending load waits for answers that are under way.
const grace = time.Second

// Target is one request to send.
type Target struct {
	Method string      // default GET
	URL    string      // http or https, absolute
	Header [][2]string // in the order sent; Host, Content-Length are derived
	Body   []byte
}

// Options says what to send and how fast.
type Options struct {
	Targets        []Target      // sent one after the other, then again from the first; at least one
	Targeter       Targeter      // any other sequence of requests, instead of Targets
	Rate           float64       // requests per second by a constant schedule; 0 = closed loop, flat out
	Schedule       Schedule      // any other schedule, instead of Rate
	Connections    int           // closed loop: that many; by schedule: opened beforehand. 0 = DefaultConnections
	MaxConnections int           // by schedule: the cap; 0 = derived from limits of files, ports and memory
	Timeout        time.Duration // a request's; 0 = DefaultTimeout
	Expect         Expect        // the statuses that count as success
	MaxRequests    int64         // stop by itself after that many; 0 = no bound
	MaxDuration    time.Duration // stop by itself after that long; 0 = until Stop or ctx ends
	TLS            *tls.Config
}

// complete validates o and fills in defaults.
func (o *Options) complete() error {
	if err := checkRate(o.Rate); err != nil {
		return err
	}
	switch {
	case o.Connections < 0 || o.MaxConnections < 0:
		return errors.New("a number of connections is negative")
	case o.Timeout < 0 || o.MaxDuration < 0 || o.MaxRequests < 0:
		return errors.New("a bound of time or requests is negative")
	case o.Schedule != nil && o.Rate != 0:
		return errors.New("both a rate and a schedule are given")
	case o.Targeter != nil && len(o.Targets) > 0:
		return errors.New("both targets and a targeter are given")
	}
	if o.Rate > 0 {
		o.Schedule = Constant(o.Rate)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	limit, why := connectionLimit()
	if o.Schedule == nil {
		o.MaxConnections = 0
		if o.Connections > limit {
			return fmt.Errorf("%d connections are more than this machine allows: %d (%s)", o.Connections, limit, why)
		}
	} else if o.MaxConnections == 0 || o.MaxConnections > limit {
		o.MaxConnections = limit
	}
	if o.Connections == 0 {
		o.Connections = DefaultConnections
	}
	if o.MaxConnections > 0 {
		o.Connections = min(o.Connections, o.MaxConnections)
	}
	if o.Schedule == nil && o.MaxRequests > 0 {
		o.Connections = int(min(int64(o.Connections), o.MaxRequests))
	}
	return nil
}

// engine is a way of sending: closed loop or by schedule.
type engine interface {
	start(warm []*conn)
	end()                   // begin no more requests than are due now
	settle(now int64) int64 // all is closed: wait, count what was missed; the end on the clock
	stretch(r *Result)      // add to r what only the engine knows, since the last call
}

// Generator is a running load.
type Generator struct {
	o       Options
	reqs    []request
	origins []origin
	clock   clock
	dialer  dialer
	rec     *recorder
	engine  engine
	made    *generator // makes the requests of a Targeter; nil: they are reqs, in turn

	ctx      context.Context // ends when everything has to
	kill     context.CancelFunc
	stopping chan struct{} // closed by Stop, and by MaxDuration
	stopOnce sync.Once
	settled  chan struct{} // closed by the engine: nothing is under way, nothing due
	finished func()
	done     chan struct{}

	conns connSet

	mu             sync.Mutex // of what follows
	total, pending *Result    // up to the last Cut, and since
	cut            time.Time  // end of the last stretch
	cpu            float64    // CPU seconds then
	ended          time.Time  // zero while running
}

// Start validates o, warms the connections and begins to send.
// An error says what is wrong with o, or that no connection could be opened.
func Start(ctx context.Context, o Options) (*Generator, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	reqs, origins, err := buildRequests(o.known(1))
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if o.Schedule != nil && o.MaxConnections < len(origins) {
		return nil, fmt.Errorf("load: %d connections are too few for %d hosts", o.MaxConnections, len(origins))
	}
	g := &Generator{
		o:        o,
		reqs:     reqs,
		origins:  origins,
		clock:    clock{time.Now()},
		rec:      newRecorder(min(o.Connections, 4*runtime.GOMAXPROCS(0)), o.Schedule == nil),
		stopping: make(chan struct{}),
		settled:  make(chan struct{}),
		done:     make(chan struct{}),
	}
	if o.Targeter != nil {
		g.made = &generator{from: o.Targeter, origin: origins[0]}
	}
	g.finished = sync.OnceFunc(func() { close(g.settled) })
	g.ctx, g.kill = context.WithCancel(ctx)
	g.dialer = newDialer(&o, g.clock)
	warm, err := g.warm()
	if err != nil {
		g.kill()
		g.conns.closeAll()
		return nil, fmt.Errorf("load: %w", err)
	}

	// Time zero of the schedule is now, not when the connections were opened.
	now := time.Now()
	g.cut, g.cpu = now, cpuSeconds()
	g.total, g.pending = newResult(now, &o), newResult(now, &o)
	if o.Schedule == nil {
		g.engine = &closedLoop{g: g}
	} else {
		g.engine = newOpenLoop(g)
	}
	g.engine.start(warm)
	go g.supervise()
	return g, nil
}

// supervise ends the load: by Stop, by a bound or by the context.
func (g *Generator) supervise() {
	var expired <-chan time.Time
	if g.o.MaxDuration > 0 {
		t := time.NewTimer(g.o.MaxDuration)
		defer t.Stop()
		expired = t.C
	}
	select {
	case <-expired:
	case <-g.stopping:
	case <-g.settled:
	case <-g.ctx.Done():
	}
	g.engine.end()

	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-g.settled:
	case <-patience.C:
	case <-g.ctx.Done():
	}
	now := g.clock.now()
	g.kill()
	g.conns.closeAll()
	end := g.engine.settle(now)
	g.mu.Lock()
	g.ended = g.clock.start.Add(time.Duration(end))
	g.mu.Unlock()
	close(g.done)
}

// killed reports whether connections break because the load is over.
func (g *Generator) killed() bool { return g.ctx.Err() != nil }

// Cut returns what was measured since the previous Cut (or Start) and goes on.
// Every request is in exactly one Cut: the one in which it ended. After the end
// of the load Cut returns what is left, which holds all that was Missed.
func (g *Generator) Cut() *Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.collect()
	r := g.pending
	g.total.Merge(r)
	g.pending = newResult(g.cut, &g.o)
	return r
}

// collect moves what was measured into pending and judges it.
func (g *Generator) collect() {
	end := g.ended
	if end.IsZero() {
		end = time.Now()
	}
	cpu := cpuSeconds()
	p := g.pending
	g.rec.collect(p)
	g.engine.stretch(p)
	p.Elapsed += max(0, end.Sub(g.cut))
	p.CPUSeconds += cpu - g.cpu
	g.conns.count(p)
	p.judge()
	if end.After(g.cut) {
		g.cut = end
	}
	g.cpu = cpu
}

// Done is closed when the load has ended by itself (a bound, or ctx).
func (g *Generator) Done() <-chan struct{} { return g.done }

// Stop ends the load, waits for its workers and returns the sum since Start.
// Answers that are under way get a second to arrive; what is still out then,
// or was due and not sent, is Missed. Stop may be called again, also when the
// load has ended by itself.
func (g *Generator) Stop() *Result {
	g.stopOnce.Do(func() { close(g.stopping) })
	<-g.done
	g.mu.Lock()
	defer g.mu.Unlock()
	g.collect()
	r := newResult(g.total.Start, &g.o)
	r.Merge(g.total)
	r.Merge(g.pending)
	return r
}
