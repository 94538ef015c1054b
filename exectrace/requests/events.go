package requests

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests/internal/servers"
)

// take handles an event. Events that are no longer relevant have no effect.
func (f *Fold) take(e *exectrace.Event) {
	if f.paths != nil && e.Kind <= exectrace.GoStatus {
		f.note(e)
	}
	switch e.Kind {
	case exectrace.GoStart:
		if l := f.of(e.G); l != nil {
			f.start(l, e)
		}
	case exectrace.GoBlock:
		if l := f.known(e); l != nil {
			f.block(l, e)
		}
	case exectrace.GoUnblock:
		f.unblock(e)
	case exectrace.GoSyscallBegin:
		if l := f.known(e); l != nil {
			f.beginSyscall(l, e)
		}
	case exectrace.GoSyscallEnd:
		if l := f.of(e.G); l != nil {
			f.endSyscall(l, e)
		}
	case exectrace.GoCreate:
		f.create(e)
	case exectrace.GoCreateSyscall:
		if int(e.G) < len(f.marks) && f.marks[e.G] != 0 {
			f.forget(e.G)
		}
	case exectrace.GoStatus:
		if e.From == exectrace.Unknown {
			f.found(e)
		}
	case exectrace.GoStop, exectrace.GoDestroy, exectrace.GoDestroySyscall, exectrace.GoSyscallEndLost, exectrace.GoSwitch:
		if l := f.known(e); l != nil {
			f.rareChange(l, e)
		}
	case exectrace.TaskBegin:
		f.taskBegin(e)
	case exectrace.TaskEnd:
		f.taskEnd(e)
	case exectrace.RegionBegin, exectrace.RegionEnd, exectrace.Log:
		f.annotate(e)
	default:
		f.machineEvent(e)
	}
}

// note records a transition of a goroutine for the paths, before it is taken.
func (f *Fold) note(e *exectrace.Event) {
	if int(e.G) >= len(f.live) {
		f.grow(int(e.G) + 1)
	}
	f.paths.note(f, e)
}

// known returns the request of an event's goroutine, whose stack may show that it serves requests.
func (f *Fold) known(e *exectrace.Event) *live {
	l := f.of(e.G)
	if l == nil {
		l = f.join(e)
	}
	return l
}

// The frequent kinds of transitions have a function each, which does not need to check what state
// ends, nor most of what the others check: the kinds come in random order, and the processor cannot
// predict branches on them.

// start takes a GoStart of a request's goroutine.
func (f *Fold) start(l *live, e *exectrace.Event) {
	if l.parent != nil && l.owner() == nil { // it outlived its request
		f.drop(e.G)
		return
	}
	f.chargeReady(l, e.Time, e.Was, e.Left)
	l.now = status{state: exectrace.Running}
	switch {
	case l.lost != servers.Nowhere:
		l.returned(l.lost, e.Time)
		l.lost = servers.Nowhere
	case l.phase == arriving && l.woken, l.phase == handling && l.handler < 0:
		l.readEnd = e.Time
		if l.phase == handling {
			l.handler = e.Time
		}
	}
}

// block takes a GoBlock of a request's goroutine.
func (f *Fold) block(l *live, e *exectrace.Event) {
	l.chargeRun(e.Time)
	l.now = status{e.To, e.Why, e.Stack}
	c := f.classes[e.Stack]
	switch {
	case c.forNext(e.Why):
		f.awaitNext(l, e.Time)
	case c.place == servers.WriteRest && l.phase == done && e.Why == exectrace.WaitNetwork:
		l.resume()
	default:
		f.observe(l, c, e.Time)
	}
}

// unblock takes a GoUnblock, of a request's goroutine or by one.
func (f *Fold) unblock(e *exectrace.Event) {
	f.observeBy(e)
	l := f.of(e.G)
	if l == nil {
		return
	}
	f.chargeBlocked(l, e.Time, status{e.From, e.Was, e.Left}, e.By, e.Stack)
	l.now.state, l.now.why = e.To, e.Why
	f.ready(l, e.Time)
	// A wait for memory while the head is parsed belongs to the request.
	if l.phase <= arriving && f.classes[e.Left].forNext(e.Was) {
		l.start(e.Time)
		l.woken = true
	}
}

