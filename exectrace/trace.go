package exectrace

import (
	"fmt"
	"iter"
	"time"

	"github.com/hone-go/hone/exectrace/internal/wire"
	"github.com/hone-go/hone/profile"
)

// Trace is what is known about the trace, while folds run and at the end.
type Trace struct {
	info    Info
	now     int64
	order   *order
	known   stacks
	threads []uint64
	labels  labels
	cache   map[StackID][]Frame
	cached  int
	blamed  map[StackID]Line // results of Blame
	place   Place
}

// Place is the position of a generation in a trace. Its bytes, preceded by the first HeaderSize
// bytes of the trace, are a valid trace.
type Place struct {
	Number uint64
	Offset int64 // of its first batch in the (decompressed) trace, bytes
	Began  int64 // time of its first batch, in nanoseconds since the trace's first event: time 0 when the generation is read on its own
}

// HeaderSize is the number of bytes before the first generation of a trace.
const HeaderSize = wire.HeaderSize

// Generation returns the place of the generation whose events the folds are getting.
func (t *Trace) Generation() Place { return t.place }

// Info describes a whole trace.
type Info struct {
	Version     int           // of the format: 22, 23, 25 or 26, for Go 1.N
	Start       time.Time     // wall clock of the first event; zero before Go 1.25
	Length      time.Duration // from the first event to the last
	Bytes       int64         // decompressed
	Events      int64         // number of events passed to folds
	Generations int           // number of generations whose events were passed to folds
	Goroutines  int64         // number seen; those alive at a Gap count again after it
	Procs       int           // largest number at one time (GOMAXPROCS)
	CPUSamples  int64
	Stacks      int // number of different stacks
}

// Info returns the figures so far.
func (t *Trace) Info() Info {
	i := t.info
	i.Length = timeSpan(t.now)
	i.Stacks = t.Stacks() - 1
	return i
}

// Now returns the time of the last event passed to folds, in nanoseconds since the first.
func (t *Trace) Now() int64 { return t.now }

// Goroutine is the state of a goroutine at the end of the block. The events have who created it and
// who woke it.
type Goroutine struct {
	ID     uint64
	Since  int64   // start of State
	Left   StackID // stack at which it left the processor
	Thread int32   // thread on which it runs, or -1
	Entry  StackID // its own first stack: the function that it was started with; 0 when unknown
	Spawn  StackID // the creator's stack at the go statement
	State  State   // Gone if it ended in this block
	Why    Reason  // why it is in State
	Seen   bool    // the trace contains its creation
}

// Goroutine returns the goroutine with an index, alive or ended in this block; nil for NoG. The
// pointer is valid during the call of Events or End. It has the state at the end of the block, not
// at an event in it.
func (t *Trace) Goroutine(i GIndex) *Goroutine {
	if int64(i) >= int64(len(t.order.gs)) {
		return nil
	}
	return &t.order.gs[i].Goroutine
}

// Live returns the goroutines that have not ended.
func (t *Trace) Live() iter.Seq2[GIndex, *Goroutine] {
	return func(yield func(GIndex, *Goroutine) bool) {
		for i := range t.order.gs {
			if g := &t.order.gs[i].Goroutine; g.State != Gone && !yield(GIndex(i), g) {
				return
			}
		}
	}
}

// Frame is one frame of a stack; inlined calls have frames too.
type Frame struct {
	PC   uint64
	Func string
	File string
	Line int
}

// maxCached bounds the frames in the cache of Frames.
const maxCached = 1 << 18

// Frames returns a stack's frames, leaf first, at most 128. The slice is shared and must not be
// changed.
func (t *Trace) Frames(s StackID) []Frame {
	if s == 0 || int64(s) >= int64(len(t.known.spans)) {
		return nil
	}
	if f, ok := t.cache[s]; ok {
		return f
	}
	if t.cached > maxCached || t.cache == nil {
		t.cache, t.cached = map[StackID][]Frame{}, 0
	}
	sp := t.known.spans[s]
	frames := make([]Frame, 0, sp.to-sp.from)
	for _, ref := range t.known.refs[sp.from:sp.to] {
		f := &t.known.frames[ref]
		frames = append(frames, Frame{PC: f.pc, Func: t.known.names[f.fn], File: t.known.names[f.file], Line: int(f.line)})
	}
	t.cache[s] = frames
	t.cached += len(frames)
	return frames
}

// Stacks returns the largest StackID so far, plus one.
func (t *Trace) Stacks() int { return max(1, len(t.known.spans)) }

// Threads returns the system's ID of each thread, by Event.M.
func (t *Trace) Threads() []uint64 { return t.threads }

// Annotation holds the words of a task, region or log, except a log's message: see Message.
type Annotation struct {
	Task   uint64 // 0: the background task
	Parent uint64 // of TaskBegin and TaskEnd; 0 none
	Name   string // type of the task or region, category of the log, or the label
	// ID is a number for Name: small, dense, and the same in the whole trace. It is 0 if the name
	// is empty, or if the trace has more different names than are kept.
	ID uint32
}

