package load

import (
	"math"
	"slices"
	"sync"
)

// openLoop sends by a schedule, whatever the server does, over as many connections as that takes,
// up to a limit. The pacer never waits for a connection. It writes small requests to free
// connections itself; if none is free, the next connection that becomes free (or is opened) takes
// the oldest request that is due. Waiting requests need no queue: the schedule determines them.
type openLoop struct {
	g     *Generator
	zero  int64 // time zero of the schedule, on the clock
	limit int64 // maximum number of requests

	mu        sync.Mutex // of what follows, and of the lanes
	lanes     []lane
	horizon   int64 // requests due at or after it are not sent
	lastSent  int64
	ending    bool
	inFlight  int64
	due, sent int64 // since the last stretch
	capped    int64
	peak      burst

	stop    chan struct{} // closed by end: the pacer returns
	readers sync.WaitGroup
	pacer   sync.WaitGroup
}

// lane is the part of the schedule that goes to one origin: every n-th request with n targets, with
// as many offsets as targets go to that origin.
type lane struct {
	origin  int
	targets []int // indices into Generator.reqs
	next    int64 // number, in this lane, of the first request not taken yet
	seen    int64 // requests of this lane that the pacer has seen fall due
	free    []*conn
	dialing int
	open    int // including those being dialed
	cap     int
}

func newOpenLoop(g *Generator) *openLoop {
	l := &openLoop{
		g:       g,
		limit:   math.MaxInt64,
		horizon: never,
		lanes:   make([]lane, len(g.origins)),
		stop:    make(chan struct{}),
	}
	if g.o.MaxRequests > 0 {
		l.limit = g.o.MaxRequests
	}
	for i := range l.lanes {
		l.lanes[i].origin = i
		l.lanes[i].cap = g.o.MaxConnections / len(l.lanes)
	}
	for i := range g.reqs {
		n := &l.lanes[g.reqs[i].origin]
		n.targets = append(n.targets, i)
	}
	return l
}

func (l *openLoop) start(warm []*conn) {
	l.mu.Lock()
	l.zero = l.g.clock.now()
	if d := l.g.o.MaxDuration; d > 0 {
		l.horizon = l.zero + int64(d)
	}
	for _, c := range warm {
		if c == nil {
			continue
		}
		lane := &l.lanes[c.origin]
		lane.open++
		lane.free = append(lane.free, c)
		l.readers.Go(func() { l.serve(lane, c) })
	}
	l.mu.Unlock()
	l.pacer.Go(l.pace)
}

// index returns the number in the schedule of the lane's request j.
func (n *lane) index(j int64, all int) int64 {
	k := int64(len(n.targets))
	return j/k*int64(all) + int64(n.targets[j%k])
}

// peek returns when the lane's next request is due, on the clock; false if there are no more
// requests.
func (l *openLoop) peek(n *lane) (due int64, ok bool) {
	i := n.index(n.next, len(l.g.reqs))
	if i >= l.limit {
		return 0, false
	}
	due = l.zero + int64(l.g.o.Schedule.Due(i))
	return due, due < l.horizon
}

// take gives c the lane's next request if it is due. l.mu is held.
func (l *openLoop) take(n *lane, c *conn) bool {
	now := l.g.clock.now()
	due, ok := l.peek(n)
	if !ok || due > now {
		return false
	}
	c.req = &l.g.reqs[n.targets[n.next%int64(len(n.targets))]]
	if l.g.made != nil {
		if c.req, due, ok = l.build(n, due, now); !ok {
			return false
		}
	}
	c.due, c.sent = due, now
	c.busy.Store(true)
	n.next++
	l.inFlight++
	l.sent++
	l.lastSent = now
	l.peak.add(now)
	return true
}

// build returns the lane's next due request that can be sent, and counts those that cannot. l.mu is
// held.
func (l *openLoop) build(n *lane, due, now int64) (req *request, at int64, ok bool) {
	for ok = true; ok && due <= now; due, ok = l.peek(n) {
		req, err := l.g.made.next()
		if err == nil {
			return req, due, true
		}
		l.g.rec.shard(0).failed(exchange{due: due, sent: now, done: now, scheduled: true}, kindIndex(err))
		n.next++
		l.sent++
	}
	l.settled()
	return nil, 0, false
}

