package wall

import (
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// Fold adds up the time of goroutines. The zero value is ready to use. Its views are available
// after the end of the trace.
type Fold struct {
	trace   *exectrace.Trace
	table   table
	gs      []goroutine                            // by GIndex
	early   map[exectrace.GIndex][]row             // rows of goroutines whose first stack is not known yet: see book
	guesses map[exectrace.GIndex]exectrace.StackID // their first stacks that may lack the function that they were started with
	lines   lines
	queue   []queue // by the waiter's line, for waits that form a queue
	queueOf []int32 // StackID → index of its line plus two; 1: not a queue
	holds   holds
	group   map[exectrace.StackID]*group
	groups  []*group // the same by first stack, for speed

	genStart int64 // start of the generation; what is first seen in a generation was so from its start
	started  bool
	length   int64
}

// goroutine is the state of a live goroutine: 64 bytes, one cache line.
type goroutine struct {
	since int64 // start of state or mode
	work  int64 // running time since its last wait
	ran   int64 // running time since it was created
	born  int64 // when it was created or first seen
	group *group
	spawn *spawned          // its go statement; nil if it is older than the trace
	left  exectrace.StackID // stack at which it left the processor
	wake  exectrace.StackID // stack of its waker
	ready int32             // index of the row of its time as Runnable; -1 if its group is unknown
	state exectrace.State   // Unknown: the slot is free, or the goroutine is ignored
	mode  what              // of running time: running, assisting or sweeping
	base  what              // mode when it next starts: assisting if it left the processor in an assist; may include slept
	why   exectrace.Reason  // why it is in state
}

// slept marks the base of a goroutine whose last wait was a sleep if it has only run since: it
// neither woke another goroutine nor made a system call.
const slept what = 1 << 7

// next returns the mode in which a goroutine starts to run.
func (g *goroutine) next() what { return g.base &^ slept }

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	f.trace = t
	if f.group == nil {
		f.group = map[exectrace.StackID]*group{}
	}
	events := b.Events
	for i := range events {
		e := &events[i]
		if e.Kind > exectrace.GoStatus {
			f.rare(e)
			continue
		}
		if int64(e.G) >= int64(len(f.gs)) {
			if e.G != exectrace.NoG {
				f.grow(e.G)
				f.begin(t, &f.gs[e.G], e)
			}
			continue
		}
		g := &f.gs[e.G]
		switch { // most events are of the first cases
		case e.Kind == exectrace.GoStart && g.ready >= 0 && g.state == exectrace.Runnable:
			f.start(g, e)
		case (e.Kind == exectrace.GoBlock || e.Kind == exectrace.GoSyscallBegin) && g.state == exectrace.Running && g.group.entry != 0:
			f.block(g, e)
		case e.Kind == exectrace.GoUnblock && g.state == exectrace.Waiting:
			f.waited(g, e, e.Time-g.since)
			f.wake(g, e)
			if int64(e.By) < int64(len(f.gs)) {
				f.gs[e.By].base &^= slept
			}
			if len(f.guesses) > 0 {
				f.hear(e.By, e.Stack)
			}
		case e.Kind == exectrace.GoSyscallEnd && g.state == exectrace.Syscall && g.group.entry != 0:
			f.returned(g, e)
		case e.From == exectrace.Unknown || g.state == exectrace.Unknown:
			f.begin(t, g, e)
		case e.From != e.To: // otherwise a status that repeats what is known
			f.leave(g, e)
			f.enter(g, e)
		}
	}
}

// start is leave and enter for Runnable → Running.
func (f *Fold) start(g *goroutine, e *exectrace.Event) {
	d := e.Time - g.since
	if g.why == exectrace.Created && g.spawn != nil {
		g.spawn.Started++
		g.spawn.Waited += d
	}
	f.table.rows[g.ready].add(d, 0)
	g.state, g.mode, g.why, g.since = exectrace.Running, g.next(), e.Why, e.Time
}

