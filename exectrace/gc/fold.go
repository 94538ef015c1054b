package gc

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
)

// maxCycles bounds the cycles that are kept individually; sums include all.
const maxCycles = 1000

// Fold follows the garbage collector. The zero value is ready to use.
type Fold struct {
	trace *exectrace.Trace
	procs int

	cycles  []Cycle
	count   int64
	gcTime  int64
	inGC    bool
	begun   int64
	heap    heap
	stopped stop
	stops   map[string]*Stop

	assists     map[exectrace.StackID]*assist
	open        map[exectrace.GIndex]openAssist
	assistTotal assist

	special []bool                    // by GIndex: the goroutine may be in workers or open
	workers map[exectrace.GIndex]bool // goroutines that mark, dedicated or fractional
	marking int                       // number of workers
	helping int                       // number of goroutines that assist and run
	sweepN  int64
	swept   uint64
	mmu     *mmu
	length  int64
}

// heap follows the size of the heap.
type heap struct {
	alloc, goal  uint64
	seen         bool
	low, high    uint64 // in the whole trace
	highGoal     uint64
	grown        uint64 // sum of all increases: bytes allocated, as far as the counter shows
	first        int64
	last         int64
	bottom, peak uint64 // since the end of the last cycle
}

// stop is the current stop of the world.
type stop struct {
	on     bool
	reason string
	begun  int64
	last   int64             // when a goroutine last left a processor during it
	late   exectrace.StackID // stack of that goroutine
}

type assist struct{ n, total, ran, max int64 }

type openAssist struct {
	stack exectrace.StackID
	begun int64
	ran   int64 // running time up to since
	since int64 // when its goroutine started to run; notRunning
}

const notRunning = -1

func (f *Fold) begin(t *exectrace.Trace) {
	f.trace = t
	f.stops = map[string]*Stop{}
	f.assists = map[exectrace.StackID]*assist{}
	f.open = map[exectrace.GIndex]openAssist{}
	f.workers = map[exectrace.GIndex]bool{}
	f.mmu = newMMU()
}

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	if f.trace == nil {
		f.begin(t)
	}
	from := 0
	for _, i := range b.Rare {
		if wanted[b.Events[i].Kind] {
			f.between(b.Events[from:i])
			f.event(t, &b.Events[i])
			from = int(i) + 1
		}
	}
	f.between(b.Events[from:])
}

// wanted holds the kinds of events that event handles.
var wanted = [256]bool{
	exectrace.ProcsChange: true, exectrace.HeapAlloc: true, exectrace.HeapGoal: true,
	exectrace.GCBegin: true, exectrace.GCActive: true, exectrace.GCEnd: true,
	exectrace.STWBegin: true, exectrace.STWEnd: true,
	exectrace.GCMarkAssistBegin: true, exectrace.GCMarkAssistActive: true, exectrace.GCMarkAssistEnd: true,
	exectrace.GCSweepEnd: true, exectrace.GoLabel: true, exectrace.Gap: true,
}

// between looks at the events between two wanted ones. They matter while the collector works:
// goroutines that start and stop running change the utilization.
func (f *Fold) between(events []exectrace.Event) {
	if !f.stopped.on && len(f.workers) == 0 && len(f.open) == 0 {
		return
	}
	for i := range events {
		e := &events[i]
		if f.stopped.on && e.From == exectrace.Running && e.By == e.G && e.Kind < exectrace.GoStatus {
			f.stopped.last, f.stopped.late = e.Time, e.Stack
		}
		if int64(e.G) < int64(len(f.special)) && f.special[e.G] && e.Kind <= exectrace.GoStatus && e.From != e.To {
			f.moved(e) // few goroutines get here: a map access for each would take longer than all the rest
		}
	}
}

// moved updates the number of processors that work for the collector.
func (f *Fold) moved(e *exectrace.Event) {
	worker := f.workers[e.G]
	o, helps := f.open[e.G]
	if !worker && !helps {
		f.special[e.G] = false
		return
	}
	before := f.marking + f.helping
	if worker && e.From == exectrace.Running { // the label is set again at each start
		delete(f.workers, e.G)
		f.marking--
	}
	if helps {
		if e.To == exectrace.Running {
			f.helps(&o, e.Time)
		} else {
			f.rests(&o, e.Time)
		}
		f.open[e.G] = o
	}
	if e.To == exectrace.Gone {
		delete(f.open, e.G)
	}
	if f.marking+f.helping != before {
		f.utilize(e.Time)
	}
}

// helps and rests record that the goroutine of an assist starts and stops running.
func (f *Fold) helps(o *openAssist, now int64) {
	if o.since == notRunning {
		o.since = now
		f.helping++
	}
}

func (f *Fold) rests(o *openAssist, now int64) {
	if o.since != notRunning {
		o.ran += now - o.since
		o.since = notRunning
		f.helping--
	}
}

// mark marks a goroutine as special.
func (f *Fold) mark(g exectrace.GIndex) {
	if g == exectrace.NoG {
		return
	}
	for int64(g) >= int64(len(f.special)) {
		f.special = append(f.special, make([]bool, max(256, len(f.special)))...)
	}
	f.special[g] = true
}