// beginSyscall takes a GoSyscallBegin of a request's goroutine.
func (f *Fold) beginSyscall(l *live, e *exectrace.Event) {
	l.chargeRun(e.Time)
	l.now = status{e.To, e.Why, e.Stack}
	c := f.classes[e.Stack]
	switch {
	case c.place == servers.ReadHead:
		f.beginRead(l, e.Time)
	case c.place == servers.WriteRest && l.phase == done:
		l.resume()
	default:
		f.observe(l, c, e.Time)
	}
}

// endSyscall takes a GoSyscallEnd of a request's goroutine.
func (f *Fold) endSyscall(l *live, e *exectrace.Event) {
	f.chargeOff(l, e.Time, InSyscall, e.Left, 0)
	l.now = status{state: exectrace.Running}
	l.returned(f.classes[e.Left].place, e.Time)
}

// rareChange takes the other transitions, whatever state they end.
func (f *Fold) rareChange(l *live, e *exectrace.Event) {
	if was := (status{e.From, e.Was, e.Left}); e.From == exectrace.Waiting {
		f.chargeBlocked(l, e.Time, was, e.By, e.Stack)
	} else {
		f.charge(l, e.Time, was)
	}
	l.now.state, l.now.why = e.To, e.Why
	if e.By == e.G {
		l.now.left = e.Stack
	}
	if e.To == exectrace.Runnable {
		f.ready(l, e.Time)
	}
	switch e.Kind {
	case exectrace.GoStop:
		f.observe(l, f.classes[e.Stack], e.Time)
	case exectrace.GoSyscallEndLost: // it returns once it has a processor
		l.lost = f.classes[e.Left].place
	case exectrace.GoDestroy, exectrace.GoDestroySyscall:
		if l.phase >= handling {
			f.finish(l, e.Time)
		}
		l.phase = idle
		f.drop(e.G)
	}
}

// forNext reports whether a goroutine that waits at a stack of this class waits for its next
// request. One that starts a garbage collection while it reads a head waits on a channel, too.
func (c class) forNext(why exectrace.Reason) bool {
	return c.place == servers.WorkerIdle || c.place == servers.ReadHead && forData(why) && !c.gc
}

// forData reports whether a goroutine that reads a request's head waits for the client: on a
// socket, or on whatever an in-memory connection is made of.
func forData(why exectrace.Reason) bool {
	const reasons = 1<<exectrace.WaitNetwork | 1<<exectrace.WaitSelect | 1<<exectrace.WaitChanReceive | 1<<exectrace.WaitCond
	return reasons>>why&1 != 0
}

// beginRead starts a request, as far as is known, at a read of the connection.
func (f *Fold) beginRead(l *live, now int64) {
	if l.phase >= handling {
		f.finish(l, now)
	}
	if l.phase != arriving || !l.woken {
		l.start(now)
	}
	l.woken, l.known = false, true
}

// awaitNext ends the request of a goroutine that waits for the next one.
func (f *Fold) awaitNext(l *live, now int64) {
	if l.protocol == GRPC && l.phase == arriving { // a worker is woken for nothing else
		f.confirm(l, class{}, now)
	}
	if l.phase >= handling {
		f.finish(l, now)
	}
	l.reset()
}

// observeBy takes what the stack of an Unblock or Create shows about the goroutine that did it.
func (f *Fold) observeBy(e *exectrace.Event) {
	c := f.classes[e.Stack]
	if c.place == servers.Nowhere || e.By == e.G {
		return
	}
	if l := f.of(e.By); l != nil {
		l.chargeRun(e.Time)
		f.observe(l, c, e.Time)
	}
}
