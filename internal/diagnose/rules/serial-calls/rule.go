// Package serialcalls finds requests that wait for calls one after the other, although none of them
// needs the result of another.
package serialcalls

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

const (
	// leastShare of the requests' time that they would not wait.
	leastShare = 0.1
	// mostNamed is how many calls a sentence names.
	mostNamed = 4
)

// fraction of the computed saving: the calls may share a connection or a limit on the other side.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.3, High: 1}

// Rule is serial-calls.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "serial-calls",
		Kind:   rule.IO,
		Needs:  []rule.Need{rule.NeedTrace, rule.NeedCounts},
		Title:  "Independent calls that a request waits for one after the other",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A handler asks one service for the user, then another for the orders, then a
database for the prices, and waits for each answer before it asks for the next.
If none of the questions needs the answer to another, the request takes the sum
of the waits instead of the longest of them. No CPU profile shows it: the
program is idle meanwhile.

Start the calls together and wait for all of them: errgroup.WithContext, whose
Go runs each in a goroutine and whose Wait returns the first error. Each call
stores its result in a variable of its own. If both ask the same database, one
query for all is better still.

It is fine where a call decides whether the next one may run, and where the
other side is the bottleneck: it then gets the same work in less time. The rule
follows results through the function. It also reports loops that call one method
of different types (checks, providers, plugins), where each waits for another
service and no call gets what an earlier one returned. It leaves alone calls that
use the result of an earlier one, that run only under a condition on it, that share
a transaction, or that change something, as far as their names and the code show.
It reports calls of which requests would save a tenth of their time.

Seen in the field: cadence-workflow/cadence#4339 (62 % less latency),
kite-org/kite#438 (lists of resources), ferro-labs/ai-gateway#354 (802 ms
instead of 100), coder/coder#12385.`

func find(p *rule.Pass) []rule.Match {
	w, total := awaited.Long(p, leastShare)
	if w == nil {
		return nil
	}
	var matches []rule.Match
	for _, f := range w.Callers(p) {
		for _, m := range looped(p, f, total) {
			if !slices.ContainsFunc(matches, func(o rule.Match) bool { return o.Site.File == m.Site.File && o.Site.Line == m.Site.Line }) {
				matches = append(matches, m)
			}
		}
		g := independent(f)
		if len(g) < 2 || g.saved() < leastShare*total {
			continue
		}
		matches = append(matches, match(p, f, g, total))
	}
	return matches
}

// group is calls of one function that could run at the same time.
type group []*awaited.Step

// sum is the time that requests wait for the calls, in seconds.
func (g group) sum() (seconds float64) {
	for _, s := range g {
		seconds += s.Seconds
	}
	return seconds
}

// longest is the time that requests wait for the longest of the calls.
func (g group) longest() float64 {
	return slices.MaxFunc(g, func(a, b *awaited.Step) int { return cmp.Compare(a.Seconds, b.Seconds) }).Seconds
}

func (g group) saved() float64 { return g.sum() - g.longest() }

func match(p *rule.Pass, f *awaited.Function, g group, total float64) rule.Match {
	var names, times []string
	for i, s := range g {
		if i < mostNamed {
			names = append(names, fmt.Sprintf("%s (line %d)", syntax.Text(s.Call.Fun), s.Frame.Line))
			times = append(times, units.Percent(s.Seconds/total))
		}
	}
	if more := len(g) - mostNamed; more > 0 {
		names = append(names, units.Some(float64(more), "other call"))
	}
	return rule.Match{
		Site:       p.Site(g[0].Frame),
		Confidence: rule.Likely, // that they are independent is what the function looks like
		Saving:     saving(p, g, total),
		Cause: fmt.Sprintf("%s waits for %s one after the other, although none of them uses the result of another: requests spend %s of their time waiting there, and %s in the longest.",
			syntax.FuncName(f.Place), funcname.List(names), units.Percent(g.sum()/total), units.Percent(g.longest()/total)),
		Fix: "Start them together and wait for all (errgroup.WithContext, or a goroutine and a channel for each): the request then waits only for the slowest one. If one of them decides whether the others may run, leave the order unchanged.",
		Evidence: []rule.Evidence{{
			What:    "time of requests waiting for these calls, in their order",
			Value:   funcname.List(times) + " of " + units.Seconds(total),
			Command: evidence.ViewCommand(p, "requests"),
		}},
	}
}

// saving is what requests save when they wait only for the longest call. In a closed loop more of
// them are then under way, as far as there are processors.
func saving(p *rule.Pass, g group, total float64) *rule.Saving {
	waited, part := min(1, g.sum()/total), g.saved()/g.sum()
	parts := stats.Interval{Value: fraction.Expect * part, Low: fraction.Low * part, High: fraction.High * part}
	if i, ok := traced.Sooner(p, stats.Interval{Value: waited, Low: waited, High: waited}, parts); ok {
		return &rule.Saving{Seconds: i.Value * total, Low: i.Low * total, High: i.High * total, Latency: total, Cost: g.sum(), Modelled: true}
	}
	s := fraction.Saving(g.saved(), total)
	s.Cost = g.sum()
	return s
}
