package requests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
)

// Path is a critical path: what the time between two moments was spent on, following each wait to
// the goroutine that ended it. While a goroutine was blocked, the path is that of its waker, back
// to where the wait began or to where a goroutine that is already on the path started or woke the
// waker.
//
// A wait that another request ended is not followed: it is contention, and the segment names the
// request. Nor are waits that the network poller or a timer ended.
type Path struct {
	Begin    int64     `json:"begin_ns"`
	Length   int64     `json:"length_ns"`
	Segments []Segment `json:"segments"` // in order of time; they sum to Length unless some are left out
	LeftOut  int       `json:"segments_left_out,omitempty"`
	// Steps are the segments by goroutine function and place, longest first. They sum to Length.
	Steps []Step `json:"steps"`

	stretches []stretch // the steps by stack, for PathProfile
}

// Segment is a part of a path on one goroutine.
type Segment struct {
	Begin     int64  `json:"begin_ns"`
	Time      int64  `json:"ns"`
	Goroutine uint64 `json:"goroutine"`
	Spot
}

// Step is all segments of one kind.
type Step struct {
	Time  int64   `json:"ns"`
	Share float64 `json:"share"` // of the path's length
	Count int     `json:"count"`
	Spot
}

// Spot is what a goroutine on a path did, and where.
type Spot struct {
	// Lost says that this is not known: the recorder does not reach back so far.
	Lost bool `json:"lost,omitempty"`
	Part Part `json:"part"`
	// Function is the function that the goroutine was started with, or the first on its stack
	// outside the standard library: the handler, not the connection that serves it.
	Function string `json:"function,omitempty"`
	// Object is what it waited for.
	Object string `json:"object,omitempty"`
	// Line is where it left the processor; for running, where the run ended.
	Line exectrace.Line `json:"line,omitzero"`
	// Waker is where the goroutine was that ended the wait or created this one.
	Waker exectrace.Line `json:"waker,omitzero"`
	// Request is the other request whose goroutine ended the wait: contention.
	Request int64 `json:"request,omitempty"`
}

// maxSegments bounds the segments of a path that are kept.
const maxSegments = 4096

// maxDepth bounds how many goroutines on a path wait for each other.
const maxDepth = 64

// waiter is a goroutine whose wait is followed on another.
type waiter struct {
	goid  uint64
	seq   uint32 // its interval before the wait
	floor int64  // how far back it is itself followed
	left  exectrace.StackID
}

// walker follows a path back in time.
type walker struct {
	f     *Fold
	r     *recorder
	self  uint32 // the request whose path it is; 0: the whole run's
	t     int64  // how far back it has come
	goid  uint64
	seq   uint32 // the interval of goid to look at next
	floor int64  // where to return from goid to the goroutine that waits for it
	at    exectrace.StackID
	stack []waiter
	path  *Path
	steps map[spotKey]*Step

	missing uint32 // the last interval that it needed and that is no longer recorded; 0: none
	gaps    int    // steps taken without an interval that no recorder held together with the others
}

// spotKey identifies a Spot.
type spotKey struct {
	part       Part
	lost       bool
	left, wake exectrace.StackID
	request    int64
}

// request returns the path of a request that is over.
func (r *recorder) request(f *Fold, l *live) *Path {
	s := r.gs[l.g]
	return r.walk(f, s, l.begin, l.end, uint32(l.id))
}

// walk returns the path of a goroutine from begin to end.
func (r *recorder) walk(f *Fold, s strand, begin, end int64, self uint32) *Path {
	w := newWalker(f, r, s, begin, end, self)
	w.walk()
	return w.finish()
}

func newWalker(f *Fold, r *recorder, s strand, begin, end int64, self uint32) *walker {
	return &walker{
		f: f, r: r, self: self, t: end, goid: s.goid, seq: s.head, floor: begin,
		path: &Path{Begin: begin, Length: end - begin}, steps: map[spotKey]*Step{},
	}
}

// walk goes back to the path's start.
func (w *walker) walk() {
	for w.t > w.path.Begin {
		w.step()
	}
}

