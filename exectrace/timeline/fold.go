package timeline

import (
	"strings"

	"github.com/hone-go/hone/exectrace"
)

// Options say what to collect. The zero value is the whole trace.
type Options struct {
	From, To   int64    // nanoseconds since the start of the trace; To 0 is its end
	Goroutines []uint64 // IDs; none is all
	// MaxSpans is the maximum number of spans in all rows together; 0 is 40,000.
	MaxSpans int
}

// Wake is one goroutine making another ready.
type Wake struct {
	At   int64  `json:"at"`
	From uint64 `json:"from"` // goroutine; 0 is the network poller, a timer, or unknown
	To   uint64 `json:"to"`
	Line int    `json:"line"` // the waker's, in Result.Lines; -1 if unknown
}

// Fold collects spans and wakes. Use New to create one.
type Fold struct {
	opt    Options
	only   map[uint64]bool
	trace  *exectrace.Trace
	gs     []live // by GIndex
	rows   map[uint64]*row
	order  []uint64
	procs  []*row
	bands  []Band
	open   map[string]int // bands that have not ended, by name
	wakes  []Wake
	lines  map[exectrace.Line]int
	list   []exectrace.Line
	spans  int
	grain  int64 // spans shorter than this are merged
	cutG   int64 // number of goroutines that are not shown
	lostW  int64
	ending int64
}

// live is the current state of a goroutine.
type live struct {
	id    uint64
	entry exectrace.StackID
	vague bool // entry is a closure such as that of sync.WaitGroup.Go, or may lack its root: the next stack may be better
	state exectrace.State
	why   exectrace.Reason
	since int64
	proc  int32
	line  int // its current line, or the one at which it stopped
}

// row is the spans of a goroutine or a processor, in order.
type row struct {
	name  string
	spans []span
	busy  int64
}

type span struct {
	from, to int64
	state    exectrace.State
	why      exectrace.Reason
	line     int32 // -1 none
	mixed    bool  // several spans were merged: state is that of the longest
	longest  int64
	g        uint64 // processors: the goroutine that ran
}

// Bounds on rows and arrows: more of them cannot be drawn or read.
const (
	defaultSpans = 40_000
	maxRows      = 400
	maxWakes     = 5_000
	maxBands     = 2_000
)

// New returns a Fold.
func New(opt Options) *Fold {
	if opt.MaxSpans <= 0 {
		opt.MaxSpans = defaultSpans
	}
	f := &Fold{opt: opt, rows: map[uint64]*row{}, lines: map[exectrace.Line]int{}, open: map[string]int{}}
	if len(opt.Goroutines) > 0 {
		f.only = map[uint64]bool{}
		for _, id := range opt.Goroutines {
			f.only[id] = true
		}
	}
	return f
}

// Events takes a block.
func (f *Fold) Events(t *exectrace.Trace, b *exectrace.Block) {
	f.trace = t
	for i := range b.Events {
		e := &b.Events[i]
		if f.opt.To > 0 && e.Time >= f.opt.To {
			f.finish(f.opt.To)
			return
		}
		switch {
		case e.Kind <= exectrace.GoStatus:
			if e.G != exectrace.NoG && e.From != e.To {
				f.goroutine(t, e)
			}
		case e.Kind == exectrace.Gap:
			f.gap(e.Time)
		default:
			f.band(t, e)
		}
	}
}

func (f *Fold) at(i exectrace.GIndex) *live {
	for int(i) >= len(f.gs) {
		f.gs = append(f.gs, make([]live, max(256, len(f.gs)))...)
	}
	return &f.gs[i]
}

func (f *Fold) goroutine(t *exectrace.Trace, e *exectrace.Event) {
	g := f.at(e.G)
	if e.From == exectrace.Unknown || g.id == 0 {
		info := t.Goroutine(e.G)
		*g = live{id: info.ID, entry: info.Entry, vague: t.Wraps(info.Entry), line: -1}
		if e.Kind == exectrace.GoStatus && g.entry == 0 {
			g.entry = e.Stack
		}
		if e.Kind == exectrace.GoStatus {
			g.since = e.Time
		}
	} else {
		f.close(g, e.Time)
	}
	if (g.entry == 0 || g.vague) && e.Stack != 0 && e.By == e.G { // its first usable stack identifies it
		g.entry, g.vague = e.Stack, t.Rootless(e.Stack)
		if r := f.rows[g.id]; r != nil {
			r.name = f.trace.Root(g.entry).Function
		}
	}
	if e.Kind == exectrace.GoUnblock {
		f.wake(e, g)
	}
	if e.From == exectrace.Running || e.From == exectrace.Unknown {
		g.line = f.line(e.Stack)
	}
	if e.To == exectrace.Running || e.From == exectrace.Running {
		f.processor(e, g)
	}
	g.state, g.why, g.since, g.proc = e.To, e.Why, e.Time, e.P
	if e.To == exectrace.Gone {
		*g = live{}
	}
}

