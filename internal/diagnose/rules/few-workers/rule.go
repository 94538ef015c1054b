// Package fewworkers finds requests that queue for too few worker goroutines, which mostly wait
// themselves.
package fewworkers

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/receivers"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastShare of the requests' time that they must wait for the workers.
	leastShare = 0.25
	// queue is the minimum number of requests that wait at a time, per worker: with fewer, each
	// worker has one.
	queue = 2
	// mostIdle is the largest share of the workers' time in which they wait for work.
	mostIdle = 0.1
	// leastWaiting is the minimum share of their time in which they wait for something else, and
	// use no processor.
	leastWaiting = 0.5
	// most workers that are too few.
	most = 256
	// onlySending is the minimum share of the waits for workers that are for room in their channel,
	// where requests need no answer.
	onlySending = 0.99
	// byWorkers is the minimum share of the waits that workers must end.
	byWorkers = 0.8
)

// Rule is few-workers.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "few-workers",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Requests queue for too few worker goroutines",
		Doc:    doc,
		Finder: finder.Trace{Specificity: 1, Judge: find},
	}
}

const doc = `Requests pass their work to goroutines through a channel and wait for the
result. The workers mostly wait as well: for a database, a device, another
service. One worker then handles one job after the other, although what it waits
for could serve several, and neither CPU nor the other side is busy. No CPU
profile shows it.

Start more workers: as many as the service that they wait for handles at a time,
or one goroutine for each request with a limit (errgroup with SetLimit). If jobs
of one kind must stay in order, give each key a queue of its own. If that
service takes batches, let a worker take all available jobs. A goroutine that guards
data by running functions for others (an actor) should not wait in them.

The same holds for a goroutine that collects what requests send, such as events,
and hands it over from time to time: while it waits for that, nobody takes from
its channel, and once the channel is full, requests wait as well. And workers
that have a channel each, selected by a key, leave requests waiting for one of
them while the others have nothing to do.

It is fine where order is the point, or where the other side serves one at a
time. The rule reports workers that requests hand something to, that are never
idle, wait for half of their time and more, and have a queue of two requests or
more for each; and workers with channels of their own that are idle for half of
their time, while three requests and more wait for each of the others.

Seen in the field: volcano-sh/volcano#3772 (a controller handled the commands of
all queues one after the other), segmentio/analytics-go#72 (events wait for the
upload of a batch), openservicemesh/osm#4648 (tasks that wait for a busy worker
while others are idle).`

func find(p *rule.Pass) []rule.Match {
	if p.Trace.Goroutines == nil {
		return nil
	}
	for i := range p.Trace.Goroutines.Groups {
		w := workers{pass: p, Group: &p.Trace.Goroutines.Groups[i]}
		if !w.measure() {
			continue
		}
		if t := w.uneven(); t != nil {
			return []rule.Match{w.unevenMatch(t)}
		}
		if !w.busy() || receivers.Called(p, w.Group) != nil { // slow-receiver reports that
			continue
		}
		t := traced.LongestQueue(p, leastShare, w.ends)
		if t != nil && t.Waited/t.Length >= queue*float64(w.n) && awaited.HandsOver(p, t) {
			return []rule.Match{w.match(t)}
		}
	}
	return nil
}

// workers are the goroutines that were started with one function.
type workers struct {
	pass *rule.Pass
	*wall.Group
	n      int64         // of them
	waited float64       // seconds for something other than work
	where  *wall.Place   // most of it; nil when that is unknown
	idle   float64       // seconds for work
	takes  *gocode.Place // where they mostly wait for it; nil when that is unknown
}

// measure reports whether the workers are few and lasting, and finds out what they wait for.
func (w *workers) measure() bool {
	w.n = w.Found + w.Created - w.Ended
	if w.Runtime || w.n < 1 || w.n > most || w.Seconds < 0.8*float64(w.n)*w.pass.Trace.Parallelism.Length {
		return false
	}
	var off, most float64
	for _, p := range w.Parts {
		if p.What == "blocked" || p.What == "syscall" {
			off += p.Seconds
		}
	}
	for i := range w.Stacks {
		s := &w.Stacks[i]
		switch {
		case s.What != "blocked" && s.What != "syscall":
		case takes(s.Why) && w.takesAt(s.Line):
			w.idle += s.Seconds
			if s.Seconds > most {
				most, w.takes = s.Seconds, w.pass.Place(traced.SiteAt(w.pass, s.Line))
			}
		case w.where == nil || s.Seconds > w.where.Seconds:
			w.where = s
		}
	}
	w.waited = off - w.idle
	return true
}

// busy reports whether the workers are hardly idle, and wait for something other than work.
func (w *workers) busy() bool {
	return w.where != nil && w.idle <= mostIdle*w.Seconds && w.waited >= leastWaiting*w.Seconds
}

