package wall

import "github.com/hone-go/hone/exectrace"

// Fold adds up the time of goroutines. The zero value is ready; when the trace is
// over its views can be asked.
type Fold struct {
	trace *exectrace.Trace
	table table
	gs    []goroutine // by GIndex
	lines lines
	queue []queue // by the waiter's line, for waits that queue up
	group map[exectrace.StackID]*group

	genStart int64 // of the generation: what is first heard of in it was so from there
	started  bool
	length   int64
}

// goroutine is what the fold knows about a live one.
type goroutine struct {
	entry exectrace.StackID
	state exectrace.State
	mode  what     // of running time: running, assisting or sweeping
	since int64    // when state or mode began
	work  int64    // it ran since its last wait
	ran   int64    // since it was created
	born  int64    // created, or found
	spawn *spawned // of the go statement; nil when found
	group *group
	why   exectrace.Reason  // it is in state
	left  exectrace.StackID // where it left the processor
	wake  exectrace.StackID // who made it ready
	early []early           // what it did before its first stack told what it is
}

// early is an interval of a goroutine of which nothing but its number is known yet.
type early struct {
	key
	d, work int64
}

// queue counts who waits at a stack at one time.
type queue struct {
	waiting int32
	longest int32
	since   int64
	some    int64 // nanoseconds with one waiter or more
	several int64 // with two or more
}

// group are the goroutines with one first stack.
type group struct {
	found, created, ended int64
	lifetime              int64
	spawn                 map[exectrace.StackID]*spawned
}

// spawned are the goroutines that one go statement started.
type spawned struct {
	Created int64
	Ended   int64
	Short   int64 // of the ended: ran less than tooSmall
	Ran     int64 // nanoseconds that the ended ones ran
	Waited  int64 // nanoseconds from creation to the first run
	Started int64 // of how many that is
}

