package parallelism

import "github.com/hone-go/hone/exectrace"

// transition is how a transition of one of the program's goroutines changes the counts.
type transition struct {
	running, ready int
	waited         int      // 1: the goroutine stops waiting for a processor
	calls          int64    // system calls
	swaps          int64    // all bits set when it gets or leaves a processor, else 0
	stops          int64    // all bits set when it leaves a processor, else 0
	_              [2]int64 // pads the transition to 64 bytes, so that indexing is a shift
}

// transitions holds the transitions of the most frequent kinds of events.
var transitions = [256]transition{
	exectrace.GoStart:          {running: 1, ready: -1, waited: 1, swaps: -1},
	exectrace.GoDestroy:        {running: -1, swaps: -1, stops: -1},
	exectrace.GoDestroySyscall: {},
	exectrace.GoStop:           {running: -1, ready: 1, swaps: -1, stops: -1},
	exectrace.GoBlock:          {running: -1, swaps: -1, stops: -1},
	exectrace.GoUnblock:        {ready: 1},
	exectrace.GoSyscallBegin:   {running: -1, swaps: -1, stops: -1, calls: 1},
	exectrace.GoSyscallEnd:     {running: 1, swaps: -1},
	exectrace.GoSyscallEndLost: {ready: 1},
}

// chunk is the number of events that take handles at a time.
const chunk = 256

// take handles at most chunk events, up to the first that this loop does not support, and returns
// how many it handled.
//
// With several threads, the processor cannot predict the kind of the next event, and each
// misprediction costs more than the work. So the loop does the same for all kinds, with the
// differences in a table; the result is that of move. The loop calls no functions, because calls
// would spill its registers.
func (f *Fold) take(events []exectrace.Event) (n int) {
	waited := f.waited
	for n = range events {
		e := &events[n]
		if e.Kind-exectrace.GoStart >= exectrace.GoSwitch-exectrace.GoStart {
			if e.Kind-exectrace.GoLabel <= exectrace.Log-exectrace.GoLabel { // annotations do not matter here
				continue
			}
			f.waited = waited
			return n
		}
		k, p := cellAt(f.running, f.ready), int(e.P)+1
		if uint(k) >= uint(len(f.cells)) || uint(p) >= uint(len(f.alone0)) || int64(e.G) >= int64(len(f.gs)) {
			f.waited = waited
			return n
		}
		c, g, from, t := &f.cells[k], &f.gs[e.G], &f.alone0[p], &transitions[e.Kind]
		d := e.Time - f.now
		serial := f.serialTotal + d&c.alone
		alone := (serial - *from) & t.swaps
		if g.state != e.From || c.version != f.version || f.now-f.tail.since >= c.patience || (alone|f.tail.drained)&t.stops != 0 {
			f.waited = waited
			return n
		}
		c.ns += d
		f.serialTotal = serial
		f.tail.since = min(f.tail.since, f.now) | c.over
		f.now = e.Time
		*from += alone
		f.calls += t.calls
		f.waits[waited&(2*chunk-1)] = (e.Time - e.Since) ^ int64(g.idleP)
		waited += t.waited
		g.state, g.idleP = e.To, f.spare()
		f.running += t.running
		f.ready += t.ready
	}
	f.waited = waited
	return len(events)
}

// record records how long the goroutines that got a processor since the last record waited for it.
// The values are in nanoseconds, with all bits inverted if a processor was idle.
func (f *Fold) record() {
	var n [2]int
	for _, ns := range f.waits[:f.waited] {
		idle := ns >> 63
		f.latency[idle&1][n[idle&1]&(2*chunk-1)] = ns ^ idle
		n[idle&1]++
	}
	f.saturated.RecordAll(f.latency[0][:n[0]])
	f.wakeup.RecordAll(f.latency[1][:n[1]])
	f.waited = 0
}
