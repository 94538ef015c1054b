package requests

import "github.com/hone-go/hone/exectrace"

// phase is how far a request has come.
type phase uint8

const (
	idle     phase = iota // no request: before the first byte
	arriving              // something was read, or woke the connection: a request, if a handler follows
	handling
	finishing // the handler has returned
	done      // the response is written, as far as known
)

// maxWaits is how many different waits of one request are told apart. The rest are
// summed without their lines.
const maxWaits = 48

// wait is one kind of being off the processor, of one request.
type wait struct {
	part   Part
	busy   bool // ready: while no processor was idle
	n      int32
	waiter exectrace.StackID // where the goroutine left the processor
	waker  exectrace.StackID // who made it go on; 0 when nobody did
	ns     int64
}

// live is the request of one goroutine, used again for the connection's next.
type live struct {
	protocol Protocol
	phase    phase
	depth    uint8 // of the class that named the route
	assist   bool
	sweep    bool
	woken    bool  // begin is a wake-up, and nothing was read since
	cut      bool  // it began before the trace did
	known    bool  // the goroutine was seen before this request
	lost     place // of a system call that is over, but for a processor to return on
	begun    bool  // begin is known
	name     uint16
	g        exectrace.GIndex
	goid     uint64
	id       int64 // of the request; 0 until it is one
	task     uint64
	taskName string

	begin, handler, handled, end int64 // handler: its begin; handled: its end; -1 when not seen
	readEnd                      int64 // of the last read of the connection
	accounted                    int64 // the time up to which parts are complete
	previous                     int64 // what accounted was before the last event
	stopped, idled               int64 // what stoppedUntil and idleUntil said when it became ready

	parts breakdown // up to end
	rest  breakdown // since end, when phase is done
	waits []wait
	kept  int // how many of waits are of parts, when phase is done

	samples []exectrace.StackID // CPU samples
	regions []region
	beyond  int // open regions that did not go into regions

	now exectrace.Event // what it does since the last event: From, Was, Left
}

// reset forgets the request, not the goroutine.
func (l *live) reset() {
	l.phase, l.depth, l.name = idle, 0, 0
	l.woken, l.cut, l.begun = false, false, false
	l.id, l.task, l.taskName = 0, 0, ""
	l.waits, l.samples, l.kept = l.waits[:0], l.samples[:0], 0
	l.regions, l.beyond = l.regions[:0], 0
}

// start begins to account for a request, which may turn out to be none.
func (l *live) start(now int64) {
	l.reset()
	l.phase = arriving
	l.begun = true
	l.begin, l.accounted, l.readEnd = now, now, now
	l.handler, l.handled, l.end = -1, -1, -1
	l.parts = breakdown{}
}

// charge accounts for the time up to now, in which the goroutine was in a state.
func (f *Fold) charge(l *live, now int64, e *exectrace.Event) {
	d := now - l.accounted
	l.previous, l.accounted = l.accounted, now
	if !l.begun || l.phase == idle {
		return
	}
	to := &l.parts
	if l.phase == done {
		to = &l.rest
	}
	p := f.partOf(e)
	if p == Running {
		switch {
		case l.assist:
			p = Assist
		case l.sweep:
			p = Sweep
		}
		to[p] += d
		return
	}
	if p.ready() {
		stopped := min(f.stoppedUntil(now)-l.stopped, d)
		to[Stopped] += stopped
		to[p] += d - stopped
		idled := min(f.idleUntil(now)-l.idled, d-stopped)
		if idled > 0 {
			l.wait(p, false, e.Left, 0, idled)
		}
		if busy := d - stopped - idled; busy > 0 || idled == 0 {
			l.wait(p, true, e.Left, 0, busy)
		}
		f.ready(l, now)
		return
	}
	to[p] += d
	var waker exectrace.StackID
	if e.Kind == exectrace.GoUnblock {
		waker = e.Stack
	}
	l.wait(p, false, e.Left, waker, d)
}

