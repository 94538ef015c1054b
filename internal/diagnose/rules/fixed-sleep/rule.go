// Package fixedsleep finds requests that sleep for a fixed time, so that something else may happen.
package fixedsleep

import (
	"fmt"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of the requests' time that they must sleep.
	leastShare = 0.2
	// leastPause is the minimum length of a pause, in seconds. Shorter ones stand for something
	// that takes as long, in tests and simulations.
	leastPause = 0.01
)

// fraction of the sleep that a signal saves: what it waits for takes some time as well.
var fraction = rule.Fraction{Expect: 0.8, Low: 0.3, High: 1}

// Rule is fixed-sleep.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "fixed-sleep",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Requests sleep for a fixed time",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A request changes something, and then sleeps for a fixed time before it goes on: so
that a replica, a cache or a goroutine catches up, a process starts, or another
service is not called too often. Every request takes that long, even if what it
waits for is ready after a millisecond. When it is not ready in time, the answer
is wrong. A pause after each element of a list multiplies.

Wait for the event: let what makes it ready close a channel, return a result or
call a function, and select on that and the end of the context. Read from where
the change was written instead of from a copy. To spare another service, let
requests share a limiter (golang.org/x/time/rate), which delays only what
exceeds the rate, or ask for several elements at once. Often nothing needs the
pause any more.

It is fine where the time itself is the point: to slow down attempts to log in,
or to simulate a service. The rule reports pauses of 10 ms and more that take a
fifth of the requests' time, whose length the request does not choose, and that
come after a call that changes, sends or starts something, or in a loop over
elements. Loops that ask again and again are for sleep-polling and
failed-attempts.

Seen in the field: wso2/k8s-wso2am-operator#25 (30 s for a database that
starts).`

// Pauses returns the lines that the rule reports.
func Pauses(p *rule.Pass) (at []*site.Site) {
	for _, m := range find(p) {
		at = append(at, m.Site)
	}
	return at
}

func find(p *rule.Pass) []rule.Match {
	if !traced.Long(p) || !traced.Serves(p) || p.Syntax == nil || p.Trace.Requests == nil || p.Trace.Requests.All == nil {
		return nil
	}
	total := traced.LatencyTotal(p)
	var matches []rule.Match
	for i := range p.Trace.Requests.All.Places {
		place := &p.Trace.Requests.All.Places[i]
		slept := float64(place.Time) / 1e9
		if total <= 0 || place.Waiter == nil || slept < leastShare*total {
			continue
		}
		switch place.Part {
		case requests.WaitSleep, requests.WaitSelect, requests.WaitChanReceive:
		default:
			continue
		}
		if m := match(p, place, slept, total); m != nil {
			matches = append(matches, *m)
		}
	}
	return matches
}

// match returns the match for a line where requests wait, if it is a fixed pause; nil otherwise.
func match(p *rule.Pass, at *requests.PlaceTime, slept, total float64) *rule.Match {
	s := traced.SiteAt(p, *at.Waiter)
	if s == nil {
		return nil
	}
	in := p.Place(s)
	if in == nil {
		return nil
	}
	pause := awaited.PauseOn(in)
	if pause == nil {
		return nil
	}
	if above, call, given := passed(p, in, pause); call != nil {
		in, pause = above, &awaited.Pause{Node: call, Length: given}
		s = callSite(p, above, call) // says more than a function that pauses for whoever calls it
	}
	if !fixed(p, in, pause.Length) {
		return nil
	}
	each, ok := traced.Mean(p, at)
	if !ok || each < leastPause {
		return nil
	}
	m := &rule.Match{
		Site:       s,
		Confidence: rule.Likely, // what the pause is for is not known
		Saving:     traced.Saved(p, slept, total, fraction),
		Evidence: []rule.Evidence{{
			What: "time of requests asleep", Value: units.Seconds(slept) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests"),
		}},
	}
	r := reasonOf(p, in, pause.Node)
	if r == nil {
		return nil
	}
	share := units.Percent(slept / total)
	if r.loop != nil {
		m.Cause = fmt.Sprintf("Requests pause here for %s after each element of %s, and spend %s of their time asleep.", units.Seconds(each), syntax.Text(r.loop.X), share)
		m.Fix = "Remove the pause if nothing needs it. To spare what the loop calls, let all requests share a limiter (golang.org/x/time/rate), which delays only what exceeds the rate; or handle several elements at once: in one call, or in goroutines with a limit (errgroup with SetLimit)."
		return m
	}
	m.Cause = fmt.Sprintf("Requests sleep here for %s each time, whether or not what they wait for is ready: %s of their time. The pause follows %s (%s).", units.Seconds(each), share, r.after, r.where)
	m.Fix = fmt.Sprintf("Wait for the event instead of a time: let what %s sets in motion close a channel, return a result or wake a sync.Cond, and select on that and the end of the context, with a timeout. Or read from where the change was written. If nothing needs the pause any more, remove it.", r.name)
	return m
}