// step goes back to the start of the run or the wait that ends at w.t.
func (w *walker) step() {
	if w.t <= w.floor {
		w.back()
		return
	}
	x := w.get(w.seq)
	switch {
	case x == nil:
		w.emit(w.floor, spotKey{part: Running, left: w.at, lost: w.seq != 0})
	case x.begin >= w.t: // later than w.t
		w.seq = x.prev
	case x.end < w.t:
		w.emit(max(x.end, w.floor), spotKey{part: Running, left: w.at})
	case x.part.waiting():
		w.wait(x)
	case x.part == ReadyCreated: // x.left is its creator's
		w.emit(max(x.begin, w.floor), spotKey{part: x.part, wake: x.left})
		w.at, w.seq = 0, x.prev
		if w.t == x.begin {
			w.created(x)
		}
	default:
		w.emit(max(x.begin, w.floor), spotKey{part: x.part, left: x.left})
		w.at, w.seq = x.left, x.prev
	}
}

// wait follows a wait to its waker, or adds the wait itself if there is none to follow.
func (w *walker) wait(x *spell) {
	begin := max(x.begin, w.floor)
	known := x.by != 0 && x.end == w.t && !x.part.external() && len(w.stack) < maxDepth
	foreign := w.self != 0 && !x.part.external() && x.request != 0 && x.request != w.self
	if !known || foreign {
		k := spotKey{part: x.part, left: x.left, wake: x.wake}
		if foreign {
			k.request = int64(x.request)
		}
		w.emit(begin, k)
		w.at, w.seq = x.left, x.prev
		return
	}
	if w.returnToWaiter(x) {
		return
	}
	w.stack = append(w.stack, waiter{w.goid, x.prev, w.floor, x.left})
	w.goid, w.seq, w.at = x.by, x.cause, x.wake
	w.floor = w.reach(begin)
}

// reach returns how far back to follow the goroutine that the path has come to, for a wait that
// started at begin: further back if a goroutine on the path woke or created it for this.
func (w *walker) reach(begin int64) int64 {
	x := w.get(w.seq)
	for n := 0; x != nil && n < 64; n++ {
		from := x.end
		if x.part == ReadyCreated {
			from = x.begin
		}
		if from < w.path.Begin {
			break
		}
		if x.by != 0 && (x.part.waiting() || x.part == ReadyCreated) {
			if i := w.waits(x.by); i >= 0 && from < begin && from > w.stack[i].floor {
				return from - 1 // to come to that event itself
			}
			break
		}
		x = w.get(x.prev)
	}
	return begin
}

// waits returns the index of a goroutine in the stack, or -1.
func (w *walker) waits(goid uint64) int {
	return slices.IndexFunc(w.stack, func(x waiter) bool { return x.goid == goid })
}

// returnToWaiter continues with the waker if it is on the path, and reports whether it did.
func (w *walker) returnToWaiter(x *spell) bool {
	i := w.waits(x.by)
	if i < 0 || w.t < w.stack[i].floor {
		return false
	}
	w.floor, w.stack = w.stack[i].floor, w.stack[:i]
	w.goid, w.seq, w.at = x.by, x.cause, x.wake
	return true
}

// created continues with the creator of a goroutine, from where that created it.
func (w *walker) created(x *spell) {
	switch {
	case x.by == 0 || w.returnToWaiter(x):
	case len(w.stack) == 0: // the path's own goroutine: its creation is before the path
	case w.t > w.floor:
		w.goid, w.seq, w.at = x.by, x.cause, x.wake
	}
}

// back returns to the goroutine that waited.
func (w *walker) back() {
	last := len(w.stack) - 1
	x := w.stack[last]
	w.stack = w.stack[:last]
	w.goid, w.seq, w.floor, w.at = x.goid, x.seq, x.floor, x.left
}

// emit adds what was done from begin to w.t.
func (w *walker) emit(begin int64, k spotKey) {
	d := w.t - begin
	s := w.steps[k]
	if s == nil {
		s = &Step{Spot: w.r.spot(w.f, k)}
		w.steps[k] = s
	}
	s.Time += d
	s.Count++
	if len(w.path.Segments) < maxSegments {
		w.path.Segments = append(w.path.Segments, Segment{Begin: begin, Time: d, Goroutine: w.goid, Spot: s.Spot})
	} else {
		w.path.LeftOut++
	}
	w.t = begin
}

