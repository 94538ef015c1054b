package exectrace

import (
	"fmt"
	"iter"
	"time"

	"github.com/hone-go/hone/exectrace/internal/wire"
	"github.com/hone-go/hone/profile"
)

// Trace is what is known so far, while folds run, and at the end.
type Trace struct {
	info    Info
	now     int64
	order   *order
	known   stacks
	threads []uint64
	labels  labels
	cache   map[StackID][]Frame
	cached  int
	blamed  map[StackID]Line // what Blame said
	place   Place
}

// Place says where in a trace a generation stands. Its bytes, behind the first HeaderSize bytes of the trace, are a trace
// of their own.
type Place struct {
	Number uint64
	Offset int64 // of its first batch in the (inflated) trace, bytes
	Began  int64 // when its first batch did, in nanoseconds since the trace's first event: time 0 of a reading of it alone
}

// HeaderSize is how many bytes stand before the first generation of a trace.
const HeaderSize = wire.HeaderSize

// Generation returns the place of the generation whose events are being handed out.
func (t *Trace) Generation() Place { return t.place }

// Info are the figures of a whole trace.
type Info struct {
	Version     int           // 22, 23, 25, 26: of the format, Go 1.N
	Start       time.Time     // wall clock of the first event; zero before Go 1.25
	Length      time.Duration // first event to last
	Bytes       int64         // inflated
	Events      int64         // handed out
	Generations int           // of which events were handed out
	Goroutines  int64         // seen; once more for those alive at a Gap and after it
	Procs       int           // most at one time (GOMAXPROCS)
	CPUSamples  int64
	Stacks      int // different ones
}

// Info returns the figures up to now.
func (t *Trace) Info() Info {
	i := t.info
	i.Length = timeSpan(t.now)
	i.Stacks = t.Stacks() - 1
	return i
}

// Now returns the time of the last event that was handed out, in nanoseconds since the first.
func (t *Trace) Now() int64 { return t.now }

// Goroutine is what is known about a goroutine, as of the end of the block. Who created it and who woke it
// is in those events.
type Goroutine struct {
	ID     uint64
	Since  int64   // when State began
	Left   StackID // where it left the processor
	Thread int32   // on which it runs, or -1
	Entry  StackID // its own first stack: the function it was started with; 0 when unknown
	Spawn  StackID // the creator's stack at the go statement
	State  State   // Gone when it ended in this block
	Why    Reason  // why it is in State
	Seen   bool    // its creation is in the trace
}

// Goroutine returns the goroutine at i, alive or ended in this block; nil for NoG. The pointer is
// valid during the call of Events or End. It holds what is known at the end of the block, not
// at an event in it.
func (t *Trace) Goroutine(i GIndex) *Goroutine {
	if int64(i) >= int64(len(t.order.gs)) {
		return nil
	}
	return &t.order.gs[i].Goroutine
}

// Live ranges over the goroutines that have not ended.
func (t *Trace) Live() iter.Seq2[GIndex, *Goroutine] {
	return func(yield func(GIndex, *Goroutine) bool) {
		for i := range t.order.gs {
			if g := &t.order.gs[i].Goroutine; g.State != Gone && !yield(GIndex(i), g) {
				return
			}
		}
	}
}

// Frame is one frame of a stack, inlined ones too. Leaf first.
type Frame struct {
	PC   uint64
	Func string
	File string
	Line int
}

// maxCached bounds the frames that Frames keeps ready.
const maxCached = 1 << 18

// Frames returns a stack's frames, leaf first, at most 128. The slice is shared: do not change it.
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

// Stacks is one more than the largest StackID up to now.
func (t *Trace) Stacks() int { return max(1, len(t.known.spans)) }

// Threads returns the system's ID of each thread, by Event.M.
func (t *Trace) Threads() []uint64 { return t.threads }

// Annotation are the words of a task, region or log, but for a log's message: see Message.
type Annotation struct {
	Task   uint64 // 0: the background task
	Parent uint64 // of TaskBegin and TaskEnd; 0 none
	Name   string // type of the task or region, category of the log, or the label
	// ID is a number for Name: small, dense, and the same in the whole trace. 0 is
	// none: the name is empty, or the trace has more different ones than are kept.
	ID uint32
}

// Annotation returns the words of an event of those kinds, during its block.
func (t *Trace) Annotation(e *Event) Annotation {
	a := Annotation{Task: e.Value}
	if n := t.note(e); n != nil {
		a.Parent, a.Name, a.ID = n.parent, t.noteName(n), n.label
	}
	return a
}

// Label returns the ID of Annotation alone, for folds that have seen its name before.
func (t *Trace) Label(e *Event) uint32 {
	if n := t.note(e); n != nil {
		return n.label
	}
	return 0
}

// Begun tells, of a TaskEnd or RegionEnd during its block, whether its begin is known: it is in the trace, and was
// not one of more open ones than are kept.
func (t *Trace) Begun(e *Event) bool {
	n := t.note(e)
	return n != nil && n.begun
}

// Message returns the message of a Log, during its block.
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

// words returns a string of the generation that is being handed out.
func (t *Trace) words(id uint64) string {
	if g := t.order.g; g != nil {
		if r := g.strings.get(id); r != nil {
			return string(g.bytes(r))
		}
	}
	return ""
}

// ReasonName returns the words of a reason as Go's tracer has them ("chan receive"); for
// STWBegin, STWEnd and ReasonOther it needs the event, during its block.
func (t *Trace) ReasonName(e *Event, r Reason) string {
	if r == ReasonOther && e != nil {
		if n := t.note(e); n != nil {
			return t.noteName(n)
		}
	}
	return r.String()
}

// labels are words that come again and again: names of tasks and regions.
type labels struct {
	words []string
	ids   map[string]uint32
	size  int
}

// Limits of labels; the words of more are there only as long as their generation.
const (
	maxLabels     = 1 << 18
	maxLabelBytes = 16 << 20
)

func newLabels() labels { return labels{words: []string{""}, ids: map[string]uint32{}} }

// intern returns the place of a string of the generation, or 0 when there is no room.
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

// Row is a stack with its values, for Profile.
type Row struct {
	Stack  StackID
	Values []int64
	Labels map[string]string // optional
	// RootOnly keeps nothing of the stack but the function that its goroutine was started with.
	RootOnly bool
}

// Profile builds a pprof profile from rows: the types name and unit the values
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
