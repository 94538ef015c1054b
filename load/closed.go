package load

import (
	"sync"
	"sync/atomic"
	"time"
)

// closedLoop keeps every connection busy: one goroutine per connection sends, waits for the
// response and sends again. Such a load slows down with the server, so it measures only service
// times.
type closedLoop struct {
	g       *Generator
	workers sync.WaitGroup
	ending  atomic.Bool  // finish requests in flight
	claimed atomic.Int64 // requests started, counted if their number is limited
}

func (l *closedLoop) start(warm []*conn) {
	for id := range l.g.o.Connections {
		l.workers.Go(func() { l.work(id, warm[id]) })
	}
	go func() {
		l.workers.Wait()
		l.g.finished()
	}()
}

func (l *closedLoop) end() { l.ending.Store(true) }

// settle waits for the workers, whose connections are closed by now. The last responses count, so
// the time until they arrived counts too.
func (l *closedLoop) settle(now int64) int64 {
	l.workers.Wait()
	return now
}

func (l *closedLoop) stretch(*Result) {}

// more reports whether another request is to be sent.
func (l *closedLoop) more() bool {
	if l.ending.Load() {
		return false
	}
	bound := l.g.o.MaxRequests
	return bound == 0 || l.claimed.Add(1) <= bound
}

// work is one connection's loop (to each origin one). Targets are sent in order; every worker
// starts at a different one.
func (l *closedLoop) work(id int, first *conn) {
	g := l.g
	var (
		out   = g.rec.shard(id)
		conns = make([]*conn, len(g.origins))
		turn  = id % len(g.reqs)
		idle  = backoff{g: g}
		now   = g.clock.now()
	)
	conns[0] = first
	defer func() {
		for _, c := range conns {
			g.drop(c)
		}
	}()
	for l.more() {
		req := &g.reqs[turn]
		if turn++; turn == len(g.reqs) {
			turn = 0
		}
		if g.made != nil {
			var err error
			if req, err = g.made.next(); err != nil {
				out.failed(exchange{sent: now, done: now}, kindIndex(err))
				idle.wait()
				now = g.clock.now()
				continue
			}
		}
		c := conns[req.origin]
		if c == nil {
			var err error
			if c, err = g.connect(req.origin); err != nil {
				if !g.killed() {
					out.failed(exchange{sent: now, done: g.clock.now()}, kindIndex(err))
				}
				idle.wait()
				now = g.clock.now()
				continue
			}
			conns[req.origin] = c
			now = g.clock.now()
		}
		before := c.rd.in
		a, err := c.roundTrip(req, now)
		x := exchange{sent: now, in: c.rd.in - before, out: int64(len(req.wire))}
		// One clock reading ends this request and starts the next.
		now = g.clock.now()
		x.done = now
		switch {
		case err == nil:
			out.answered(x, a)
			idle.reset()
		case g.killed():
			out.missed(x)
		default:
			out.failed(x, kindIndex(err))
		}
		if err != nil || a.close {
			g.drop(c)
			conns[req.origin] = nil
			now = g.clock.now()
		}
	}
}

// roundTrip sends req on an idle connection and reads its answer.
func (c *conn) roundTrip(req *request, sent int64) (answer, error) {
	c.req, c.sent = req, sent
	c.busy.Store(true)
	defer c.busy.Store(false)
	if err := c.write(); err != nil {
		return answer{}, err
	}
	return c.answer()
}

// backoff keeps a worker without a server from spinning: 1 ms, doubled up to 100 ms.
type backoff struct {
	g *Generator
	d time.Duration
}

func (b *backoff) reset() { b.d = 0 }

func (b *backoff) wait() {
	b.d = min(max(2*b.d, time.Millisecond), 100*time.Millisecond)
	t := time.NewTimer(b.d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-b.g.stopping:
	case <-b.g.ctx.Done():
	}
}
