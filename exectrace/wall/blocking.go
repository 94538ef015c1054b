package wall

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// Blocking says where goroutines waited, and who ended the waits.
type Blocking struct {
	Length float64 `json:"length_seconds"`
	// Waits are by line and reason, longest first, without goroutines of the runtime.
	Waits    []Wait    `json:"waits"`
	Locks    []Lock    `json:"locks,omitempty"`
	Handoffs []Handoff `json:"handoffs,omitempty"`
	Polls    []Poll    `json:"polls,omitempty"` // by lines outside the standard library
}

// Wait is the waiting at one line for one reason.
type Wait struct {
	Line   exectrace.Line `json:"line"`
	Reason string         `json:"reason"`
	// Object is what the goroutine waits for, if the stack says more than the tracer. For "sync" it
	// is a kind of lock, as in [Lock]. It is "collector" for waits for the garbage collector, such
	// as some of "chan receive" and all of "preempted" (it scans the goroutine's stack).
	Object  string  `json:"object,omitempty"`
	Seconds float64 `json:"seconds"`
	Count   int64   `json:"count"`
	Max     float64 `json:"max_seconds"`
	Open    int64   `json:"open,omitempty"` // still waiting at the end of the trace; included in Count and Seconds
	Wakers  []Waker `json:"wakers,omitempty"`
	// Callers are the lines of the main module from which Line was called, longest first, if Line
	// is in a module that the program depends on.
	Callers []Waker `json:"callers,omitempty"`
}

// Waker is a line that ended waits. The zero Line stands for the network poller, timers and unknown
// wakers.
type Waker struct {
	Line    exectrace.Line `json:"line"`
	Seconds float64        `json:"seconds"` // of the waits that it ended
	Count   int64          `json:"count"`
}

// Handoff is a pair of lines that use a channel: one waits for it, the other wakes the waiter.
// Waits within a library are not hand-offs of the program.
type Handoff struct {
	Waiter  exectrace.Line `json:"waiter"`
	Waker   exectrace.Line `json:"waker"`
	Reason  string         `json:"reason"`
	Count   int64          `json:"count"`
	Seconds float64        `json:"seconds"` // time waited
	// Work is the mean time, in seconds, that the waiter ran between one such wait and the next. A
	// switch costs about 0.2 to 1 µs on each side, so below 2 µs the goroutines do little more than
	// pass things on.
	Work float64 `json:"mean_work_seconds"`
	// Brief is how many waits of Count followed less than 5 µs of work.
	Brief int64 `json:"brief"`
	// Mutual says that the waker also waits for the waiter: they alternate.
	Mutual bool `json:"mutual,omitempty"`
}

// Poll is a line at which goroutines sleep repeatedly. Between two sleeps they usually neither
// wait, nor wake another goroutine, nor make a system call.
type Poll struct {
	Line  exectrace.Line `json:"line"`
	Count int64          `json:"count"`
	Sleep float64        `json:"mean_sleep_seconds"`
	Work  float64        `json:"mean_work_seconds"` // between two sleeps
}

// waitSum is the sum of rows of waits with one key.
type waitSum struct {
	spans
	open, again int64
	openTotal   int64 // nanoseconds of the open ones
}

// over returns the time, in nanoseconds, of the waits that ended before the trace did.
func (w *waitSum) over() int64 { return w.total - w.openTotal }

func (w *waitSum) add(r *row) {
	w.spans.merge(&r.spans)
	w.again += int64(r.again)
	if r.open() {
		w.open += r.n
		w.openTotal += r.total
	}
}

type waitKey struct {
	line   int32
	direct bool // the line itself waits, not a library that it calls
	why    exectrace.Reason
	object string // see Wait.Object
}

type pairKey struct {
	waitKey
	wake int32 // line; -1 if unknown
}

// callers is the waits at a line of a module, by the line that called it.
type callers map[exectrace.Line]*waitSum

// waits sums the rows of waits by line, by line and waker, and for lines of modules by caller.
func (f *Fold) waits() (byLine map[waitKey]*waitSum, byPair map[pairKey]*waitSum, byCaller map[waitKey]callers) {
	byLine, byPair, byCaller = map[waitKey]*waitSum{}, map[pairKey]*waitSum{}, map[waitKey]callers{}
	started := map[exectrace.StackID]bool{}
	objects := map[exectrace.StackID]string{}
	for i := range f.table.rows {
		r := &f.table.rows[i]
		if r.what() != blocked {
			continue
		}
		k := waitKey{line: f.lines.of(f.trace, r.left()), direct: f.trace.Direct(r.left()), why: r.why()}
		if at := f.lines.list[k.line]; at.OfProbe() || f.startedByRuntime(r.entry(), started) && (at.OfRuntime() || at == exectrace.Line{}) {
			continue
		}
		if queues(k.why) || overChannel(k.why) {
			object, ok := objects[r.left()]
			if !ok {
				object = f.object(r.left(), k.why)
				objects[r.left()] = object
			}
			k.object = object
		}
		if k.why == exectrace.WaitPreempted {
			k.object = inCollector
		}
		sumAt(byLine, k).add(r)
		if f.lines.list[k.line].Downloaded() {
			if byCaller[k] == nil {
				byCaller[k] = callers{}
			}
			sumAt(byCaller[k], f.trace.Caller(r.left())).add(r)
		}
		p := pairKey{k, -1}
		if r.wake() != 0 {
			p.wake = f.lines.of(f.trace, r.wake())
		}
		sumAt(byPair, p).add(r)
	}
	return byLine, byPair, byCaller
}