// spot returns what a key means. It is called with the same few keys again and again.
func (r *recorder) spot(f *Fold, k spotKey) Spot {
	if s, ok := r.spots[k]; ok {
		return s
	}
	s := Spot{Lost: k.lost, Part: k.part, Request: k.request}
	if k.left != 0 {
		s.Line, s.Function = f.src.Blame(k.left), f.purpose(k.left)
		s.Object = f.object(k.left, k.part)
	}
	if k.wake != 0 && !k.part.external() {
		s.Waker = f.src.Blame(k.wake)
	}
	if k.part.ready() {
		s.Line = exectrace.Line{} // waiting for a processor is the same everywhere
	}
	if k.request == 0 && len(r.spots) < 1<<16 {
		r.spots[k] = s
	}
	return s
}

// purpose returns the function that says what the goroutine of a stack is for.
func (f *Fold) purpose(s exectrace.StackID) string {
	frames := f.src.Frames(s)
	for i := len(frames) - 1; i >= 0; i-- {
		if !frames[i].Standard() {
			return frames[i].Func
		}
	}
	return f.src.Root(s).Function
}

func (w *walker) finish() *Path {
	slices.Reverse(w.path.Segments)
	w.path.stretches = stretches(w.steps)
	bySpot := map[Spot]*Step{}
	for _, s := range w.steps { // different stacks may give one spot
		if o := bySpot[s.Spot]; o != nil {
			o.Time += s.Time
			o.Count += s.Count
		} else {
			bySpot[s.Spot] = s
		}
	}
	for _, s := range bySpot {
		s.Share = float64(s.Time) / float64(w.path.Length)
		w.path.Steps = append(w.path.Steps, *s)
	}
	slices.SortFunc(w.path.Steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Function, b.Function),
			a.Line.Compare(b.Line), a.Waker.Compare(b.Waker), cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Request, b.Request), compareBool(a.Lost, b.Lost))
	})
	return w.path
}

// upTo returns the intervals of a goroutine, including the one that is still open at now.
func (r *recorder) upTo(f *Fold, g exectrace.GIndex, now int64) strand {
	s := r.gs[g]
	m := f.src.Goroutine(g)
	if m.ID == s.goid && m.State != exectrace.Running && m.State != exectrace.Gone && m.Since < now {
		x := r.push(&s)
		x.begin, x.end, x.part, x.left = m.Since, now, f.parts.of(m.State, m.Why), m.Left
	}
	return s
}

// Sentence says in words what a path is made of: "18.2 ms: 71 % main.worker running up to
// shop/store.go:41, 20 % waiting for the network at shop/store.go:12".
func (p *Path) Sentence() string {
	var b strings.Builder
	b.WriteString(Duration(p.Length))
	sep := ": "
	for i := range p.Steps {
		s := &p.Steps[i]
		if i == 5 || s.Share < minShare {
			break
		}
		fmt.Fprintf(&b, "%s%.0f %% %s", sep, 100*s.Share, s.Text())
		sep = ", "
	}
	return b.String()
}

// Text says what was done at a spot.
func (s *Spot) Text() string {
	if s.Lost {
		return "too far back to know"
	}
	var b strings.Builder
	if s.Function != "" {
		b.WriteString(s.Function + " ")
	}
	b.WriteString(doing(s.Part, s.Object))
	none := exectrace.Line{}
	switch {
	case s.Line == none:
	case s.Part == Running:
		b.WriteString(" up to " + s.Line.String())
	default:
		b.WriteString(" at " + s.Line.String())
	}
	switch {
	case s.Request != 0:
		fmt.Fprintf(&b, " (held by request %d, at %s)", s.Request, s.Waker)
	case s.Part == ReadyCreated && s.Waker != none:
		b.WriteString(" (created at " + s.Waker.String() + ")")
	case s.Waker != none:
		b.WriteString(" (woken at " + s.Waker.String() + ")")
	}
	return b.String()
}