// tooSmall is how long a goroutine must run to be worth its start, in nanoseconds: start, first
// wait and end cost about 1 µs on current machines, so at 10 µs a tenth is spent on them.
const tooSmall = 10_000

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	f.trace = t
	if f.group == nil {
		f.group = map[exectrace.StackID]*group{}
	}
	for i := range b.Events {
		e := &b.Events[i]
		if e.Kind <= exectrace.GoStatus {
			f.transition(t, e)
			continue
		}
		switch e.Kind {
		case exectrace.GCMarkAssistBegin, exectrace.GCMarkAssistActive:
			f.mode(e, assisting)
		case exectrace.GCSweepBegin, exectrace.GCSweepActive:
			f.mode(e, sweeping)
		case exectrace.GCMarkAssistEnd, exectrace.GCSweepEnd:
			f.mode(e, running)
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
}

// at returns the goroutine at a place, which may be new to the fold.
func (f *Fold) at(i exectrace.GIndex) *goroutine {
	for int(i) >= len(f.gs) {
		f.gs = append(f.gs, make([]goroutine, max(256, len(f.gs)))...)
	}
	return &f.gs[i]
}

func (f *Fold) transition(t *exectrace.Trace, e *exectrace.Event) {
	if e.G == exectrace.NoG {
		return
	}
	g := f.at(e.G)
	if e.From == exectrace.Unknown || g.state == exectrace.Unknown {
		f.begin(t, g, e)
		return
	}
	if e.From == e.To {
		return // a status that says what is known
	}
	if g.entry == 0 && e.Stack != 0 && e.By == e.G {
		f.name(g, e.Stack) // it ran when the trace began: its first stack says what it is
	}
	f.leave(g, e)
	switch e.To {
	case exectrace.Running:
		g.mode = running
	case exectrace.Runnable:
		if e.From == exectrace.Running {
			g.left, g.wake = e.Stack, 0
		} else if e.From == exectrace.Waiting {
			g.wake = e.Stack
		}
	case exectrace.Waiting:
		g.left, g.wake = e.Stack, 0
		f.enqueue(e.Stack, e.Why, e.Time, 1)
	case exectrace.Syscall:
		g.left, g.wake = e.Stack, 0
	case exectrace.Gone:
		f.end(g, e.Time)
		return
	}
	g.state, g.why, g.since = e.To, e.Why, e.Time
}

// name gives a goroutine that was found without a stack the group of its first one.
func (f *Fold) name(g *goroutine, s exectrace.StackID) {
	g.group.found--
	g.entry = s
	g.group = f.groupOf(s)
	g.group.found++
	f.bookEarly(g)
}

func (f *Fold) bookEarly(g *goroutine) {
	for _, e := range g.early {
		e.key.entry = g.entry
		f.table.row(e.key).add(e.d, e.work)
	}
	g.early = nil
}

// book adds an interval to its row.
func (f *Fold) book(g *goroutine, k key, d, work int64) {
	if g.entry == 0 && len(g.early) < 16 {
		g.early = append(g.early, early{k, d, work})
		return
	}
	f.table.row(k).add(d, work)
}

func (f *Fold) groupOf(entry exectrace.StackID) *group {
	gr := f.group[entry]
	if gr == nil {
		gr = &group{spawn: map[exectrace.StackID]*spawned{}}
		f.group[entry] = gr
	}
	return gr
}

// begin takes up a goroutine that was created or is first heard of.
func (f *Fold) begin(t *exectrace.Trace, g *goroutine, e *exectrace.Event) {
	info := t.Goroutine(e.G)
	*g = goroutine{
		entry: info.Entry, state: e.To, mode: running, since: e.Time, born: e.Time,
		why: e.Why, left: e.Left,
	}
	if g.entry == 0 && e.Kind == exectrace.GoStatus {
		g.entry = e.Stack
	}
	gr := f.groupOf(g.entry)
	g.group = gr
	switch e.Kind {
	case exectrace.GoCreate, exectrace.GoCreateSyscall:
		gr.created++
		g.left, g.wake = e.Stack, e.Stack
		s := gr.spawn[e.Stack]
		if s == nil {
			s = new(spawned)
			gr.spawn[e.Stack] = s
		}
		s.Created++
		g.spawn = s
	default: // it was there when the generation began
		gr.found++
		g.since, g.born = f.genStart, f.genStart
		g.left = e.Stack
	}
	if e.To == exectrace.Waiting {
		f.enqueue(g.left, g.why, g.since, 1)
	}
}

// leave books the interval that ends here.
func (f *Fold) leave(g *goroutine, e *exectrace.Event) {
	k, d := f.interval(g, e.Time)
	var work int64
	switch g.state {
	case exectrace.Waiting:
		k.wake = e.Stack
		work, g.work = g.work, 0
		f.enqueue(g.left, g.why, e.Time, -1)
	case exectrace.Runnable:
		if g.why == exectrace.Created {
			if g.spawn != nil {
				g.spawn.Started++
				g.spawn.Waited += d
			}
		}
	}
	f.book(g, k, d, work)
}

// interval describes what g has been doing since its state, or mode, began.
func (f *Fold) interval(g *goroutine, now int64) (key, int64) {
	d := now - g.since
	k := key{entry: g.entry}
	switch g.state {
	case exectrace.Running:
		k.what = g.mode
		g.work += d
		g.ran += d
		return k, d
	case exectrace.Runnable:
		k.what = runnable
	case exectrace.Syscall:
		k.what = inSyscall
	default:
		k.what = blocked
	}
	k.left, k.wake, k.why = g.left, g.wake, g.why
	return k, d
}

// mode splits running time where the goroutine begins or ends work for the collector.
func (f *Fold) mode(e *exectrace.Event, to what) {
	if e.G == exectrace.NoG {
		return
	}
	g := f.at(e.G)
	if g.state == exectrace.Running && g.mode != to {
		k, d := f.interval(g, e.Time)
		f.book(g, k, d, 0)
		g.since = e.Time
	}
	g.mode = to
}

// end closes a goroutine's account.
func (f *Fold) end(g *goroutine, now int64) {
	f.bookEarly(g)
	gr := g.group
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

// enqueue counts a waiter more or less at a stack, for reasons where waiters queue.
func (f *Fold) enqueue(s exectrace.StackID, why exectrace.Reason, now int64, by int32) {
	if why != exectrace.WaitSync && why != exectrace.WaitCond {
		return
	}
	at := f.lines.of(f.trace, s)
	for int(at) >= len(f.queue) {
		f.queue = append(f.queue, make([]queue, max(64, len(f.queue)))...)
	}
	q := &f.queue[at]
	if q.waiting > 0 {
		q.some += now - q.since
	}
	if q.waiting > 1 {
		q.several += now - q.since
	}
	q.since = now
	q.waiting += by
	q.longest = max(q.longest, q.waiting)
}

// cut closes every account where the trace has a gap.
func (f *Fold) cut(now int64) {
	for i := range f.gs {
		g := &f.gs[i]
		if g.state == exectrace.Unknown {
			continue
		}
		k, d := f.interval(g, now)
		k.open = true
		work := int64(0)
		if g.state == exectrace.Waiting {
			work = g.work
			f.enqueue(g.left, g.why, now, -1)
		}
		f.book(g, k, d, work)
		f.bookEarly(g)
		g.group.lifetime += now - g.born
		g.state = exectrace.Unknown
	}
}

// End counts what is still open.
func (f *Fold) End(t *exectrace.Trace) {
	f.trace = t
	f.length = t.Now()
	f.cut(f.length)
}