// close ends the current span of a goroutine.
func (f *Fold) close(g *live, now int64) {
	if now <= f.opt.From || g.state == exectrace.Unknown || !f.wanted(g.id) {
		return
	}
	r := f.rows[g.id]
	if r == nil {
		if len(f.rows) >= maxRows && f.only == nil {
			f.cutG++
			return
		}
		r = &row{name: f.trace.Root(g.entry).Function}
		f.rows[g.id] = r
		f.order = append(f.order, g.id)
	}
	if g.state == exectrace.Running || g.state == exectrace.Syscall {
		r.busy += now - max(g.since, f.opt.From)
	}
	line := int32(g.line)
	if g.state == exectrace.Running {
		line = -1
	}
	f.add(r, span{from: max(g.since, f.opt.From), to: now, state: g.state, why: g.why, line: line})
}

func (f *Fold) wanted(id uint64) bool { return f.only == nil || f.only[id] }

// add appends a span, or merges it into the previous one if both are shorter than the grain.
func (f *Fold) add(r *row, s span) {
	s.longest = s.to - s.from
	if n := len(r.spans); n > 0 && f.grain > 0 {
		last := &r.spans[n-1]
		if s.to-last.from <= f.grain {
			last.melt(s)
			return
		}
	}
	r.spans = append(r.spans, s)
	if f.spans++; f.spans > f.opt.MaxSpans {
		f.coarsen()
	}
}

func (a *span) melt(b span) {
	a.to = b.to
	if b.state != a.state || b.why != a.why || b.g != a.g {
		a.mixed = true
	}
	if b.longest > a.longest {
		a.longest, a.state, a.why, a.line, a.g = b.longest, b.state, b.why, b.line, b.g
	}
}

// coarsen doubles the grain until the number of spans is half of the maximum.
func (f *Fold) coarsen() {
	for f.spans > f.opt.MaxSpans/2 && f.grain < 1<<60 {
		f.grain = max(1000, 2*f.grain)
		f.spans = 0
		for _, r := range f.rows {
			f.spans += r.shrink(f.grain)
		}
		for _, r := range f.procs {
			f.spans += r.shrink(f.grain)
		}
	}
}

func (r *row) shrink(grain int64) int {
	out := r.spans[:0]
	for _, s := range r.spans {
		if n := len(out); n > 0 && s.to-out[n-1].from <= grain {
			out[n-1].melt(s)
			continue
		}
		out = append(out, s)
	}
	r.spans = out
	return len(out)
}

// processor draws which goroutines ran on which processor.
func (f *Fold) processor(e *exectrace.Event, g *live) {
	if e.P < 0 || e.P >= 4096 || e.Time <= f.opt.From {
		return
	}
	for int(e.P) >= len(f.procs) {
		f.procs = append(f.procs, &row{})
	}
	r := f.procs[e.P]
	if e.From == exectrace.Running && g.state == exectrace.Running && f.wanted(g.id) {
		from := max(g.since, f.opt.From)
		r.busy += e.Time - from
		f.add(r, span{from: from, to: e.Time, state: exectrace.Running, line: int32(g.line), g: g.id})
	}
}

// closeProcessor ends the span of the processor on which a goroutine is running.
func (f *Fold) closeProcessor(g *live, now int64) {
	if g.state != exectrace.Running || g.proc < 0 || int(g.proc) >= len(f.procs) || now <= f.opt.From || !f.wanted(g.id) {
		return
	}
	r, from := f.procs[g.proc], max(g.since, f.opt.From)
	r.busy += now - from
	f.add(r, span{from: from, to: now, state: exectrace.Running, line: int32(g.line), g: g.id})
}

func (f *Fold) wake(e *exectrace.Event, g *live) {
	if e.Time < f.opt.From || !f.wanted(g.id) {
		return
	}
	if len(f.wakes) >= maxWakes {
		f.lostW++
		return
	}
	w := Wake{At: e.Time, To: g.id, Line: f.line(e.Stack)}
	if e.By != exectrace.NoG {
		w.From = f.at(e.By).id
	}
	f.wakes = append(f.wakes, w)
}

