// Package ratelimitwait finds requests that wait for a rate limiter of the program itself.
package ratelimitwait

import (
	"fmt"
	"go/types"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
)

// leastShare of the requests' time that they must wait for the limiter.
const leastShare = 0.2

// Rule is rate-limit-wait.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "rate-limit-wait",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Requests wait for a rate limiter of the program",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A rate limiter in a client (golang.org/x/time/rate, or the one of
client-go for Kubernetes) admits a number of calls per second, and makes the
others wait. Its default is often low (client-go: 5 per second, with a burst of
10), and a limit that fitted one caller is shared by all of them. The other side
then looks slow, although it is idle.

Raise the limit and the burst to what the other side can handle, or ask it less
often: cache its answers, or ask for many things in one call.

A program may limit the rate itself: with a channel that a goroutine fills with
tokens at the ticks of a timer, or with a ticker that all requests share. Or one
answer (429, Retry-After) sets a time until which all requests wait, also those
of other tenants and hosts, which nobody asked to wait.

It is fine where the other side wants the limit: then a queue only adds
latency, and requests are better refused. The rule reports waits of a fifth of
the requests' time and more.

Seen in the field: kyverno/kyverno#2795 (the default of client-go throttled an
admission controller).`

func find(p *rule.Pass) []rule.Match {
	t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool { return place.Object == requests.RateLimiter })
	if t == nil {
		return ofProgram(p)
	}
	set, confidence := "", rule.Likely // the wait is measured, what the other side bears is not
	if p.Syntax == nil {
		confidence = rule.Hint
	}
	if where := limit(p); where != "" {
		set = " It is set by " + where + "."
	}
	return []rule.Match{{
		Site:       t.Site,
		Confidence: confidence,
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("A rate limiter of the program limits the calls per second: requests spend %s of their time waiting for it here; on average %s wait at a time.%s",
			t.Share(), t.Waiting(), set),
		Fix:      "Raise the limit and its burst to what the other side can handle, or call it less often: cache its answers, or ask for many things in one call.",
		Evidence: t.Evidence(p, requests.RateLimiter, "mostly let through at"),
	}}
}

// ofProgram finds requests that wait for a limiter that the program makes itself, or for the end of
// a pause that one of them sets for all.
func ofProgram(p *rule.Pass) []rule.Match {
	if t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool { return ownLimiter(p, place) != nil }); t != nil {
		return []rule.Match{ownLimiter(p, t.Place).match(p, t)}
	}
	if t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool { return sharedPause(p, place) != nil }); t != nil {
		return []rule.Match{sharedPause(p, t.Place).match(p, t)}
	}
	return nil
}

// limit returns the call of the program that sets the limit, as "rate.NewLimiter(10, 5)
// (client.go:40)"; "" if none or several do.
func limit(p *rule.Pass) string {
	if p.Syntax == nil {
		return ""
	}
	const name = "golang.org/x/time/rate.NewLimiter"
	places := p.Syntax.Calls(func(fn *types.Func) bool { return fn.FullName() == name })
	if len(places) != 1 {
		return ""
	}
	calls := syntax.CallsOf(places[0], name)
	if len(calls) != 1 {
		return ""
	}
	return fmt.Sprintf("%s (%s)", syntax.Text(calls[0]), syntax.Where(places[0], calls[0].Pos()))
}
