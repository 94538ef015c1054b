package window

import (
	"github.com/hone-go/hone/exectrace"
)

// Options say which interval of a trace to fold, in nanoseconds since its first event.
type Options struct {
	From, To int64 // To 0 is the end
	Columns  int   // number of columns of the curves; 0 is none
	Sums     bool  // compute sums by stack
	// Shift is the time in the whole trace at which the reading of a part starts; From and To are
	// times of the whole trace.
	Shift int64
	// Held is, by goroutine ID, where the goroutines that wait at the start of this reading left
	// their processors, as known from the reading of the whole trace.
	Held map[uint64]Held
}

// Held is the stack, of the whole trace, at which a goroutine left its processor, and why.
type Held struct {
	Left exectrace.StackID
	Why  exectrace.Reason
}

// Fold collects curves and sums. Use New or NewIndexer to create one.
type Fold struct {
	opt    Options
	trace  *exectrace.Trace
	gs     []strand // by GIndex
	curves *curves
	sums   *sums
	marks  []generation // for an Indexer
	index  bool
	room   int   // number of entries left for snapshots
	start  int64 // of the generation, in time of this reading
	from   int64 // of the interval, in time of this reading
	to     int64
	over   bool // the interval has ended; later statuses may still describe it
}

// strand is the state of a live goroutine.
type strand struct {
	id    uint64
	since int64
	left  exectrace.StackID // stack at which it left the processor
	state exectrace.State   // Unknown: there is no goroutine
	why   exectrace.Reason
	held  bool  // left is a stack of the whole trace
	named bool  // group is that of the function it was started with
	group int32 // index in the groups of the curves
	proc  int32 // processor on which it runs
}

// endless is later than any trace.
const endless = int64(1) << 61

// New returns a Fold of an interval.
func New(opt Options) *Fold {
	f := &Fold{opt: opt, from: max(0, opt.From-opt.Shift), to: endless}
	if opt.To > 0 {
		f.to = opt.To - opt.Shift
	}
	if opt.Columns > 0 {
		f.curves = newCurves(f.from, f.to, opt.Columns)
	}
	if opt.Sums {
		f.sums = newSums()
	}
	return f
}

// newIndexer returns a Fold of a whole trace for an index.
func newIndexer() *Fold {
	f := &Fold{to: endless, index: true, curves: newGrowingCurves(baseColumns), sums: newSums(), room: mostHeld}
	return f
}

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	f.trace = t
	for i := range b.Events {
		e := &b.Events[i]
		if !f.over && e.Time >= f.to {
			f.finish(f.to)
		}
		switch {
		case e.Kind <= exectrace.GoStatus:
			if e.G != exectrace.NoG && e.From != e.To {
				f.goroutine(e)
			}
		case f.over:
		case e.Kind == exectrace.Sync:
			f.generation(e)
		case e.Kind == exectrace.Gap:
			f.gap(e.Time)
		default:
			f.rare(e)
		}
	}
}

func (f *Fold) at(i exectrace.GIndex) *strand {
	for int(i) >= len(f.gs) {
		f.gs = append(f.gs, make([]strand, max(256, len(f.gs)))...)
	}
	return &f.gs[i]
}

// goroutine handles a change of state.
func (f *Fold) goroutine(e *exectrace.Event) {
	g := f.at(e.G)
	if e.From == exectrace.Unknown || g.state == exectrace.Unknown {
		f.meet(e, g)
		return
	}
	if f.over {
		return
	}
	f.book(g, e.Time, true)
	if e.From == exectrace.Running {
		g.left, g.held = e.Stack, false
		if !g.named && e.Stack != 0 && e.By == e.G {
			f.name(g, e.Stack)
		}
	}
	f.leave(g, e.Time)
	f.enter(g, e, e.Time)
}

