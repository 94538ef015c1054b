// Package sleeppolling finds loops that sleep and poll instead of waiting for an event.
package sleeppolling

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

const (
	// leastRate is the minimum number of sleeps of a line per second; fewer cost next to nothing.
	leastRate = 50
	// longestSleep, in seconds, and littleWork between sleeps, as a part of them: longer sleeps
	// wait for something slow, and a loop that works between sleeps is paced, not polling.
	longestSleep, littleWork = 0.02, 0.1
)

// fraction of the cost of needless wake-ups that an event saves: it costs one wake-up each time it
// happens.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.6, High: 1}

// Rule is sleep-polling.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "sleep-polling",
		Kind:   rule.Sched,
		Title:  "Loop that polls with a sleep or a timer",
		Doc:    doc,
		Needs:  []rule.Need{rule.NeedTrace},
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `Each short sleep sets a timer, parks the goroutine, and wakes a thread for a
check that usually finds nothing: 5 to 20 µs of CPU, thousands of times a
second, in an idle program. The loop also notices events late, by half a sleep
on average.

Wait for an event instead: a channel that is closed or sent to, a sync.Cond, a
context. For a timeout, select on the channel and a timer.

It is fine for what cannot notify, such as a file or a register, at a suitable
rate. The rule leaves alone loops that mostly wake another goroutine or make a
system call between two sleeps: they are paced, not polling. Where requests
spend a fifth of their time in such a loop, it also reports one that waits for a
ticker or a timer, gives up after some attempts, or asks a store that may fail:
the loop must end when something has become true. One that ends when a call
succeeds tries again, and one whose pauses get longer backs off, both on purpose.

Seen in the field: livepeer/go-livepeer#1619, istio/istio#9922,
pjwerneck/bouncer#2 (the slots of a semaphore).`

func find(p *rule.Pass) []rule.Match {
	matches := late(p)
	length := p.Trace.Parallelism.Length
	for _, poll := range p.Trace.Blocking.Polls {
		if float64(poll.Count) < leastRate*length || poll.Sleep > longestSleep || poll.Work > littleWork*poll.Sleep {
			continue
		}
		if s := traced.SiteAt(p, poll.Line); s != nil && !slices.ContainsFunc(matches, func(m rule.Match) bool { return m.Site == s }) {
			if m, ok := match(p, poll, s); ok {
				matches = append(matches, m)
			}
		}
	}
	return matches
}

func match(p *rule.Pass, poll wall.Poll, s *site.Site) (rule.Match, bool) {
	cost := traced.Switching(p, poll.Count, []*site.Site{s}, "time.Sleep")
	if cost == (stats.Interval{}) {
		cost = stats.Interval{Value: 5e-6, Low: 2e-6, High: 20e-6}.Scale(float64(poll.Count)) // no samples: as in doc
	}
	length := p.Trace.Parallelism.Length
	m := rule.Match{
		Site:       s,
		CPU:        stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, "time.Sleep") }),
		Saving:     fraction.Part(cost),
		Confidence: rule.Hint,
		Evidence: []rule.Evidence{{
			What: "sleeps here in the trace", Value: fmt.Sprintf("%s in %s, %s each, %s of work in between", units.Count(poll.Count), units.Seconds(length), units.Seconds(poll.Sleep), units.Seconds(poll.Work)),
			Command: evidence.ViewCommand(p, "blocking"),
		}},
	}
	m.Cause = fmt.Sprintf("This line sleeps %s times a second, %s each, and runs %s in between: it polls, and notices events %s late on average.",
		units.Number(float64(poll.Count)/length), units.Seconds(poll.Sleep), units.Seconds(poll.Work), units.Seconds(poll.Sleep/2))
	m.Fix = "Wait for a channel, a sync.Cond or a context that signals the event; for a timeout, select on the channel and a timer."
	place := p.Place(s)
	if place == nil {
		return m, true
	}
	loop, ok := place.Loop().(*ast.ForStmt)
	if !ok || loop.Init != nil || loop.Post != nil {
		return m, false // it counts its iterations
	}
	m.Confidence = rule.Likely
	return m, true
}
