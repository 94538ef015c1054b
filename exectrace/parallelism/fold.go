package parallelism

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/histogram"
)

// Fold follows which goroutines run. The zero value is ready to use.
type Fold struct {
	trace *exectrace.Trace
	procs int // the current GOMAXPROCS
	most  int
	idle  int // processors without work
	ps    []procState
	gs    []goroutine
	roots []whose // by first stack

	helpers map[exectrace.GIndex]bool // goroutines in an assist, running or not

	now     int64 // time up to which everything is counted
	running int   // goroutines of the program that run
	ready   int   // goroutines of the program that are ready
	workers int   // goroutines of the runtime that run

	// alone0 is the value of serialTotal when a goroutine started to run on a processor, by 1 + P.
	// serialTotal advances only while one goroutine runs alone, so its increase since then is the
	// time that the goroutine ran alone.
	alone0 []int64

	cells   []cell              // by 2 × running, + 1 when some are ready
	version int64               // number of changes of the numbers that cells depend on
	calls   int64               // system calls that are not counted yet
	waits   [2 * chunk]int64    // latencies since the last record
	waited  int                 // number of entries in waits
	latency [2][2 * chunk]int64 // the same, by whether a processor was idle

	busy      []int64 // nanoseconds with k running goroutines of the program
	procd     []int64 // nanoseconds with k busy processors
	procSince int64   // time up to which procd is counted
	held      int64   // nanoseconds with a ready goroutine while fewer goroutines run than there are processors

	serial        map[exectrace.StackID]*serialSum
	serialTotal   int64
	serialUnnamed int64
	samples       map[exectrace.StackID]int64 // CPU samples in serial time
	tail          tail
	marking       marking

	saturated, wakeup *histogram.Histogram // scheduling latency, by whether a processor was idle
	length            int64
}

// goroutine is small, so that those of thousands of goroutines stay in the L1 cache.
type goroutine struct {
	state   exectrace.State // with foreign, unless the goroutine is the program's
	runtime bool
	unknown bool // it is not known yet whether it is the runtime's
	idleP   int8 // -1: a processor was idle when it became ready, and no other goroutine was ready
}

// foreign marks the state of a goroutine that is not the program's, that may not be, or that is in
// an assist: move handles its events.
const foreign exectrace.State = 1 << 7

// procState says whether a processor has work.
type procState uint8

const (
	unseen procState = iota
	works
	idles
)

// whose says whether a goroutine is the program's or the runtime's.
type whose uint8

const (
	notAsked whose = iota
	programs
	runtimes
)

type serialSum struct {
	total int64
	n     int64
}

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	if f.trace == nil {
		f.begin(t)
	}
	for events := b.Events; len(events) > 0; {
		n := f.take(events[:min(len(events), chunk)])
		if f.waited >= chunk {
			f.record()
		}
		if n < min(len(events), chunk) {
			f.other(&events[n])
			n++
		}
		events = events[n:]
	}
}

// other handles an event that take does not.
func (f *Fold) other(e *exectrace.Event) {
	f.pass(e.Time)
	switch {
	case e.Kind > exectrace.GoStatus:
		f.rare(e)
	case e.G != exectrace.NoG && e.From != e.To:
		f.grow(e)
		g := &f.gs[e.G]
		if g.state&^foreign == e.From && !g.runtime && !g.unknown {
			f.calls += transitions[e.Kind].calls
		}
		f.move(g, e)
	}
}

// pass counts the time up to now under the current state.
func (f *Fold) pass(now int64) {
	if d := now - f.now; d > 0 {
		k := cellAt(f.running, f.ready)
		if k >= len(f.cells) || f.cells[k].version != f.version {
			f.renew(k)
		}
		c := &f.cells[k]
		c.ns += d
		f.serialTotal += d & c.alone
		if f.now-f.tail.since >= c.patience {
			f.tail.pass(f, f.now, d)
		} else {
			f.tail.since = min(f.tail.since, f.now) | c.over
		}
		f.now = now
	}
}

func (f *Fold) begin(t *exectrace.Trace) {
	f.trace, f.version, f.tail.since = t, 1, notFull
	f.helpers = map[exectrace.GIndex]bool{}
	f.serial, f.samples = map[exectrace.StackID]*serialSum{}, map[exectrace.StackID]int64{}
	f.saturated, f.wakeup = histogram.New(), histogram.New()
}

// spare returns -1 when a processor is idle and no other goroutine is ready, else 0.
func (f *Fold) spare() int8 { return int8(int64(f.ready-f.idle) >> 63) }

// grow extends the tables to the goroutine and the processor of an event.
//
//go:noinline
func (f *Fold) grow(e *exectrace.Event) {
	if n := len(f.gs); int64(e.G) >= int64(n) {
		f.gs = append(f.gs, make([]goroutine, max(256, n, int(e.G)+1-n))...)
	}
	f.aloneAt(e.P)
}