// takesAt reports whether a worker waits for work at a line: it receives there, as far as the
// source shows. A line that only calls something, such as an HTTP client, may wait in a select of
// its own.
func (w *workers) takesAt(l exectrace.Line) bool {
	s := traced.SiteAt(w.pass, l)
	if s == nil {
		return false
	}
	place := w.pass.Place(s)
	if place == nil {
		return true
	}
	found := len(syntax.CallsOf(place, "(*sync.Cond).Wait")) > 0 || len(syntax.Calls(place)) == 0
	for _, n := range place.Nodes {
		switch n := n.(type) {
		case *ast.RangeStmt, *ast.SelectStmt:
			found = found || syntax.Line(place, n.Pos()) == place.Line
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
	}
	return found
}

// takes reports whether a goroutine may wait for work by a reason: that of a goroutine which waits
// since before the trace is unknown.
func takes(why string) bool {
	return why == "unknown" || strings.HasPrefix(why, "chan ") || strings.HasPrefix(why, "select") || why == "sync.(*Cond).Wait"
}

// ends reports whether the workers end most waits of requests at a place.
func (w *workers) ends(place *requests.PlaceTime) bool {
	switch place.Part {
	case requests.WaitChanSend, requests.WaitChanReceive, requests.WaitSelect:
	default:
		return false
	}
	var by float64
	for _, waker := range place.Wakers {
		if waker.Line != nil && w.ran(waker.Line.Function, waker.Start) {
			by += waker.Share - waker.InHandlers
		}
	}
	return by >= byWorkers
}

// ran reports whether a function ran in a worker: in a goroutine that started with start, if that
// is known. A function literal often runs in goroutines that others start.
func (w *workers) ran(function, start string) bool {
	if start != "" {
		return start == w.Function
	}
	return function == w.Function || strings.HasPrefix(function, w.Function+".")
}

func (w *workers) match(t *traced.Queue) rule.Match {
	name := symbol.Short(funcname.Typed(w.Function))
	who, is := "one goroutine runs", "It is"
	if w.n > 1 {
		who, is = units.Count(w.n)+" goroutines run", "They are"
	}
	fix := fmt.Sprintf("Start more goroutines with %s%s, as many as what they wait for serves at a time. If jobs must stay in order, use one queue for each key.", name, w.started(t))
	if w.n == 1 && sendsFunction(w.pass.Place(t.Site)) {
		fix = fmt.Sprintf("Do not wait in functions that %s%s runs for others: wait in the goroutine that sends them, and let them only read or change what %s guards; or guard that with a mutex.", name, w.started(t), name)
	}
	where := evidence.Near(w.pass, t.Site, w.where.Line)
	if state := w.owns(t); w.n == 1 && state != "" {
		fix = fmt.Sprintf("Only one goroutine can run %s%s, because it changes %s without a lock: do not wait in it. Do what waits (%s) in another goroutine, which sends the result back to it, or before the request sends its work; or give each key a goroutine with data of its own; or guard %s with a mutex, and start more goroutines.", name, w.started(t), state, where, state)
	}
	cause := fmt.Sprintf("Requests spend %s of their time waiting for %s, which %s: on average %s wait at a time. %s never idle, but blocked for %s of the time (%s, %s), while the program and its load use %s of the processors.",
		t.Share(), name, who, t.Waiting(), is, units.Percent(w.waited/w.Seconds), w.where.Why, where, units.Percent(traced.Busy(w.pass)))
	if w.n == 1 && w.handsOver(t) {
		cause = fmt.Sprintf("Requests spend %s of their time waiting for room in a channel, although they need no answer: on average %s wait at a time. One goroutine, %s, takes from the channel, and is blocked for %s of the time (%s, %s); meanwhile the channel is full.",
			t.Share(), t.Waiting(), name, units.Percent(w.waited/w.Seconds), w.where.Why, where)
		fix = fmt.Sprintf("Let %s take from the channel all the time, and do what it waits for in another goroutine: pass on what it has collected, to one of a few, so that memory is limited. Or start more goroutines with %s%s. If values may be lost, send in a select with a default, and count what is dropped.", name, name, w.started(t))
	}
	return rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // how much of what the workers wait for is free is not known
		Saving:     t.Saving(),
		Cause:      cause,
		Fix:        fix,
		Evidence: append(t.Evidence(w.pass, name, "mostly ended at"),
			rule.Evidence{What: "goroutines of " + name, Value: fmt.Sprintf("%d, %s of their time blocked", w.n, units.Percent(w.waited/w.Seconds)), Command: evidence.ViewCommand(w.pass, "goroutines")}),
	}
}

// handsOver reports whether requests only send what the workers take, and hardly wait for an answer
// of them.
func (w *workers) handsOver(t *traced.Queue) bool {
	var sending, all float64
	for i := range w.pass.Trace.Requests.All.Places {
		place := &w.pass.Trace.Requests.All.Places[i]
		if place.Waiter == nil || !w.ends(place) {
			continue
		}
		all += float64(place.Time)
		if place.Part == requests.WaitChanSend {
			sending += float64(place.Time)
		}
	}
	return t.Place.Part == requests.WaitChanSend && sending >= onlySending*all
}

// sendsFunction reports whether a line sends a function, which the goroutine at the other end runs:
// it guards what these functions use.
func sendsFunction(p *gocode.Place) bool {
	if p == nil {
		return false
	}
	for _, n := range p.Nodes {
		if send, ok := n.(*ast.SendStmt); ok {
			t := p.TypeOf(send.Value)
			if t == nil {
				return false
			}
			_, is := t.Underlying().(*types.Signature)
			return is
		}
	}
	return false
}

// started says where the source starts the workers: " (line 10)"; "" when that is not seen.
func (w *workers) started(t *traced.Queue) string {
	p := w.pass.Place(t.Site)
	if p == nil {
		return ""
	}
	if s := traced.SiteAt(w.pass, w.where.Line); s != nil && strings.Contains(w.Function, ".func") {
		if in := w.pass.Place(s); in != nil {
			if lit, ok := in.Func.(*ast.FuncLit); ok {
				return fmt.Sprintf(" (%s)", syntax.Where(in, lit.Pos()))
			}
		}
	}
	text := ""
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			g, ok := n.(*ast.GoStmt)
			if !ok {
				return true
			}
			if fn := p.Callee(g.Call); fn != nil && strings.HasSuffix(funcname.Typed(w.Function), "."+fn.Name()) {
				text = fmt.Sprintf(" (%s)", syntax.Where(p, g.Pos()))
			}
			return true
		})
	}
	return text
}
