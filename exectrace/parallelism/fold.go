package parallelism

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/histogram"
)

// Fold follows which goroutines run. The zero value is ready.
type Fold struct {
	trace *exectrace.Trace
	procs int // GOMAXPROCS now
	most  int
	idle  int // processors without work
	ps    []procState
	gs    []goroutine
	roots []whose // by first stack

	now     int64            // counted up to here
	running int              // goroutines of the program that run
	who     exectrace.GIndex // all of them, by exclusive or: of one, it is that one
	ready   int              // that are ready
	workers int              // of the runtime that run

	// alone0 is what serialTotal was when the goroutine that runs on a processor came to it, by 1 + P:
	// the time since is time that it ran alone, for only of one that runs alone it goes on.
	alone0 []int64

	busy      []int64 // nanoseconds with k running goroutines of the program
	procd     []int64 // nanoseconds with k busy processors
	procSince int64   // procd is counted up to here
	held      int64   // nanoseconds with a ready goroutine while fewer run than there are processors

	serial        map[exectrace.StackID]*serialSum
	serialTotal   int64
	serialUnnamed int64
	samples       map[exectrace.StackID]int64 // CPU samples in serial stretches
	tail          tail
	marking       marking

	saturated, wakeup *histogram.Histogram // latency of the scheduler, by whether a processor was idle
	length            int64
}

// goroutine is small, so that those of thousands of goroutines stay in the nearest cache.
type goroutine struct {
	state   exectrace.State
	runtime bool
	unknown bool // nothing says yet whose it is
	own     bool // it is the program's
	idleP   bool // a processor was idle when it became ready, and no other goroutine ready for it
}

// procState is whether a processor has work.
type procState uint8

const (
	unseen procState = iota
	works
	idles
)

// whose a goroutine is.
type whose uint8

const (
	notAsked whose = iota
	programs
	runtimes
)

type serialSum struct {
	total int64
	n     int64
	entry exectrace.StackID
}

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	if f.trace == nil {
		f.trace = t
		f.serial, f.samples = map[exectrace.StackID]*serialSum{}, map[exectrace.StackID]int64{}
		f.saturated, f.wakeup = histogram.New(), histogram.New()
	}
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind > exectrace.GoStatus {
			f.rare(e)
			continue
		}
		if int64(e.G) >= int64(len(f.gs)) {
			if e.G == exectrace.NoG {
				continue
			}
			f.gs = append(f.gs, make([]goroutine, max(256, len(f.gs), int(e.G)+1-len(f.gs)))...)
		}
		g := &f.gs[e.G]
		switch { // the first ones are most of all events; they do what move does
		case !g.own || g.state != e.From:
			if e.From != e.To {
				f.move(g, e)
			}
		case e.Kind == exectrace.GoStart:
			f.pass(e.Time)
			f.recordReady(g, e)
			f.ready--
			f.run(g, e)
		case e.Kind == exectrace.GoBlock:
			f.pass(e.Time)
			f.stop(e)
			g.state = e.To
		case e.Kind == exectrace.GoSyscallBegin:
			f.pass(e.Time)
			f.stop(e)
			g.state = e.To
			f.marking.now[f.marking.index()].calls++
		case e.Kind == exectrace.GoUnblock:
			f.pass(e.Time)
			f.makeReady(g, e)
		case e.Kind == exectrace.GoSyscallEnd:
			f.pass(e.Time)
			f.run(g, e)
		case e.From != e.To:
			f.move(g, e)
		}
	}
}

// recordReady records how long a goroutine that comes to a processor was ready.
func (f *Fold) recordReady(g *goroutine, e *exectrace.Event) {
	h := f.saturated
	if g.idleP {
		h = f.wakeup
	}
	h.Record(e.Time - e.Since)
}

// run counts a goroutine of the program that runs.
func (f *Fold) run(g *goroutine, e *exectrace.Event) {
	g.state = exectrace.Running
	*f.aloneAt(e.P) = f.serialTotal
	f.running++
	f.who ^= e.G
}

// stop uncounts it.
func (f *Fold) stop(e *exectrace.Event) {
	f.charge(e)
	f.tail.left(e)
	f.running--
	f.who ^= e.G
}

// makeReady counts a goroutine of the program that is ready.
func (f *Fold) makeReady(g *goroutine, e *exectrace.Event) {
	g.state, g.idleP = exectrace.Runnable, f.idle > f.ready
	f.ready++
}

// rare takes what is no change of a goroutine.
func (f *Fold) rare(e *exectrace.Event) {
	switch {
	case e.Kind <= exectrace.ProcStatus:
		f.proc(e)
	case e.Kind == exectrace.ProcsChange:
		f.pass(e.Time)
		f.procs = int(e.Value)
		f.most = max(f.most, f.procs)
	case e.Kind == exectrace.CPUSample:
		if f.alone() && e.G == f.who {
			f.samples[e.Stack]++
		}
	case e.Kind >= exectrace.GCActive && e.Kind <= exectrace.HeapAlloc:
		f.pass(e.Time)
		f.marking.see(e)
	case e.Kind == exectrace.Gap:
		f.pass(e.Time)
		f.marking.forget()
		f.passProcs(e.Time)
		f.reset()
	}
}

