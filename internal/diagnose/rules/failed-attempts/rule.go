// Package failedattempts finds requests that wait for attempts which fail: until timeouts end them,
// and asleep between them.
package failedattempts

import (
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/units"
)

// leastShare of the requests' time that they must wait for attempts which fail.
const leastShare = 0.2

// fraction of the wait that is saved: how often an attempt would succeed later is not known.
var fraction = rule.Fraction{Expect: 0.8, Low: 0.3, High: 1}

// Rule is failed-attempts.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "failed-attempts",
		Kind:   rule.IO,
		Needs:  []rule.Need{rule.NeedTrace, rule.NeedCounts},
		Title:  "Requests wait for attempts that fail",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A request asks a service that does not answer in time, waits until the timeout,
and goes on without the answer. The next request asks again and waits as long.
Or it tries again after a pause what fails for a reason that stays, such as a
record that does not exist: all pauses pass, and the result is the same error.
No CPU profile shows it, and the response looks right.

After some timeouts in a row, go on without the answer at once, and let one
request in some seconds try (a circuit breaker). Set the timeout a little above
the time that answers usually take. Try again only after errors that may pass,
and return others at once: compare the error (errors.Is) or the status of the
response. Remember for a while which keys have no result. If the second attempt
mostly succeeds, find out what the first one lacks.

It is fine where failures are rare, and where a request waits for news on
purpose. The rule reports waits of a fifth of the requests' time and more of
which most end by a timeout, and pauses in loops that end when a call succeeds,
where at least every second call needs one.

Seen in the field: kubestellar/console#6819 (a handler that sleeps for 8 s in
all between its attempts), vmware/vic#5988 (answers of 4xx that were asked for
again), projectdiscovery/retryablehttp-go#258 (permanent errors).`

func find(p *rule.Pass) []rule.Match {
	if p.Syntax == nil || p.Counts == nil || p.Trace.Requests == nil || p.Trace.Requests.All == nil || !traced.Serves(p) {
		return nil
	}
	total := traced.LatencyTotal(p)
	if total <= 0 {
		return nil
	}
	var matches []rule.Match
	for i := range p.Trace.Requests.All.Places {
		place := &p.Trace.Requests.All.Places[i]
		if place.Waiter == nil || float64(place.Time)/1e9 < leastShare*total {
			continue
		}
		m, waited := expired(p, place)
		if m == nil {
			m, waited = late(p, place)
		}
		if m == nil {
			m, waited = retried(p, place)
		}
		if m == nil || waited < leastShare*total {
			continue
		}
		m.Confidence = rule.Likely // whether the other side will answer is not known
		m.Saving = traced.Saved(p, waited, total, fraction)
		m.Evidence = append(m.Evidence, rule.Evidence{
			What: "time of requests waiting here", Value: units.Seconds(waited) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests"),
		})
		matches = append(matches, *m)
	}
	return matches
}
