package requests

import "github.com/hone-go/hone/exectrace"

// status is what a goroutine does: what an Event says of the state that it ends.
type status struct {
	state exectrace.State
	why   exectrace.Reason
	left  exectrace.StackID
}

// charge accounts for the time up to now, in which the goroutine was in a state.
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

// until returns how long the time is from the last event of a goroutine, which it moves to now.
func (l *live) until(now int64) int64 {
	if l.parent != nil {
		l.split()
	}
	d := now - l.accounted
	l.previous, l.accounted = l.accounted, now
	return d
}

// sums returns the sums that the time now goes into.
func (l *live) sums() *breakdown {
	if l.phase == done {
		return &l.rest
	}
	return &l.parts
}

// ran accounts for the time up to now, in which the goroutine ran.
func (l *live) chargeRun(now int64) {
	d := l.until(now)
	if l.begun {
		l.sums()[l.work] += d
	}
}

// setWork says what part running is from now on.
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

// wasReady accounts for the time up to now, in which the goroutine waited for a processor.
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

// off accounts for the time up to now, in which the goroutine was blocked or in a system call until another, or nobody,
// ended that.
func (f *Fold) chargeBlocked(l *live, now int64, was status, by exectrace.GIndex, waker exectrace.StackID) {
	if d := f.awaited(l, by, was.why); d != nil {
		f.chargeAwaited(l, d, now)
		return
	}
	f.chargeOff(l, now, f.partOf(was.state, was.why, was.left), was.left, waker)
}

// wasOff accounts for the time up to now, in which the goroutine was blocked or in a system call.
func (f *Fold) chargeOff(l *live, now int64, p Part, left, waker exectrace.StackID) {
	d := l.until(now)
	if l.begun {
		l.sums()[p] += d
		l.wait(p, false, left, waker, d)
	}
}

// partOf is the part that a goroutine leaves at an event.
func (f *Fold) partOf(s exectrace.State, why exectrace.Reason, left exectrace.StackID) Part {
	p := f.parts.of(s, why)
	if (p == WaitSync || p == WaitChanReceive) && f.classes[left].gc {
		return WaitGC
	}
	return p
}

// ready notes what the machine has done up to now, when the goroutine became ready.
func (f *Fold) ready(l *live, now int64) {
	l.stopped, l.idled = f.stoppedUntil(now), f.idleUntil(now)
}