// block is leave and enter for Running → Waiting, and → Syscall.
func (f *Fold) block(g *goroutine, e *exectrace.Event) {
	d := e.Time - g.since
	g.work += d
	g.ran += d
	g.group.runs[g.mode].add(d)
	g.left, g.wake = e.Stack, 0
	if queues(e.Why) {
		f.enqueue(e.Stack, e.Time, 1)
	}
	g.state, g.why, g.since = e.To, e.Why, e.Time
}

// wake is enter for Waiting → Runnable.
func (f *Fold) wake(g *goroutine, e *exectrace.Event) {
	g.state, g.why, g.since, g.wake = exectrace.Runnable, e.Why, e.Time, e.Stack
	if g.ready < 0 {
		f.findReady(g)
	}
}

// returned is leave and enter for Syscall → Running.
func (f *Fold) returned(g *goroutine, e *exectrace.Event) {
	g.base &^= slept
	f.table.rows[f.table.at(f.now(g))].add(e.Time-g.since, 0)
	g.state, g.mode, g.why, g.since = exectrace.Running, g.next(), e.Why, e.Time
}

// rare handles events that are not transitions of goroutines.
func (f *Fold) rare(e *exectrace.Event) {
	switch e.Kind {
	case exectrace.GCMarkAssistBegin, exectrace.GCMarkAssistActive:
		f.assist(e, assisting)
	case exectrace.GCMarkAssistEnd:
		f.assist(e, running)
	case exectrace.GCSweepBegin, exectrace.GCSweepActive:
		f.sweep(e, true)
	case exectrace.GCSweepEnd:
		f.sweep(e, false)
	case exectrace.CPUSample:
		if len(f.guesses) > 0 {
			f.hear(e.G, e.Stack)
		}
	case exectrace.Sync:
		if f.started {
			f.genStart = e.Time
		}
		f.started = true
	case exectrace.Gap:
		f.cut(e.Time)
		f.genStart = e.Time
	}
}

// grow extends the table of goroutines.
func (f *Fold) grow(i exectrace.GIndex) {
	n := max(int(i)+1, 2*len(f.gs), 256)
	f.gs = append(make([]goroutine, 0, n), f.gs...)[:n]
}

// leave counts the interval that ends here.
func (f *Fold) leave(g *goroutine, e *exectrace.Event) {
	d := e.Time - g.since
	switch g.state {
	case exectrace.Running:
		if g.group.entry == 0 && e.Stack != 0 && e.By == e.G {
			f.meet(e.G, g, e.Stack) // it ran when the trace started: its first stack identifies it
		}
		f.run(e.G, g, d)
	case exectrace.Runnable:
		if g.why == exectrace.Created && g.spawn != nil {
			g.spawn.Started++
			g.spawn.Waited += d
		}
		if g.ready < 0 {
			f.book(e.G, g, f.now(g), d, 0)
			return
		}
		f.table.rows[g.ready].add(d, 0)
	case exectrace.Waiting:
		f.waited(g, e, d)
	default:
		g.base &^= slept
		f.book(e.G, g, f.now(g), d, 0)
	}
}

// run counts running time.
func (f *Fold) run(i exectrace.GIndex, g *goroutine, d int64) {
	g.work += d
	g.ran += d
	if g.group.entry == 0 {
		f.book(i, g, keyOf(0, 0, 0, g.mode, exectrace.ReasonNone), d, 0)
		return
	}
	g.group.runs[g.mode].add(d)
}