// Annotation returns the words of a task, region, log or label event. It is valid during the
// event's block.
func (t *Trace) Annotation(e *Event) Annotation {
	a := Annotation{Task: e.Value}
	if n := t.note(e); n != nil {
		a.Parent, a.Name, a.ID = n.parent, t.noteName(n), n.label
	}
	return a
}

// Label returns only the ID of Annotation, for folds that have seen its name before.
func (t *Trace) Label(e *Event) uint32 {
	if n := t.note(e); n != nil {
		return n.label
	}
	return 0
}

// Begun reports, for a TaskEnd or RegionEnd during its block, whether its begin is known: the trace
// contains it, and it was within the number of open ones that are kept.
func (t *Trace) Begun(e *Event) bool {
	n := t.note(e)
	return n != nil && n.begun
}

// Message returns the message of a Log event. It must be called during the event's block.
func (t *Trace) Message(e *Event) string {
	if n := t.note(e); n != nil && n.text != 0 {
		return t.words(n.text)
	}
	return ""
}

func (t *Trace) note(e *Event) *note {
	if e.note == 0 || int(e.note) > len(t.order.notes) {
		return nil
	}
	return &t.order.notes[e.note-1]
}

func (t *Trace) noteName(n *note) string {
	if n.label != 0 {
		return t.labels.words[n.label]
	}
	return t.words(n.name)
}

// words returns a string of the generation whose events the folds are getting.
func (t *Trace) words(id uint64) string {
	if g := t.order.g; g != nil {
		if r := g.strings.get(id); r != nil {
			return string(g.bytes(r))
		}
	}
	return ""
}

// ReasonName returns the reason in the words of Go's tracer ("chan receive"). For STWBegin, STWEnd
// and ReasonOther it needs the event, during its block.
func (t *Trace) ReasonName(e *Event, r Reason) string {
	if r == ReasonOther && e != nil {
		if n := t.note(e); n != nil {
			return t.noteName(n)
		}
	}
	return r.String()
}

// labels holds the words that occur repeatedly: names of tasks and regions.
type labels struct {
	words []string
	ids   map[string]uint32
	size  int
}

// Limits of labels. Words beyond them are available only during their generation.
const (
	maxLabels     = 1 << 18
	maxLabelBytes = 16 << 20
)

func newLabels() labels { return labels{words: []string{""}, ids: map[string]uint32{}} }

// intern returns the index of a string of the generation, or 0 when the limit is reached.
func (l *labels) intern(g *generation, r *stringRef) uint32 {
	b := g.bytes(r)
	i, ok := l.ids[string(b)]
	if !ok {
		if len(b) == 0 || len(l.words) >= maxLabels || l.size >= maxLabelBytes {
			return 0
		}
		s := string(b)
		i = uint32(len(l.words))
		l.words = append(l.words, s)
		l.ids[s] = i
		l.size += len(s)
	}
	r.label = i
	return i
}

// Row is a stack with its values: an argument of Profile.
type Row struct {
	Stack  StackID
	Values []int64
	Labels map[string]string // optional
	// RootOnly reduces the stack to the function that its goroutine was started with.
	RootOnly bool
}

// Profile builds a pprof profile from rows. types has the name and unit of each value
// ("contentions"/"count", "delay"/"nanoseconds"). Rows whose values are all zero are left out.
func (t *Trace) Profile(types []profile.ValueType, rows []Row) (*profile.Profile, error) {
	b := profile.NewBuilder(types...)
	var stack []profile.FrameSpec
	for _, r := range rows {
		if allZero(r.Values) {
			continue
		}
		stack = stack[:0]
		frames := t.Frames(r.Stack)
		if r.RootOnly {
			frames = rootFrames(frames)
		}
		for _, f := range frames {
			stack = append(stack, profile.FrameSpec{Function: f.Func, File: f.File, Line: int64(f.Line)})
		}
		if len(stack) == 0 {
			stack = append(stack, profile.FrameSpec{Function: "[no stack]"})
		}
		b.AddLabeled(stack, profileLabels(r.Labels), r.Values...)
	}
	p, err := b.Profile()
	if err != nil {
		return nil, fmt.Errorf("profile of an execution trace: %w", err)
	}
	p.DurationNanos = t.now
	if s := t.info.Start; !s.IsZero() {
		p.TimeNanos = s.UnixNano()
	}
	return p, nil
}

func allZero(values []int64) bool {
	for _, v := range values {
		if v != 0 {
			return false
		}
	}
	return true
}

func profileLabels(m map[string]string) []profile.Label {
	labels := make([]profile.Label, 0, len(m))
	for k, v := range m {
		labels = append(labels, profile.Label{Key: k, Str: v})
	}
	return labels
}
