// Package refreshwait finds requests that wait while another one fetches a value again that has
// expired.
package refreshwait

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of the requests' time that they must wait for the request that fetches a value.
	leastShare = 0.2
	// inHandlers is the minimum share of the waits that another request must end.
	inHandlers = 0.8
	// mostMisses is the largest share of the lookups that may find no valid value: with more, the
	// values are not kept for long enough to be used.
	mostMisses = 0.2
)

// fraction of the wait that is saved: only the first fetch of a value still has to be waited for.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.5, High: 1}

// Rule is refresh-wait.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "refresh-wait",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace, rule.NeedCounts},
		Title:  "Requests wait while an expired value is fetched again",
		Doc:    doc,
		Finder: finder.Trace{Specificity: 1, Judge: find},
	}
}

const doc = `A cached value expires. The next request fetches it again, and all other requests
wait for that fetch, in singleflight or for the entry of a key that is being
fetched. Most lookups hit, but each expiry stops all requests for as long as the
fetch takes: the slowest requests are as slow as without a cache.

Fetch the value again before it expires, in a goroutine: with a ticker, or by
the first request after most of its time has passed, which returns the value
that is still valid. Where a value that has just expired may still be used,
return it at once and let one goroutine fetch the new one
(stale-while-revalidate).

It is fine for the first fetch of each key, and where values seldom expire. The
rule reports waits of a fifth of the requests' time and more, which other
requests end, at the call that fetches a value after a comparison with its time,
where few of the lookups come there.

Seen in the field: superserve-ai/sandbox#241 (bursts that queued behind the
refresh of keys and permissions), writer/cerebro#2603 (an overview that waited
for a query although an older result was there), livepeer/catalyst#195.`

func find(p *rule.Pass) []rule.Match {
	if p.Syntax == nil || p.Counts == nil || p.Trace.Requests == nil || p.Trace.Requests.All == nil || !traced.Serves(p) {
		return nil
	}
	total := traced.LatencyTotal(p)
	var matches []rule.Match
	for i := range p.Trace.Requests.All.Places {
		place := &p.Trace.Requests.All.Places[i]
		waited := float64(place.Time) / 1e9
		if place.Waiter == nil || total <= 0 || waited < leastShare*total || !together(p, place) {
			continue
		}
		s := traced.SiteAt(p, *cmp.Or(place.Caller, place.Waiter))
		if s == nil {
			continue
		}
		in := p.Place(s)
		if in == nil {
			continue
		}
		l := expiring(p, in)
		if l == nil || l.misses > mostMisses {
			continue
		}
		matches = append(matches, rule.Match{
			Site:       s,
			Confidence: rule.Likely, // whether an older value may be used is not known
			Saving:     traced.Saved(p, waited, total, fraction),
			Cause: fmt.Sprintf("Requests spend %s of their time waiting here while another request fetches an expired value again (%s). Only %s of the calls of %s find no valid value.",
				units.Percent(waited/total), syntax.Where(l.place, l.test.Pos()), units.Percent(l.misses), syntax.FuncName(l.place)),
			Fix: "Fetch the value again before it expires, in a goroutine: with a ticker, or when a request finds that most of its time has passed, and return the present value meanwhile. If a value that has just expired may still be used, return it at once while one goroutine fetches the new one.",
			Evidence: []rule.Evidence{{
				What: "time of requests waiting for the fetch of another", Value: units.Seconds(waited) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests"),
			}},
		})
	}
	return matches
}

// together reports whether requests wait at a place for another one that does the same for them.
func together(p *rule.Pass, place *requests.PlaceTime) bool {
	if strings.HasSuffix(place.Object, "(singleflight)") {
		return true
	}
	switch place.Part {
	case requests.WaitChanReceive, requests.WaitSelect, requests.WaitSync:
	default:
		return false
	}
	var by float64
	for _, w := range place.Wakers {
		if w.Line == nil || traced.SiteAt(p, *w.Line) == nil {
			continue
		}
		done := place.Object == "a sync.WaitGroup" && traced.Generic(w.Line.Function) == traced.Generic(place.Waiter.Function)
		if done || place.Part != requests.WaitSync && awaited.Closed(p, place.Waiter, w.Line) {
			by += w.InHandlers
		}
	}
	return by >= inHandlers
}