// partOf is the part that a goroutine leaves at an event.
func (f *Fold) partOf(e *exectrace.Event) Part {
	p := f.parts.of(e.From, e.Was)
	if p == WaitSync && f.classes[e.Left].gc {
		return WaitGC
	}
	return p
}

// ready notes what the machine has done up to now, when the goroutine became ready.
func (f *Fold) ready(l *live, now int64) {
	l.stopped, l.idled = f.stoppedUntil(now), f.idleUntil(now)
}

// wait notes a time off the processor.
func (l *live) wait(p Part, busy bool, waiter, waker exectrace.StackID, d int64) {
	from := 0
	if l.phase == done {
		from = l.kept
	}
	for i := from; i < len(l.waits); i++ {
		if w := &l.waits[i]; w.waiter == waiter && w.waker == waker && w.part == p && w.busy == busy {
			w.n++
			w.ns += d
			return
		}
	}
	if len(l.waits)-from >= maxWaits && (waiter != 0 || waker != 0) {
		l.wait(p, busy, 0, 0, d)
		return
	}
	l.waits = append(l.waits, wait{part: p, busy: busy, n: 1, waiter: waiter, waker: waker, ns: d})
}

// pause says that the response seems to be written.
func (l *live) pause(now int64) {
	l.phase = done
	l.end = now
	l.kept = len(l.waits)
	l.rest = breakdown{}
}

// resume says that it was not.
func (l *live) resume() {
	l.phase = finishing
	l.parts.add(&l.rest)
	late := l.waits[l.kept:]
	l.waits = l.waits[:l.kept]
	for _, w := range late { // never longer than what is read: it overwrites only what it has read
		l.merge(w)
	}
}

func (l *live) merge(o wait) {
	for i := range l.waits {
		if w := &l.waits[i]; w.waiter == o.waiter && w.waker == o.waker && w.part == o.part && w.busy == o.busy {
			w.n += o.n
			w.ns += o.ns
			return
		}
	}
	l.waits = append(l.waits, o)
}

// returned says that a system call at a place has returned to the program.
func (l *live) returned(from place, now int64) {
	switch {
	case from == h1Read:
		l.readEnd = now
	case from == h1Finish && l.phase == finishing:
		l.pause(now)
	}
}

// see takes what a stack of the goroutine tells, at an event in which it ran.
func (f *Fold) see(l *live, c class, now int64) {
	switch c.place {
	case h1Start, inHandler:
		if l.protocol == HTTP1 && l.phase >= finishing { // the next request was read along with the last one
			f.finish(l, now)
			f.unread(l, now)
		}
	case h1Finish, streamDone:
	case h1After:
		if l.phase == handling || l.phase == finishing {
			l.pause(now)
		}
		return
	default:
		return
	}
	if l.phase == idle {
		f.unread(l, now)
	}
	if l.phase == arriving {
		f.confirm(l, c, now)
	}
	switch c.place {
	case inHandler:
		if c.name != 0 && (l.name == 0 || c.depth > l.depth) {
			l.name, l.depth = c.name, c.depth
		}
	case h1Finish, streamDone:
		if l.phase == handling {
			l.phase, l.handled = finishing, now
		}
	}
}

// unread begins a request that was not read on its own. It begins at the last event before: a
// read that brought it along, of another request or of the TLS handshake, or the last write.
func (f *Fold) unread(l *live, now int64) {
	if !l.known { // the trace began in the middle of it
		l.start(now)
		l.begun, l.cut = false, true
		return
	}
	begin := l.previous
	l.start(begin)
	l.accounted = now
	l.parts[Running] = now - begin // an event in between would have been the last
}

// confirm says that what arrives is a request.
func (f *Fold) confirm(l *live, c class, now int64) {
	f.nextID++
	l.id = f.nextID
	l.phase = handling
	l.known = true
	l.handler = l.readEnd
	if c.place == h1Start {
		l.handler = now
	}
}
