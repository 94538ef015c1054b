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

// grace is how long an ending load waits for requests in flight.
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
	Targets        []Target      // sent in order, then again from the first; at least one
	Targeter       Targeter      // generates requests, instead of Targets
	Rate           float64       // requests per second, at a constant rate; 0 = closed loop
	Schedule       Schedule      // a schedule, instead of Rate
	Connections    int           // closed loop: the number used; by schedule: opened before the start. 0 = DefaultConnections
	MaxConnections int           // by schedule: the maximum; 0 = by the limits of files, ports and memory
	Timeout        time.Duration // of a request; 0 = DefaultTimeout
	Expect         Expect        // the statuses that count as success
	MaxRequests    int64         // stop after this many; 0 = no limit
	MaxDuration    time.Duration // stop after this time; 0 = until Stop, or until ctx is done
	TLS            *tls.Config
	// Bodies says that the bodies of answers are looked at and compared: see Result.Bodies. That
	// takes CPU time of the generator. It has no effect with a Targeter.
	Bodies bool
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

// engine sends requests: a closed loop, or by schedule.
type engine interface {
	start(warm []*conn)
	end()                   // start no more requests than are due now
	settle(now int64) int64 // all connections are closed: wait, count missed requests; returns the end on the clock
	stretch(r *Result)      // add to r the engine's counts since the last call
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
	made    *generator // builds the requests of a Targeter; nil: send reqs in order

	ctx      context.Context // done when all connections must close
	kill     context.CancelFunc
	stopping chan struct{} // closed by Stop, and by MaxDuration
	stopOnce sync.Once
	settled  chan struct{} // closed by the engine: no requests in flight, none due
	finished func()
	done     chan struct{}

	conns connSet

	mu             sync.Mutex // of what follows
	total, pending *Result    // until the last Cut, and since
	cut            time.Time  // end of the last stretch
	cpu            float64    // CPU seconds then
	ended          time.Time  // zero while running
}

// Start validates o, opens the initial connections and starts sending. It returns an error if o is
// invalid or no connection can be opened.
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
	if o.Bodies {
		rememberBodies(g.reqs)
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

// supervise ends the load: after Stop, at a limit, or when the context is done.
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

// Cut returns the result since the previous Cut (or Start); the load continues. Every request is in
// exactly one result: the one in which it ended. After the end of the load, Cut returns the rest,
// which contains all Missed requests.
func (g *Generator) Cut() *Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.collect()
	r := g.pending
	g.total.Merge(r)
	g.pending = newResult(g.cut, &g.o)
	return r
}

// collect moves the recorded counts into pending and computes its verdict.
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

// Done returns a channel that is closed when the load has ended at a limit or with its context.
func (g *Generator) Done() <-chan struct{} { return g.done }

// Stop ends the load, waits for its workers and returns the sum since Start. Requests in flight get
// a second to complete. Requests that are not complete then, or were due and not sent, are Missed.
// Stop may be called more than once, also after the load has ended.
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
