package wall

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/exectrace"
)

// Blocking is where goroutines waited, and who ended the waits.
type Blocking struct {
	Length float64 `json:"length_seconds"`
	// Waits are by line and reason, longest first, goroutines of the runtime left out.
	Waits    []Wait    `json:"waits"`
	Locks    []Lock    `json:"locks,omitempty"`
	Handoffs []Handoff `json:"handoffs,omitempty"`
	Polls    []Poll    `json:"polls,omitempty"` // by lines outside the standard library
}

// Wait is the waiting at one line for one reason.
type Wait struct {
	Line   exectrace.Line `json:"line"`
	Reason string         `json:"reason"`
	// Object is what the goroutine waits for, where the stack says more than the tracer: of "sync" a kind of lock, as in [Lock],
	// or "collector", of which "chan receive" may be, too, and "preempted" is: it scans the goroutine's stack.
	Object  string  `json:"object,omitempty"`
	Seconds float64 `json:"seconds"`
	Count   int64   `json:"count"`
	Max     float64 `json:"max_seconds"`
	Open    int64   `json:"open,omitempty"` // not over when the trace ended; within Count and Seconds
	Wakers  []Waker `json:"wakers,omitempty"`
	// Callers are the program's own lines from which Line was called, when that is of a module that it depends on,
	// longest first.
	Callers []Waker `json:"callers,omitempty"`
}

// Waker is a line that ended waits. Lines of nobody (network poller, timers, unknown) are
// the zero Line.
type Waker struct {
	Line    exectrace.Line `json:"line"`
	Seconds float64        `json:"seconds"` // of the waits that it ended
	Count   int64          `json:"count"`
}

// Handoff is a pair of lines over a channel: one waits there, the other wakes
// it. Waits within a library are no hand-offs of the program's.
type Handoff struct {
	Waiter  exectrace.Line `json:"waiter"`
	Waker   exectrace.Line `json:"waker"`
	Reason  string         `json:"reason"`
	Count   int64          `json:"count"`
	Seconds float64        `json:"seconds"` // waited
	// Work is how long the waiter ran between one such wait and the next, mean, in
	// seconds. A switch costs some 0.2 to 1 µs on each side: below 2 µs the goroutines
	// do little but pass things on.
	Work float64 `json:"mean_work_seconds"`
	// Brief of Count came after less than 5 µs of work.
	Brief int64 `json:"brief"`
	// Mutual says that the waker waits for the waiter too: they take turns.
	Mutual bool `json:"mutual,omitempty"`
}

// Poll is a line where goroutines sleep again and again, and between two sleeps mostly neither wait, nor wake
// another, nor make a system call.
type Poll struct {
	Line  exectrace.Line `json:"line"`
	Count int64          `json:"count"`
	Sleep float64        `json:"mean_sleep_seconds"`
	Work  float64        `json:"mean_work_seconds"` // between two sleeps
}

// waitSum adds up rows of waits. lineKey says of what.
type waitSum struct {
	spans
	open, again int64
	openTotal   int64 // nanoseconds, of the open ones
}

// over is the time of the waits that were over when the trace ended.
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
	object string // of sync and cond, and what of other waits is for the collector
}

type pairKey struct {
	waitKey
	wake int32 // line; -1 when nobody is known
}

// callers are the waits at a line of a module by the line that called it.
type callers map[exectrace.Line]*waitSum

// waits sums the blocked rows by line, and by line and waker, and those of modules by their callers.
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

// startedByRuntime reports whether the goroutines with this first stack are the runtime's. One that calls finalizers may
// wait in one of them: where it waits has to be the runtime's, too.
func (f *Fold) startedByRuntime(entry exectrace.StackID, known map[exectrace.StackID]bool) bool {
	is, ok := known[entry]
	if !ok {
		is = f.trace.Root(entry).OfRuntime()
		known[entry] = is
	}
	return is
}

// Blocking sums the waits.
func (f *Fold) Blocking() *Blocking {
	byLine, byPair, byCaller := f.waits()
	out := &Blocking{Length: exectrace.Seconds(f.length), Locks: f.locks(byPair), Handoffs: f.handoffs(byPair), Polls: f.polls(byLine)}
	wakers := map[waitKey][]Waker{}
	for k, s := range byPair {
		if s.n == s.open {
			continue // nobody ended it
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
		if line != (exectrace.Line{}) { // the module's own goroutine
			out = append(out, Waker{line, exectrace.Seconds(s.total), s.n})
		}
	}
	slices.SortFunc(out, longestFirst)
	return out
}

func longestFirst(a, b Waker) int {
	return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), a.Line.Compare(b.Line))
}

// handoffs are the pairs over channels and selects.
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

// polls are the lines where two of three sleeps, or more, follow a sleep, with nothing in between but to run. A handler
// that sleeps once for each request waits for the request between, and who is paced by sleeping sends something: neither
// asks for anything.
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