// pace wakes when a request falls due and sends it if a connection is free.
func (l *openLoop) pace() {
	sleep := newSleeper(l.g.clock, l.stop)
	defer sleep.close()
	all := int64(len(l.g.reqs))
	last := never
	if d := l.g.o.MaxDuration; d > 0 {
		last = l.zero + int64(d)
	}
	for i := int64(0); i < l.limit; i++ {
		due := l.zero + int64(l.g.o.Schedule.Due(i))
		if due >= last {
			sleep.until(last) // the load lasts for its full duration
			break
		}
		if !sleep.until(due) {
			break
		}
		l.fallDue(&l.lanes[l.g.reqs[i%all].origin])
	}
	l.mu.Lock()
	l.ending = true
	l.settled()
	l.mu.Unlock()
}

// fallDue is called once for every request, when it is due.
func (l *openLoop) fallDue(n *lane) {
	l.mu.Lock()
	n.seen++
	l.due++
	for len(n.free) > 0 {
		c := n.free[len(n.free)-1]
		if !l.take(n, c) {
			break
		}
		n.free = n.free[:len(n.free)-1]
		l.grow(n)
		l.mu.Unlock()
		l.send(c, true)
		l.mu.Lock()
	}
	if n.next < n.seen && n.open >= n.cap {
		l.capped++
	}
	l.grow(n)
	l.mu.Unlock()
}

// grow opens connections for waiting requests, and some spare ones. l.mu is held.
func (l *openLoop) grow(n *lane) {
	const atOnce = 256 // handshakes that a listening socket's queue takes
	spare := 4 + n.open/8
	if l.ending {
		spare = 0
	}
	want := spare + int(min(max(n.seen-n.next, 0), atOnce))
	for len(n.free)+n.dialing < want && n.dialing < atOnce && n.open < n.cap {
		n.dialing++
		n.open++
		l.readers.Go(func() { l.open(n) })
	}
}

// open dials a connection of the lane and serves it.
func (l *openLoop) open(n *lane) {
	c, err := l.g.connect(n.origin)
	if err == nil {
		l.mu.Lock()
		n.dialing--
		taken := l.take(n, c)
		if !taken {
			n.free = append(n.free, c)
		}
		l.mu.Unlock()
		if taken {
			l.send(c, false)
		}
		l.serve(n, c)
		return
	}
	k := kindIndex(err)
	var without conn // in place of the connection that the next request did not get
	l.mu.Lock()
	n.dialing--
	n.open--
	if name := kinds[k]; name == ErrFiles || name == ErrPorts {
		n.cap = max(n.open, 1) // no more can be opened
	}
	charged := !l.g.killed() && l.take(n, &without)
	l.mu.Unlock()
	if charged {
		now := l.g.clock.now()
		l.g.rec.shard(0).failed(exchange{due: without.due, sent: without.sent, done: now, scheduled: true}, k)
		l.mu.Lock()
		l.inFlight--
		l.settled()
		l.grow(n)
		l.mu.Unlock()
	}
}

// send writes the request that c took. The pacer must not block, so it leaves large requests and
// TLS to another goroutine.
func (l *openLoop) send(c *conn, pacer bool) {
	if !pacer { // c's reader writes
		l.write(c)
		return
	}
	c.writing.Lock() // uncontended: c has no other request in flight
	if len(c.req.wire) < largeRequest && !l.g.origins[c.origin].https {
		l.write(c)
		c.writing.Unlock()
		return
	}
	l.readers.Go(func() {
		l.write(c)
		c.writing.Unlock()
	})
}

func (l *openLoop) write(c *conn) {
	if err := c.write(); err != nil {
		l.finish(c, 0, answer{}, err)
		c.close() // the reader records the error
	}
}