// alone tells whether one goroutine of the program runs and none could.
func (f *Fold) alone() bool { return f.running == 1 && f.ready == 0 && f.procs > 1 }

// pass books the time up to now under what held until then. It comes before each change of what
// runs, what is ready, and how many processors there are.
func (f *Fold) pass(now int64) {
	d := now - f.now
	if d <= 0 {
		return
	}
	f.now = now
	f.marking.pass(f.running, d)
	f.busy = count(f.busy, f.running, d)
	if f.ready > 0 {
		if f.running+f.workers < f.procs {
			f.held += d
		}
	} else if f.alone() {
		f.serialTotal += d
	}
	f.tail.pass(f, now, d)
}

// passProcs is pass for the processors.
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

// count adds to a table by k, which grows as far as k may go.
func count(by []int64, k int, d int64) []int64 {
	for k >= len(by) {
		by = append(by, 0)
	}
	by[k] += d
	return by
}

// move takes a goroutine out of the state that it was in, and into the next.
func (f *Fold) move(g *goroutine, e *exectrace.Event) {
	if e.From == exectrace.Unknown || g.state == exectrace.Unknown {
		f.pass(e.Time)
		f.drop(e.G, g) // of a goroutine that had the place before
		*g = goroutine{}
		g.runtime, g.unknown = f.ofRuntime(e)
	} else {
		f.leave(g, e)
		if g.unknown && e.Stack != 0 && e.By == e.G { // its first stack
			g.runtime, g.unknown = f.isRuntime(e.Stack), false
		}
	}
	g.own = !g.runtime && !g.unknown
	g.state = e.To
	switch e.To {
	case exectrace.Running:
		f.pass(e.Time)
		if g.runtime {
			f.workers++
			return
		}
		f.run(g, e)
	case exectrace.Runnable:
		if g.runtime {
			g.idleP = f.idle > f.ready
			return
		}
		f.pass(e.Time)
		f.makeReady(g, e)
	case exectrace.Gone:
		g.state = exectrace.Unknown
	}
}

// leave takes a goroutine out of the state that it was in.
func (f *Fold) leave(g *goroutine, e *exectrace.Event) {
	switch g.state {
	case exectrace.Running:
		f.pass(e.Time)
		if !g.runtime {
			f.charge(e)
		}
		f.tail.left(e)
		f.drop(e.G, g)
	case exectrace.Runnable:
		f.pass(e.Time)
		if e.To == exectrace.Running {
			f.recordReady(g, e)
		}
		f.drop(e.G, g)
	}
}

// drop uncounts a goroutine.
func (f *Fold) drop(at exectrace.GIndex, g *goroutine) {
	switch {
	case g.state == exectrace.Running && g.runtime:
		f.workers--
	case g.state == exectrace.Running:
		f.running--
		f.who ^= at
	case g.state == exectrace.Runnable && !g.runtime:
		f.ready--
	}
	g.state = exectrace.Unknown
}

// aloneAt is alone0 of a processor.
func (f *Fold) aloneAt(p int32) *int64 {
	for int64(p)+1 >= int64(len(f.alone0)) {
		f.alone0 = append(f.alone0, make([]int64, max(8, len(f.alone0)))...)
	}
	return &f.alone0[p+1]
}

// charge books the time that a goroutine ran alone at the line where it stops.
func (f *Fold) charge(e *exectrace.Event) {
	from := f.aloneAt(e.P)
	alone := f.serialTotal - *from
	*from = f.serialTotal
	if alone == 0 || e.Stack == 0 {
		return
	}
	s := f.serial[e.Stack]
	if s == nil {
		s = &serialSum{entry: f.trace.Goroutine(e.G).Entry}
		f.serial[e.Stack] = s
	}
	s.total += alone
	s.n++
}

// ofRuntime tells whether a goroutine is the runtime's own: a worker of the collector, the
// tracer's reader. unknown says that its first stack is still to come.
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
		if root := f.trace.Root(s).Function; strings.HasPrefix(root, "runtime.") || strings.HasPrefix(root, "runtime/") {
			f.roots[s] = runtimes
		}
	}
	return f.roots[s] == runtimes
}

// proc follows processors: whether they are idle.
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

// reset forgets what was so before a gap.
func (f *Fold) reset() {
	clear(f.gs)
	f.ps, f.idle = f.ps[:0], 0
	f.running, f.who, f.ready, f.workers = 0, 0, 0, 0
	f.tail = tail{sum: f.tail.sum, regions: f.tail.regions, wasted: f.tail.wasted, parallel: f.tail.parallel}
}

// End books what is left.
func (f *Fold) End(t *exectrace.Trace) {
	f.trace = t
	f.pass(t.Now())
	f.passProcs(t.Now())
	f.length = f.now
	f.serialUnnamed = f.serialTotal
	for _, s := range f.serial {
		f.serialUnnamed -= s.total
	}
}