// waited counts a wait that ends. Its row refers to the row of the state that follows: being ready.
func (f *Fold) waited(g *goroutine, e *exectrace.Event, d int64) {
	work := g.work
	g.work = 0
	if queues(g.why) {
		f.enqueue(g.left, e.Time, -1)
		if line := f.queueAt(g.left); line >= 0 && e.Stack != 0 && e.By != e.G {
			f.holds.add(g.left, [2]int32{line, f.lines.of(f.trace, e.Stack)}, e, d)
		}
	}
	entry, wake := g.group.entry, e.Stack
	k := keyOf(entry, g.left, wake, blocked, g.why)
	g.ready = -1
	if entry == 0 {
		f.book(e.G, g, k, d, work)
		return
	}
	at := f.table.at(k)
	r := &f.table.rows[at]
	r.add(d, work)
	if g.why == exectrace.WaitSleep {
		r.again += uint32(g.base >> 7)
		g.base |= slept
	} else {
		g.base &^= slept
	}
	if e.Why != exectrace.Woken || e.To != exectrace.Runnable {
		return
	}
	if r.then == 0 {
		then := f.table.at(keyOf(entry, g.left, wake, runnable, exectrace.Woken)) + 1 // may reallocate the rows
		f.table.rows[at].then = then
		g.ready = then - 1
		return
	}
	g.ready = r.then - 1
}

// enter starts the next interval.
func (f *Fold) enter(g *goroutine, e *exectrace.Event) {
	was := g.state
	g.state, g.why, g.since = e.To, e.Why, e.Time
	switch e.To {
	case exectrace.Running:
		g.mode = g.next()
	case exectrace.Runnable:
		switch e.From {
		case exectrace.Running:
			g.left, g.wake = e.Stack, 0
		case exectrace.Waiting:
			g.wake = e.Stack
			if was == exectrace.Waiting && g.ready >= 0 {
				return
			}
		}
		f.findReady(g)
	case exectrace.Waiting:
		g.left, g.wake = e.Stack, 0
		if queues(e.Why) {
			f.enqueue(e.Stack, e.Time, 1)
		}
	case exectrace.Syscall:
		g.left, g.wake = e.Stack, 0
	case exectrace.Gone:
		f.end(e.G, g, e.Time)
	}
}

// findReady finds the row of a goroutine that is ready.
func (f *Fold) findReady(g *goroutine) {
	g.ready = -1
	if g.group.entry != 0 {
		g.ready = f.table.at(f.now(g))
	}
}

// now returns the key of the current interval of a goroutine.
func (f *Fold) now(g *goroutine) key {
	doing := blocked
	switch g.state {
	case exectrace.Running:
		return keyOf(g.group.entry, 0, 0, g.mode, exectrace.ReasonNone)
	case exectrace.Runnable:
		doing = runnable
	case exectrace.Syscall:
		doing = inSyscall
	}
	return keyOf(g.group.entry, g.left, g.wake, doing, g.why)
}

// maxEarly bounds the rows of a goroutine without a known stack. Such rows differ only in kind and
// reason.
const maxEarly = 64

// book adds an interval to its row. If a goroutine has no stack yet, its rows are kept until its
// first stack identifies it.
func (f *Fold) book(i exectrace.GIndex, g *goroutine, k key, d, work int64) {
	if g.group.entry == 0 {
		rows := f.early[i]
		at := slices.IndexFunc(rows, func(r row) bool { return r.key == k })
		if at < 0 && len(rows) < maxEarly {
			if f.early == nil {
				f.early = map[exectrace.GIndex][]row{}
			}
			at = len(rows)
			rows = append(rows, row{key: k})
			f.early[i] = rows
		}
		if at >= 0 {
			rows[at].add(d, work)
			return
		}
		f.guess(i, g) // it was preempted at too many places to wait for a better stack
		k = k.from(g.group.entry)
	}
	f.table.rows[f.table.at(k)].add(d, work)
}