// recordReady records how long a goroutine that gets a processor was ready.
func (f *Fold) recordReady(g *goroutine, e *exectrace.Event) {
	h := f.saturated
	if g.idleP < 0 {
		h = f.wakeup
	}
	h.Record(e.Time - e.Since)
}

// run counts a goroutine of the program that starts to run.
func (f *Fold) run(g *goroutine, e *exectrace.Event) {
	g.state = exectrace.Running
	*f.aloneAt(e.P) = f.serialTotal
	f.running++
}

// makeReady counts a goroutine of the program that becomes ready.
func (f *Fold) makeReady(g *goroutine, e *exectrace.Event) {
	g.state, g.idleP = exectrace.Runnable, f.spare()
	f.ready++
}

// rare handles events that are not transitions of goroutines.
func (f *Fold) rare(e *exectrace.Event) {
	switch {
	case e.Kind <= exectrace.ProcStatus:
		f.proc(e)
	case e.Kind == exectrace.ProcsChange:
		f.procs = int(e.Value)
		f.most = max(f.most, f.procs)
		f.version++
	case e.Kind == exectrace.CPUSample:
		if f.alone() && f.runs(e.G) {
			f.samples[e.Stack]++
		}
		f.marking.sample(f.own(e.G))
	case e.Kind >= exectrace.GCActive && e.Kind <= exectrace.GCEnd:
		f.settle()
		f.marking.see(e)
	case e.Kind >= exectrace.GCMarkAssistActive && e.Kind <= exectrace.GCMarkAssistEnd:
		f.assist(e)
	case e.Kind == exectrace.HeapAlloc:
		f.marking.see(e)
	case e.Kind == exectrace.Gap:
		f.settle()
		f.marking.forget()
		f.passProcs(e.Time)
		f.reset()
	}
}

// assist follows which goroutines assist the garbage collector. A new generation repeats the event
// of an assist that is open.
func (f *Fold) assist(e *exectrace.Event) {
	helps := e.Kind != exectrace.GCMarkAssistEnd
	if e.G == exectrace.NoG || helps == f.helpers[e.G] {
		return
	}
	f.grow(e)
	g := &f.gs[e.G]
	if helps {
		f.helpers[e.G] = true
		f.help(g, 1)
		g.state |= foreign
		return
	}
	delete(f.helpers, e.G)
	if !g.runtime && !g.unknown {
		g.state &^= foreign
	}
	f.help(g, -1)
}

// help adds by to the number of running assists if a goroutine of the program runs.
func (f *Fold) help(g *goroutine, by int) {
	if g.state&^foreign == exectrace.Running && !g.runtime {
		f.marking.assisting += by
		f.version++
	}
}

// alone reports whether one goroutine of the program runs and no other is ready to.
func (f *Fold) alone() bool { return f.running == 1 && f.ready == 0 && f.procs > 1 }

// runs reports whether a goroutine is the program's and runs.
func (f *Fold) runs(at exectrace.GIndex) bool {
	return int64(at) < int64(len(f.gs)) && f.gs[at].state&^foreign == exectrace.Running && !f.gs[at].runtime
}

// own reports whether a goroutine is the program's and not in an assist.
func (f *Fold) own(g exectrace.GIndex) bool {
	return g != exectrace.NoG && int64(g) < int64(len(f.gs)) && f.gs[g].state&^foreign != exectrace.Unknown &&
		!f.gs[g].runtime && !f.gs[g].unknown && !f.helpers[g]
}

// passProcs counts the time up to now under the number of busy processors. It is called before each
// change of that number.
func (f *Fold) passProcs(now int64) {
	k := 0
	if n := len(f.ps); n > 0 {
		k = max(0, n-f.idle)
	}
	if d := now - f.procSince; d > 0 {
		f.procd = count(f.procd, k, d)
		f.procSince = now
	}
}

// count adds to entry k of a table, which it extends as necessary.
func count(by []int64, k int, d int64) []int64 {
	for k >= len(by) {
		by = append(by, 0)
	}
	by[k] += d
	return by
}

// move moves a goroutine out of its state and into the next.
func (f *Fold) move(g *goroutine, e *exectrace.Event) {
	g.state &^= foreign
	helps := len(f.helpers) > 0 && f.helpers[e.G]
	if helps {
		f.help(g, -1)
	}
	if e.From == exectrace.Unknown || g.state == exectrace.Unknown {
		f.drop(g) // a goroutine that had the same index before
		*g = goroutine{}
		g.runtime, g.unknown = f.ofRuntime(e)
	} else {
		f.leave(g, e)
		if g.unknown && e.Stack != 0 && e.By == e.G { // its first stack
			g.runtime, g.unknown = f.isRuntime(e.Stack), false
		}
	}
	f.enter(g, e)
	if helps && e.To == exectrace.Gone {
		delete(f.helpers, e.G)
		helps = false
	}
	if helps {
		f.help(g, 1)
	}
	if g.runtime || g.unknown || helps {
		g.state |= foreign
	}
}

