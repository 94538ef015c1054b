// Package semaphorewait finds requests that wait for a semaphore of the program.
package semaphorewait

import (
	"fmt"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of the requests' time that they must wait for the semaphore: a limit is meant to
	// be reached sometimes.
	leastShare = 0.25
	// letIn is the minimum share of these waits that other requests must end.
	letIn = 0.8
)

// Rule is semaphore-wait.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "semaphore-wait",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Requests queue at a concurrency limit of the program",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A channel with room for n, a semaphore of golang.org/x/sync, or an errgroup
with a limit that all requests share, admits n at a time to a part of a handler;
the others queue. No CPU profile shows that, and the machine looks idle: the
limit was set for another machine or another query, or is held during work that
does not need it. A pool that the program made itself, of connections or of
objects, is such a limit as well.

A channel with room for one value is a lock: raising that limit would be wrong.

Hold it for less time: only around what it protects, not while the response is
encoded and sent. If what it protects can handle more, raise the limit, or
derive it from the resource that it protects (GOMAXPROCS for computation, the
connections of the pool for queries). If it cannot, the queue only adds latency:
reject requests, with 503 or a short timeout, once it is long.

It is fine where the limit protects memory, or a fully used resource: then the
load is too high. The rule requires that the same function in another request
ends nearly all such waits, or one that gets back what was taken. That
distinguishes a limit from a channel to a worker. It reports waits of a quarter
of the requests' time and more, and nothing where the processors are busy:
admitted requests would wait for one.

Seen in the field: thanos-io/thanos#7617 (queries that timed out at a gate for
20), grafana/mimir#7777 (a timeout for such a gate, so that other instances get
the request).`

func find(p *rule.Pass) []rule.Match {
	t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool { return limits(p, place) })
	if t == nil {
		return nil
	}
	m := rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // the wait is measured, the capacity behind the limit is not
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("Requests queue at this limit for %s of their time; on average %s wait at a time, while the service and its load use %s of the processors.",
			t.Share(), t.Waiting(), units.Percent(traced.Busy(p))),
		Fix:      "Raise the limit if what it protects can handle more, and hold it only around that. If it cannot, reject requests instead of queueing them.",
		Evidence: t.Evidence(p, "their turn", "mostly admitted at"),
	}
	if place := p.Place(t.Site); place != nil && t.Place.Object != requests.Errgroup {
		of := held(place)
		if of != "" {
			m.Cause = fmt.Sprintf("Requests queue for one of the few %s that others give back, for %s of their time; on average %s wait at a time, while the service and its load use %s of the processors.",
				of, t.Share(), t.Waiting(), units.Percent(traced.Busy(p)))
			m.Fix = fmt.Sprintf("Create more of them if what they stand for can handle more, and give each back as soon as it is not needed. If a %s serves several requests at a time, share it. If it cannot, reject requests instead of queueing them.", of)
		}
		if l := lockAt(p, t.Place, place, t.Site.File); l != nil {
			l.describe(&m, t.Share(), t.Waiting(), of)
		}
	}
	return []rule.Match{m}
}

// limits reports whether a line where requests wait is a semaphore: one by name, or a channel at
// which another request, which has passed the limit, ends the wait.
func limits(p *rule.Pass, place *requests.PlaceTime) bool {
	switch place.Object {
	case requests.Semaphore:
		return true
	case requests.Errgroup:
		return sharedGroup(p, place)
	}
	switch place.Part {
	case requests.WaitChanSend, requests.WaitChanReceive, requests.WaitSelect, requests.WaitCond:
	default:
		return false
	}
	if place.Named() && place.Part != requests.WaitCond {
		return false
	}
	var by float64
	for _, w := range place.Wakers {
		if w.Line == nil || *w.Line == *place.Waiter {
			continue
		}
		named := place.Part != requests.WaitCond && lets(place.Waiter, w.Line, place.Part == requests.WaitChanSend)
		if (named || w.InHandlers > 0 && pooled(p, place.Waiter, w.Line)) && !awaited.Closed(p, place.Waiter, w.Line) {
			by += w.InHandlers
		}
	}
	return by >= letIn
}

// lets reports whether one line may end a wait for a semaphore at the other: it is in the same
// function, in a closure in it, or, if the wait is for a full channel, in another method of the
// same type. A method that receives what another sends may as well wait for messages.
func lets(waiter, waker *exectrace.Line, full bool) bool {
	in, out := waiter.Function, waker.Function
	if out == in || strings.HasPrefix(out, in+".") || strings.HasPrefix(in, out+".") {
		return true
	}
	t := receiver(in)
	return full && t != "" && t == receiver(out)
}

// receiver returns the type of a method with its package: "main.sem" of main.sem.take,
// "main.(*Limit)" of main.(*Limit).Wait.func1; "" for a function.
func receiver(function string) string {
	dir, name := "", function
	if i := strings.LastIndexByte(function, '/'); i >= 0 {
		dir, name = function[:i+1], function[i+1:]
	}
	parts := strings.Split(name, ".")
	if len(parts) < 3 || strings.HasPrefix(parts[2], "func") {
		return ""
	}
	return dir + parts[0] + "." + parts[1]
}