// meet handles the first event about a goroutine.
func (f *Fold) meet(e *exectrace.Event, g *strand) {
	info := f.trace.Goroutine(e.G)
	*g = strand{id: info.ID, left: e.Stack, proc: -1}
	entry := info.Entry
	since, why := e.Time, e.Why
	if e.Kind == exectrace.GoStatus {
		since = f.start
		if entry == 0 {
			entry = e.Stack
		}
		if h, ok := f.opt.Held[g.id]; ok && e.To != exectrace.Running {
			g.left, g.held, why = h.Left, true, h.Why
		}
	}
	if entry != 0 {
		f.name(g, entry)
	}
	if f.over { // a status at a generation's end: it was so during the whole interval
		if e.Kind == exectrace.GoStatus && since < f.to {
			g.state, g.why, g.since = e.To, why, since
			f.book(g, f.to, true)
			if f.curves != nil {
				f.curves.add(g.state, since, f.to)
			}
		}
		*g = strand{}
		return
	}
	f.enter(g, e, since)
	g.why = why
}

// name assigns a goroutine to a group.
func (f *Fold) name(g *strand, entry exectrace.StackID) {
	g.named = !f.trace.Wraps(entry) && !f.trace.Rootless(entry)
	if f.curves != nil {
		f.curves.move(g, f.curves.group(f.trace.Root(entry).Function))
	}
}

// book adds the time that a goroutine was in its state.
func (f *Fold) book(g *strand, now int64, ended bool) {
	if f.sums == nil || g.state == exectrace.Running || now <= f.from {
		return
	}
	f.sums.add(key{stack: g.left, held: g.held, state: g.state, why: g.why}, max(g.since, f.from), min(now, f.to), ended)
}

func (f *Fold) leave(g *strand, now int64) {
	if f.curves != nil {
		f.curves.leave(g, now)
	}
}

func (f *Fold) enter(g *strand, e *exectrace.Event, since int64) {
	g.state, g.why, g.since, g.proc = e.To, e.Why, since, e.P
	if e.To == exectrace.Gone {
		*g = strand{}
		return
	}
	if f.curves != nil {
		f.curves.enter(g, since, e.Time)
	}
}

// generation starts a generation.
func (f *Fold) generation(e *exectrace.Event) {
	f.start = e.Time
	if f.sums != nil && f.index {
		f.sums.next(e.Time)
	}
	if !f.index {
		return
	}
	m := generation{place: f.trace.Generation(), since: e.Time}
	for i := range f.gs {
		g := &f.gs[i]
		if g.state == exectrace.Unknown || g.state == exectrace.Running || g.left == 0 {
			continue
		}
		if f.room--; f.room < 0 {
			break
		}
		m.held = append(m.held, held{g.id, Held{g.left, g.why}})
	}
	f.marks = append(f.marks, m)
}

// rare handles events that are not transitions of goroutines.
func (f *Fold) rare(e *exectrace.Event) {
	if e.Kind == exectrace.CPUSample {
		if f.sums != nil && e.Time >= f.from {
			f.sums.sample(e.Stack)
		}
		return
	}
	if f.curves != nil {
		f.curves.rare(e)
	}
}

// gap forgets what was open.
func (f *Fold) gap(now int64) {
	for i := range f.gs {
		g := &f.gs[i]
		if g.state != exectrace.Unknown {
			f.book(g, now, true)
			f.leave(g, now)
			*g = strand{}
		}
	}
	if f.curves != nil {
		f.curves.forget(now)
	}
}

// finish closes what is open at the end of the interval.
func (f *Fold) finish(now int64) {
	if f.over {
		return
	}
	for i := range f.gs {
		if g := &f.gs[i]; g.state != exectrace.Unknown {
			f.book(g, now, true)
		}
	}
	if f.curves != nil {
		f.curves.end(now)
	}
	f.over = true
}

// End closes what is open at the end of the trace.
func (f *Fold) End(t *exectrace.Trace) {
	f.trace = t
	if f.index {
		f.sums.next(t.Now()) // ends the last generation
	}
	f.finish(min(t.Now(), f.to))
}
