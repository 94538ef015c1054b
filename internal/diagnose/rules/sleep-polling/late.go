package sleeppolling

import (
	"fmt"
	"go/constant"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare of the requests' time that they must sleep in a loop which polls.
	leastShare = 0.2
	// leastLate is the share of it by which they must notice the result too late.
	leastLate = 0.05
)

// late finds loops in which requests poll for a result, with sleeps so long that they notice it
// late.
func late(p *rule.Pass) (matches []rule.Match) {
	if !traced.Long(p) || !traced.Serves(p) || p.Trace.Requests == nil || p.Trace.Requests.All == nil {
		return nil
	}
	total := traced.LatencyTotal(p)
	for _, place := range p.Trace.Requests.All.Places {
		slept := float64(place.Time) / 1e9
		timed := place.Part == requests.WaitSelect || place.Part == requests.WaitChanReceive
		if place.Part != requests.WaitSleep && !timed || place.Waiter == nil || total <= 0 || slept < leastShare*total {
			continue
		}
		at := pollOf(p, &place.Place)
		if at == nil {
			continue
		}
		with, asleep := "a sleep", "asleep"
		if timed {
			with, asleep = "a timer", "waiting for it"
		}
		each, ok := at.each(p)
		if !ok {
			each = slept / float64(max(p.Trace.Requests.Count, 1))
		}
		// Each request notices its result late by half a sleep at least, and by a whole one if the
		// result comes at once. It need not have slept at all if it waits for another that polls.
		requests := float64(p.Trace.Requests.Count)
		least := min(slept, requests*each/2)
		if least < leastLate*total {
			continue // the result takes long
		}
		matches = append(matches, rule.Match{
			Site:       at.site,
			Confidence: rule.Likely,
			Saving:     &rule.Saving{Seconds: min(slept, requests*each*3/4), Low: least, High: slept, Latency: total, Cost: slept},
			Cause: fmt.Sprintf("Requests poll here for a result, with %s of %s each time: they spend %s of their time %s, and notice the result up to that much too late, however soon it is available.%s",
				with, units.Seconds(each), units.Percent(slept/total), asleep, at.from),
			Fix: "Signal the result where it becomes available: close a channel or send on it, and select on that and the context here. If another process makes it, use a call that blocks until it is there (a watch, BLPOP in Redis, LISTEN in PostgreSQL), or start with short pauses and make them longer.",
			Evidence: []rule.Evidence{{
				What: "time of requests " + asleep, Value: units.Seconds(slept) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests"),
			}},
		})
	}
	return matches
}

// sleep returns the constant time in seconds of a sleep on the line.
func sleep(pass *rule.Pass, p *gocode.Place) (float64, bool) {
	calls := syntax.CallsOf(p, "time.Sleep", "time.After", "time.Tick")
	if len(calls) == 0 {
		calls = tickers(p)
	}
	if len(calls) != 1 {
		return 0, false
	}
	values := flow.Constants(pass.Syntax, p, calls[0].Args[0])
	if len(values) != 1 {
		return 0, false
	}
	ns, ok := constant.Int64Val(constant.ToInt(values[0]))
	return float64(ns) / 1e9, ok
}