// begin adds a goroutine that was created or is seen for the first time.
func (f *Fold) begin(t *exectrace.Trace, g *goroutine, e *exectrace.Event) {
	if len(f.early) > 0 || len(f.guesses) > 0 { // of a goroutine that had the same index before
		delete(f.early, e.G)
		delete(f.guesses, e.G)
	}
	entry := t.Goroutine(e.G).Entry
	guess := entry == 0 && e.Kind == exectrace.GoStatus && t.Rootless(e.Stack)
	if entry == 0 && e.Kind == exectrace.GoStatus && !guess {
		entry = e.Stack
	}
	var gr *group
	if e.Kind == exectrace.GoCreate {
		gr = f.startedBy(entry, e.Stack)
	} else {
		gr = f.groupOf(entry)
	}
	*g = goroutine{
		group: gr, state: e.To, mode: running, since: e.Time, born: e.Time,
		why: e.Why, left: e.Left, ready: -1,
	}
	switch e.Kind {
	case exectrace.GoCreateSyscall: // a thread of C: no go statement started it
		gr.created++
	case exectrace.GoCreate:
		gr.created++
		g.left, g.wake = e.Stack, e.Stack
		g.spawn = gr.spawnedAt(e.Stack)
		g.spawn.Created++
	default: // it existed when the generation started
		gr.found++
		g.since, g.born = f.genStart, f.genStart
		g.left = e.Stack
	}
	if guess {
		f.meet(e.G, g, e.Stack)
	}
	switch e.To {
	case exectrace.Waiting:
		if queues(g.why) {
			f.enqueue(g.left, g.since, 1)
		}
	case exectrace.Runnable:
		f.findReady(g)
	}
}

// assist records that the goroutine starts or ends an assist of the garbage collector.
func (f *Fold) assist(e *exectrace.Event, base what) {
	if e.G == exectrace.NoG {
		return
	}
	g := f.at(e.G)
	g.base = base | g.base&slept
	f.mode(e, g, base)
}

// sweep records that the goroutine starts or ends sweeping.
func (f *Fold) sweep(e *exectrace.Event, on bool) {
	if e.G == exectrace.NoG {
		return
	}
	g := f.at(e.G)
	if on {
		f.mode(e, g, sweeping)
	} else {
		f.mode(e, g, g.next())
	}
}

// mode splits running time where the goroutine starts or ends work for the garbage collector.
func (f *Fold) mode(e *exectrace.Event, g *goroutine, to what) {
	if g.state == exectrace.Running && g.mode != to {
		f.run(e.G, g, e.Time-g.since)
		g.since = e.Time
	}
	g.mode = to
}

func (f *Fold) at(i exectrace.GIndex) *goroutine {
	if int64(i) >= int64(len(f.gs)) {
		f.grow(i)
	}
	return &f.gs[i]
}

// end counts the end of a goroutine.
func (f *Fold) end(i exectrace.GIndex, g *goroutine, now int64) {
	if len(f.guesses) > 0 {
		f.guess(i, g)
	}
	gr := g.group
	f.bookEarly(i, gr.entry)
	gr.ended++
	gr.lifetime += now - g.born
	if g.spawn != nil {
		g.spawn.Ended++
		g.spawn.Ran += g.ran
		if g.ran < tooSmall {
			g.spawn.Short++
		}
	}
	g.state = exectrace.Unknown
}

// cut ends the intervals of all goroutines at a gap in the trace.
func (f *Fold) cut(now int64) {
	for i := range f.gs {
		g := &f.gs[i]
		if g.state == exectrace.Unknown {
			continue
		}
		at := exectrace.GIndex(i)
		f.guess(at, g)
		k, d := f.now(g), now-g.since
		k.how |= openBit
		work := int64(0)
		if g.state == exectrace.Waiting {
			work = g.work
			if queues(g.why) {
				f.enqueue(g.left, now, -1)
			}
		}
		f.book(at, g, k, d, work)
		f.bookEarly(at, g.group.entry)
		g.group.lifetime += now - g.born
		g.state = exectrace.Unknown
	}
}

// End counts the intervals that are still open.
func (f *Fold) End(t *exectrace.Trace) {
	f.trace = t
	f.length = t.Now()
	f.cut(f.length)
	for entry, gr := range f.group {
		for mode, run := range gr.runs {
			if run.n > 0 {
				f.table.rows[f.table.at(keyOf(entry, 0, 0, what(mode), exectrace.ReasonNone))].take(run)
			}
		}
		gr.runs = [sweeping + 1]tally{}
	}
}
