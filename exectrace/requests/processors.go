package requests

import "github.com/hone-go/hone/exectrace"

// machine takes the events that say whether a processor is free. It adds up two clocks: how long
// the world was stopped, and how long a processor was idle while it was not. The difference of a
// clock between the time at which a goroutine becomes ready and that at which it runs says how much
// of its wait was of which kind.
func (f *Fold) machine(e *exectrace.Event) {
	if e.P >= 0 && int(e.P) < len(f.procs) && isProc(e.Kind) && f.procs[e.P] == (e.To == exectrace.Idle) {
		return // nothing new
	}
	had := f.idles()
	total := f.idleUntil(e.Time)
	switch e.Kind {
	case exectrace.STWBegin:
		if !f.stopping {
			f.stopping, f.stoppedSince = true, e.Time
		}
	case exectrace.STWEnd:
		f.stoppedTotal = f.stoppedUntil(e.Time)
		f.stopping = false
	case exectrace.ProcsChange:
		f.limit = int(min(e.Value, 1<<20))
		f.countIdle()
	default:
		f.proc(e)
	}
	if has := f.idles(); had != has {
		f.idleTotal, f.idleSince = total, e.Time
	}
}

func isProc(k exectrace.Kind) bool {
	return k == exectrace.ProcStart || k == exectrace.ProcStop || k == exectrace.ProcSteal || k == exectrace.ProcStatus
}

// idles reports whether an idle processor could run something.
func (f *Fold) idles() bool { return f.idle > 0 && !f.stopping }

// stoppedUntil returns how long the world was stopped, from the start of the trace to now.
func (f *Fold) stoppedUntil(now int64) int64 {
	if f.stopping {
		return f.stoppedTotal + now - f.stoppedSince
	}
	return f.stoppedTotal
}

// idleUntil returns how long some processor was idle, from the start of the trace to now.
func (f *Fold) idleUntil(now int64) int64 {
	if f.idles() {
		return f.idleTotal + now - f.idleSince
	}
	return f.idleTotal
}

func (f *Fold) proc(e *exectrace.Event) {
	if e.P < 0 {
		return
	}
	for int(e.P) >= len(f.procs) {
		f.procs = append(f.procs, false)
	}
	is := e.To == exectrace.Idle
	if f.procs[e.P] == is {
		return
	}
	f.procs[e.P] = is
	switch {
	case f.limit > 0 && int(e.P) >= f.limit: // left over from before GOMAXPROCS fell
	case is:
		f.idle++
	default:
		f.idle--
	}
}

func (f *Fold) countIdle() {
	f.idle = 0
	for p, is := range f.procs {
		if is && (f.limit == 0 || p < f.limit) {
			f.idle++
		}
	}
}

// forgetMachine starts again after a gap. The clocks continue: only their differences count.
func (f *Fold) forgetMachine() {
	f.stopping = false
	clear(f.procs)
	f.idle = 0
}