func sumAt[K comparable](m map[K]*waitSum, k K) *waitSum {
	s := m[k]
	if s == nil {
		s = new(waitSum)
		m[k] = s
	}
	return s
}

// startedByRuntime reports whether the goroutines with this first stack belong to the runtime. One
// that runs finalizers may wait in a finalizer, so the stack at which it waits must belong to the
// runtime too.
func (f *Fold) startedByRuntime(entry exectrace.StackID, known map[exectrace.StackID]bool) bool {
	is, ok := known[entry]
	if !ok {
		is = f.trace.Root(entry).OfRuntime()
		known[entry] = is
	}
	return is
}

// Blocking returns the sums of the waits.
func (f *Fold) Blocking() *Blocking {
	byLine, byPair, byCaller := f.waits()
	out := &Blocking{Length: exectrace.Seconds(f.length), Locks: f.locks(byPair), Handoffs: f.handoffs(byPair), Polls: f.polls(byLine)}
	wakers := map[waitKey][]Waker{}
	for k, s := range byPair {
		if s.n == s.open {
			continue // no known waker
		}
		w := Waker{Seconds: exectrace.Seconds(s.over()), Count: s.n - s.open}
		if k.wake >= 0 {
			w.Line = f.lines.list[k.wake]
		}
		wakers[k.waitKey] = append(wakers[k.waitKey], w)
	}
	for k, s := range byLine {
		ws := wakers[k]
		slices.SortFunc(ws, longestFirst)
		out.Waits = append(out.Waits, Wait{
			Line: f.lines.list[k.line], Reason: whyName(f.trace, blocked, k.why), Object: k.object,
			Seconds: exectrace.Seconds(s.total), Count: s.n, Max: exectrace.Seconds(s.max), Open: s.open, Wakers: ws, Callers: byCaller[k].list(),
		})
	}
	slices.SortFunc(out.Waits, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), a.Line.Compare(b.Line), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Object, b.Object))
	})
	return out
}

func (c callers) list() []Waker {
	var out []Waker
	for line, s := range c {
		if line != (exectrace.Line{}) { // otherwise it is a goroutine of the module
			out = append(out, Waker{line, exectrace.Seconds(s.total), s.n})
		}
	}
	slices.SortFunc(out, longestFirst)
	return out
}

func longestFirst(a, b Waker) int {
	return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), a.Line.Compare(b.Line))
}

// handoffs returns the pairs of lines that use channels and selects.
func (f *Fold) handoffs(byPair map[pairKey]*waitSum) []Handoff {
	var out []Handoff
	waits := map[[2]int32]bool{}
	for k := range byPair {
		if overChannel(k.why) && k.object == "" && k.wake >= 0 && k.direct {
			waits[[2]int32{k.line, k.wake}] = true
		}
	}
	for k, s := range byPair {
		n := s.n - s.open
		if !overChannel(k.why) || k.object != "" || k.wake < 0 || !k.direct || n == 0 {
			continue
		}
		out = append(out, Handoff{
			Waiter: f.lines.list[k.line], Waker: f.lines.list[k.wake], Reason: whyName(f.trace, blocked, k.why),
			Count: n, Seconds: exectrace.Seconds(s.total), Work: exectrace.Seconds(s.work) / float64(n), Brief: min(s.brief, n),
			Mutual: waits[[2]int32{k.wake, k.line}],
		})
	}
	slices.SortFunc(out, func(a, b Handoff) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Waiter.Compare(b.Waiter), a.Waker.Compare(b.Waker), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

func overChannel(why exectrace.Reason) bool {
	return why == exectrace.WaitChanSend || why == exectrace.WaitChanReceive || why == exectrace.WaitSelect
}

// polls returns the lines at which at least two of three sleeps follow another sleep without
// anything but running in between. A handler that sleeps once per request waits for the request in
// between, and a goroutine that paces itself by sleeping sends something: neither of them polls.
func (f *Fold) polls(byLine map[waitKey]*waitSum) []Poll {
	var out []Poll
	for k, s := range byLine {
		if k.why != exectrace.WaitSleep || s.again == 0 || 3*s.again < 2*s.n || f.lines.list[k.line].Standard() {
			continue
		}
		out = append(out, Poll{
			Line: f.lines.list[k.line], Count: s.n,
			Sleep: exectrace.Seconds(s.total) / float64(s.n), Work: exectrace.Seconds(s.work) / float64(s.n),
		})
	}
	slices.SortFunc(out, func(a, b Poll) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Line.Compare(b.Line))
	})
	return out
}