func (f *Fold) line(s exectrace.StackID) int {
	if s == 0 {
		return -1
	}
	l := f.trace.Blame(s)
	n, ok := f.lines[l]
	if !ok {
		n = len(f.list)
		f.lines[l] = n
		f.list = append(f.list, l)
	}
	return n
}

// band follows garbage collections and stops of the world.
func (f *Fold) band(t *exectrace.Trace, e *exectrace.Event) {
	switch e.Kind {
	case exectrace.GCBegin, exectrace.GCActive:
		f.openBand("GC", "", e.Time)
	case exectrace.GCEnd:
		f.closeBand("GC", e.Time)
	case exectrace.STWBegin:
		f.openBand("STW", t.ReasonName(e, e.Why), e.Time)
	case exectrace.STWEnd:
		f.closeBand("STW", e.Time)
	}
}

func (f *Fold) openBand(name, why string, now int64) {
	if _, ok := f.open[name]; ok || len(f.bands) >= maxBands {
		return
	}
	f.open[name] = len(f.bands)
	f.bands = append(f.bands, Band{Name: name, Why: why, From: now, To: -1})
}

func (f *Fold) closeBand(name string, now int64) {
	i, ok := f.open[name]
	if !ok {
		return
	}
	delete(f.open, name)
	f.bands[i].To = now
	if now <= f.opt.From && i == len(f.bands)-1 {
		f.bands = f.bands[:i]
	}
}

func (f *Fold) gap(now int64) {
	for i := range f.gs {
		if f.gs[i].id != 0 {
			f.close(&f.gs[i], now)
			f.closeProcessor(&f.gs[i], now)
			f.gs[i] = live{}
		}
	}
	for name := range f.open {
		f.closeBand(name, now)
	}
}

// finish closes everything at the end of the window, once.
func (f *Fold) finish(now int64) {
	if f.ending > 0 {
		return
	}
	f.gap(now)
	f.ending = max(1, now)
}

// End closes what is still open.
func (f *Fold) End(t *exectrace.Trace) {
	f.trace = t
	f.finish(t.Now())
}

// Done reports whether the window is over.
func (f *Fold) Done() bool { return f.ending > 0 }

// Result is what to draw. Times are in nanoseconds since the start of the trace.
type Result struct {
	From       int64            `json:"from"`
	To         int64            `json:"to"`
	Lines      []exectrace.Line `json:"lines"`
	Processors []Row            `json:"processors"`
	Goroutines []Row            `json:"goroutines"` // in the order in which they were seen
	Bands      []Band           `json:"bands"`
	Wakes      []Wake           `json:"wakes"`
	// Grain, if not 0, is the length in nanoseconds below which spans were merged. Hidden is the
	// number of goroutines beyond the maximum, and Unshown that of wakes.
	Grain   int64 `json:"grain,omitempty"`
	Hidden  int64 `json:"hidden_goroutines,omitempty"`
	Unshown int64 `json:"unshown_wakes,omitempty"`
}

// Row is a row of the drawing.
type Row struct {
	ID    uint64 `json:"id"`
	Name  string `json:"name,omitempty"`
	Spans []Span `json:"spans"`
}

// Span is an interval in one state.
type Span struct {
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
	Line  int    `json:"line"`            // in Result.Lines; -1 if unknown
	G     uint64 `json:"g,omitempty"`     // of a processor: the goroutine that ran
	Mixed bool   `json:"mixed,omitempty"` // several spans were merged; State is that of the longest
}

// Band is an interval of the whole program: GC or STW.
type Band struct {
	Name string `json:"name"`
	Why  string `json:"why,omitempty"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
}

// Result returns what was collected.
func (f *Fold) Result() *Result {
	r := &Result{From: f.opt.From, To: f.ending, Lines: f.list, Bands: f.bands, Wakes: f.wakes,
		Grain: f.grain, Hidden: f.cutG, Unshown: f.lostW}
	for i, p := range f.procs {
		r.Processors = append(r.Processors, f.row(uint64(i), p))
	}
	for _, id := range f.order {
		r.Goroutines = append(r.Goroutines, f.row(id, f.rows[id]))
	}
	return r
}

func (f *Fold) row(id uint64, r *row) Row {
	out := Row{ID: id, Name: r.name, Spans: make([]Span, len(r.spans))}
	for i, s := range r.spans {
		out.Spans[i] = Span{From: s.from, To: s.to, State: strings.ToLower(s.state.String()), Why: f.why(s), Line: int(s.line), G: s.g, Mixed: s.mixed}
	}
	return out
}

func (f *Fold) why(s span) string {
	if s.why == exectrace.ReasonNone || s.state == exectrace.Running {
		return ""
	}
	return f.trace.ReasonName(nil, s.why)
}
