package requests

import "github.com/hone-go/hone/exectrace"

// status is what a goroutine does, as an Event describes the state that it ends.
type status struct {
	state exectrace.State
	why   exectrace.Reason
	left  exectrace.StackID
}

// charge accounts for the time up to now, in which the goroutine was in one state.
func (f *Fold) charge(l *live, now int64, was status) {
	switch was.state {
	case exectrace.Running:
		l.chargeRun(now)
	case exectrace.Runnable:
		f.chargeReady(l, now, was.why, was.left)
		f.ready(l, now)
	default:
		f.chargeBlocked(l, now, was, exectrace.NoG, 0)
	}
}

// until returns the time since the goroutine's last event, and makes now its last event.
func (l *live) until(now int64) int64 {
	if l.parent != nil {
		l.split()
	}
	d := now - l.accounted
	l.previous, l.accounted = l.accounted, now
	return d
}

// sums returns the breakdown that time is added to now.
func (l *live) sums() *breakdown {
	if l.phase == done {
		return &l.rest
	}
	return &l.parts
}

// chargeRun accounts for the time up to now, in which the goroutine ran.
func (l *live) chargeRun(now int64) {
	d := l.until(now)
	if l.begun {
		l.sums()[l.work] += d
	}
}

// setWork sets the part that running counts as from now on.
func (l *live) setWork() {
	switch {
	case l.assist:
		l.work = Assist
	case l.sweep:
		l.work = Sweep
	default:
		l.work = Running
	}
}

// chargeReady accounts for the time up to now, in which the goroutine waited for a processor.
func (f *Fold) chargeReady(l *live, now int64, why exectrace.Reason, left exectrace.StackID) {
	d := l.until(now)
	if !l.begun {
		return
	}
	p, to := f.parts.of(exectrace.Runnable, why), l.sums()
	stopped := min(f.stoppedUntil(now)-l.stopped, d)
	to[Stopped] += stopped
	to[p] += d - stopped
	idled := min(f.idleUntil(now)-l.idled, d-stopped)
	if idled > 0 {
		l.wait(p, false, left, 0, idled)
	}
	if busy := d - stopped - idled; busy > 0 || idled == 0 {
		l.wait(p, true, left, 0, busy)
	}
}

// chargeBlocked accounts for the time up to now, in which the goroutine was blocked or in a system
// call. by is the goroutine that ended that, if any.
func (f *Fold) chargeBlocked(l *live, now int64, was status, by exectrace.GIndex, waker exectrace.StackID) {
	if d := f.awaited(l, by, was.why); d != nil {
		f.chargeAwaited(l, d, now)
		return
	}
	f.chargeOff(l, now, f.partOf(was.state, was.why, was.left), was.left, waker)
}

// chargeOff accounts for the time up to now, in which the goroutine was blocked or in a system
// call.
func (f *Fold) chargeOff(l *live, now int64, p Part, left, waker exectrace.StackID) {
	d := l.until(now)
	if l.begun {
		l.sums()[p] += d
		l.wait(p, false, left, waker, d)
	}
}

// partOf returns the part of the time that an event ends.
func (f *Fold) partOf(s exectrace.State, why exectrace.Reason, left exectrace.StackID) Part {
	p := f.parts.of(s, why)
	if (p == WaitSync || p == WaitChanReceive) && f.classes[left].gc {
		return WaitGC
	}
	return p
}

// ready records the clocks of the machine when the goroutine becomes ready.
func (f *Fold) ready(l *live, now int64) {
	l.stopped, l.idled = f.stoppedUntil(now), f.idleUntil(now)
}