// serve reads the answers on c until it closes.
func (l *openLoop) serve(n *lane, c *conn) {
	for again := true; again; {
		before := c.rd.in
		err := c.rd.await()
		if !c.busy.Load() && l.leave(n, c) {
			return // closed while idle, or unrequested data: no request is lost
		}
		var a answer
		if err == nil {
			a, err = c.answer()
		}
		again = err == nil && !a.close
		if again {
			// The response may arrive before the pacer's write returns, or even before all of the
			// request is sent.
			c.writing.Lock()
			c.writing.Unlock() //lint:ignore SA2001 an empty section waits for the writer
		}
		again = l.finish(c, c.rd.in-before, a, err) && again
		again = l.release(n, c, again)
	}
}

// finish records the outcome of the request in flight on c, once. It returns false if the outcome
// has been recorded already.
func (l *openLoop) finish(c *conn, in int64, a answer, err error) bool {
	x := exchange{
		due: c.due, sent: c.sent, done: l.g.clock.now(),
		in: in, out: int64(len(c.req.wire)), scheduled: true,
	}
	if !c.busy.CompareAndSwap(true, false) {
		return false
	}
	out := l.g.rec.shard(c.id)
	switch {
	case err == nil:
		out.answered(x, a)
	case l.g.killed():
		out.missed(x)
	default:
		out.failed(x, kindIndex(err))
	}
	l.mu.Lock()
	l.inFlight--
	l.settled()
	l.mu.Unlock()
	return true
}

// leave removes an idle connection from the lane and closes it; false if it just got a request.
func (l *openLoop) leave(n *lane, c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.busy.Load() {
		return false
	}
	if i := slices.Index(n.free, c); i >= 0 {
		n.free = slices.Delete(n.free, i, i+1)
	}
	n.open--
	l.g.drop(c)
	l.grow(n)
	return true
}

// release gives c the next due request, or marks it as free; false if c must not be used again.
func (l *openLoop) release(n *lane, c *conn, again bool) bool {
	l.mu.Lock()
	if !again {
		n.open--
		l.grow(n)
		l.mu.Unlock()
		l.g.drop(c)
		return false
	}
	taken := l.take(n, c)
	if !taken {
		n.free = append(n.free, c)
	}
	l.mu.Unlock()
	if taken {
		l.send(c, false)
	}
	return true
}

// settled wakes the generator when no requests are left. l.mu is held.
func (l *openLoop) settled() {
	if !l.ending || l.inFlight > 0 {
		return
	}
	for i := range l.lanes {
		if _, ok := l.peek(&l.lanes[i]); ok {
			return
		}
	}
	l.g.finished()
}

// end ends the schedule now, unless it has ended before.
func (l *openLoop) end() {
	l.mu.Lock()
	l.horizon = min(l.horizon, l.g.clock.now())
	l.mu.Unlock()
	close(l.stop)
}

// settle counts requests that fell due and were never sent. It returns the end of the schedule, or
// the time of the last send if that is later. The wait for the last responses does not count: it
// would lower the measured rate.
func (l *openLoop) settle(now int64) int64 {
	l.pacer.Wait()
	l.readers.Wait()
	out := l.g.rec.shard(0)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.lanes {
		n := &l.lanes[i]
		for {
			due, ok := l.peek(n)
			if !ok || due > now {
				break
			}
			out.missed(exchange{due: due, sent: never, done: now, scheduled: true})
			if n.next++; n.next > n.seen {
				l.due++ // not yet seen by the pacer
			}
		}
	}
	end := l.horizon
	if l.g.o.MaxRequests > 0 {
		// When the request after the last one would be due.
		end = min(end, l.zero+int64(l.g.o.Schedule.Due(l.limit)))
	}
	return max(end, l.lastSent)
}

// stretch adds the requests that were sent and that fell due since the last call.
func (l *openLoop) stretch(r *Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.due += l.due
	r.sent += l.sent
	r.capped += l.capped
	r.PeakIn10ms = max(r.PeakIn10ms, l.peak.most)
	l.due, l.sent, l.capped, l.peak.most = 0, 0, 0, 0
}

// burst finds the largest number of requests in a 10 ms interval; intervals are aligned to the
// start.
type burst struct{ window, n, most int64 }

func (b *burst) add(now int64) {
	if w := now / 10e6; w != b.window {
		b.window, b.n = w, 0
	}
	b.n++
	b.most = max(b.most, b.n)
}