// utilize records the share of the processors that the program has from now on.
func (f *Fold) utilize(now int64) {
	u := 1.0
	switch {
	case f.stopped.on:
		u = 0
	case f.procs > 0:
		u = max(0, 1-float64(f.marking+f.helping)/float64(f.procs))
	}
	f.mmu.set(now, u)
}

func (f *Fold) event(t *exectrace.Trace, e *exectrace.Event) {
	switch e.Kind {
	case exectrace.ProcsChange:
		f.procs = int(e.Value)
	case exectrace.HeapAlloc:
		f.heap.see(e.Value, e.Time)
	case exectrace.HeapGoal:
		f.heap.goal, f.heap.highGoal = e.Value, max(f.heap.highGoal, e.Value)
	case exectrace.GCBegin, exectrace.GCActive:
		if !f.inGC {
			f.inGC, f.begun = true, e.Time
		}
	case exectrace.GCEnd:
		f.endCycle(e.Time)
	case exectrace.STWBegin:
		f.stopped = stop{on: true, reason: t.ReasonName(e, e.Why), begun: e.Time}
		f.utilize(e.Time)
	case exectrace.STWEnd:
		f.endStop(e.Time)
	case exectrace.GCMarkAssistBegin, exectrace.GCMarkAssistActive:
		if _, ok := f.open[e.G]; !ok {
			f.mark(e.G)
			o := openAssist{stack: e.Stack, begun: e.Time, since: notRunning}
			if e.By == e.G { // otherwise the goroutine waits, and a new generation repeats its status
				f.helps(&o, e.Time)
			}
			f.open[e.G] = o
			f.utilize(e.Time)
		}
	case exectrace.GCMarkAssistEnd:
		f.endAssist(e)
	case exectrace.GCSweepEnd:
		f.sweepN++
		f.swept += e.Value
	case exectrace.GoLabel:
		// As in runtime/traceruntime.go: a mark worker sets a label with its mode each time it
		// starts. Idle workers use time that nothing else needs.
		if l := t.Annotation(e).Name; strings.HasPrefix(l, "GC (") && l != "GC (idle)" && e.G != exectrace.NoG && !f.workers[e.G] {
			f.mark(e.G)
			f.workers[e.G] = true
			f.marking++
			f.utilize(e.Time)
		}
	case exectrace.Gap:
		f.gap(e.Time)
	}
}

func (h *heap) see(alloc uint64, now int64) {
	if !h.seen {
		*h = heap{goal: h.goal, highGoal: h.highGoal, alloc: alloc, seen: true, low: alloc, high: alloc, first: now, last: now, bottom: alloc, peak: alloc}
		return
	}
	if alloc > h.alloc {
		h.grown += alloc - h.alloc
	}
	h.alloc, h.last = alloc, now
	h.low, h.high = min(h.low, alloc), max(h.high, alloc)
	h.bottom, h.peak = min(h.bottom, alloc), max(h.peak, alloc)
}

func (f *Fold) endCycle(now int64) {
	if !f.inGC {
		return
	}
	f.inGC = false
	f.count++
	f.gcTime += now - f.begun
	if len(f.cycles) < maxCycles {
		f.cycles = append(f.cycles, Cycle{Begin: exectrace.Seconds(f.begun), Seconds: exectrace.Seconds(now - f.begun),
			Peak: f.heap.peak, Bottom: f.heap.bottom, Goal: f.heap.goal})
	}
	f.heap.peak, f.heap.bottom = f.heap.alloc, f.heap.alloc
}

func (f *Fold) endStop(now int64) {
	if !f.stopped.on {
		return
	}
	s := f.stops[f.stopped.reason]
	if s == nil {
		s = &Stop{Reason: f.stopped.reason}
		f.stops[s.Reason] = s
	}
	d := exectrace.Seconds(now - f.stopped.begun)
	s.Count++
	s.Seconds += d
	if d > s.Max {
		s.Max, s.WorstAt = d, exectrace.Seconds(f.stopped.begun)
		s.Stopping, s.Late = 0, exectrace.Line{}
		if f.stopped.last > 0 {
			s.Stopping, s.Late = exectrace.Seconds(f.stopped.last-f.stopped.begun), f.trace.Blame(f.stopped.late)
		}
	}
	f.stopped = stop{}
	f.utilize(now)
}

func (f *Fold) endAssist(e *exectrace.Event) {
	o, ok := f.open[e.G]
	if !ok {
		return
	}
	delete(f.open, e.G)
	f.rests(&o, e.Time)
	f.utilize(e.Time)
	a := f.assists[o.stack]
	if a == nil {
		a = new(assist)
		f.assists[o.stack] = a
	}
	a.add(e.Time-o.begun, o.ran)
	f.assistTotal.add(e.Time-o.begun, o.ran)
}

func (a *assist) add(d, ran int64) {
	a.n++
	a.total += d
	a.ran += ran
	a.max = max(a.max, d)
}

// gap forgets what was open.
func (f *Fold) gap(now int64) {
	clear(f.open)
	clear(f.workers)
	f.marking, f.helping, f.inGC = 0, 0, false
	f.stopped = stop{}
	f.utilize(now)
}

// End closes the last interval.
func (f *Fold) End(t *exectrace.Trace) {
	if f.trace == nil {
		f.begin(t)
	}
	f.length = t.Now()
	f.mmu.pass(f.length, true)
}