// enter moves a goroutine into its next state.
func (f *Fold) enter(g *goroutine, e *exectrace.Event) {
	g.state = e.To
	switch {
	case e.To == exectrace.Running && g.runtime:
		f.workers++
		f.version++
	case e.To == exectrace.Running:
		f.run(g, e)
	case e.To == exectrace.Runnable && g.runtime:
		g.idleP = f.spare()
	case e.To == exectrace.Runnable:
		f.makeReady(g, e)
	case e.To == exectrace.Gone:
		g.state = exectrace.Unknown
	}
}

// leave moves a goroutine out of its state.
func (f *Fold) leave(g *goroutine, e *exectrace.Event) {
	switch g.state {
	case exectrace.Running:
		if !g.runtime {
			from := f.aloneAt(e.P)
			f.charge(e, f.serialTotal-*from)
			*from = f.serialTotal
		}
		f.tail.left(e)
		f.drop(g)
	case exectrace.Runnable:
		if e.To == exectrace.Running {
			f.recordReady(g, e)
		}
		f.drop(g)
	}
}

// drop removes a goroutine from the counts.
func (f *Fold) drop(g *goroutine) {
	switch {
	case g.state == exectrace.Running && g.runtime:
		f.workers--
		f.version++
	case g.state == exectrace.Running:
		f.running--
	case g.state == exectrace.Runnable && !g.runtime:
		f.ready--
	}
	g.state = exectrace.Unknown
}

// aloneAt returns the alone0 of a processor.
func (f *Fold) aloneAt(p int32) *int64 {
	for int64(p)+1 >= int64(len(f.alone0)) {
		f.alone0 = append(f.alone0, make([]int64, max(8, len(f.alone0)))...)
	}
	return &f.alone0[p+1]
}

// charge charges the time that a goroutine ran alone to the line at which it stops.
func (f *Fold) charge(e *exectrace.Event, alone int64) {
	if alone == 0 || e.Stack == 0 {
		return
	}
	s := f.serial[e.Stack]
	if s == nil {
		s = new(serialSum)
		f.serial[e.Stack] = s
	}
	s.total += alone
	s.n++
}

// ofRuntime reports whether a goroutine belongs to the runtime: a worker of the garbage collector,
// the tracer's reader. unknown is true if its first stack has not been seen yet.
func (f *Fold) ofRuntime(e *exectrace.Event) (is, unknown bool) {
	s := f.trace.Goroutine(e.G).Entry
	if s == 0 && e.Kind == exectrace.GoStatus {
		s = e.Stack
	}
	return f.isRuntime(s), s == 0
}

func (f *Fold) isRuntime(s exectrace.StackID) bool {
	if s == 0 {
		return false
	}
	for int64(s) >= int64(len(f.roots)) {
		f.roots = append(f.roots, make([]whose, max(256, len(f.roots)))...)
	}
	if f.roots[s] == notAsked {
		f.roots[s] = programs
		if f.trace.OfRuntime(s) {
			f.roots[s] = runtimes
		}
	}
	return f.roots[s] == runtimes
}

// proc follows which processors are idle.
func (f *Fold) proc(e *exectrace.Event) {
	idle := e.To == exectrace.Idle
	if e.P >= 0 && int(e.P) < len(f.ps) && f.ps[e.P] != unseen && (f.ps[e.P] == idles) == idle {
		return
	}
	if e.P < 0 || e.P > 1<<16 {
		return
	}
	f.passProcs(e.Time)
	for int(e.P) >= len(f.ps) {
		f.ps = append(f.ps, unseen)
	}
	if f.ps[e.P] == idles {
		f.idle--
	}
	f.ps[e.P] = works
	if idle {
		f.ps[e.P] = idles
		f.idle++
	}
}

// reset discards the state before a gap.
func (f *Fold) reset() {
	clear(f.gs)
	clear(f.helpers)
	f.ps, f.idle = f.ps[:0], 0
	f.running, f.ready, f.workers = 0, 0, 0
	f.version++
	f.tail = tail{since: notFull, sum: f.tail.sum, regions: f.tail.regions, wasted: f.tail.wasted, parallel: f.tail.parallel}
}

// End charges the remaining time.
func (f *Fold) End(t *exectrace.Trace) {
	f.trace = t
	f.pass(t.Now())
	f.record()
	f.settle()
	f.passProcs(t.Now())
	f.length = f.now
	f.serialUnnamed = f.serialTotal
	for _, s := range f.serial {
		f.serialUnnamed -= s.total
	}
}
