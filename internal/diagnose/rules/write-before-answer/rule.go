// Package writebeforeanswer finds requests that wait for a write whose outcome their answer does
// not need.
package writebeforeanswer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	fixedsleep "github.com/hone-go/hone/internal/diagnose/rules/fixed-sleep"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

const (
	// leastShare of the requests' time that they wait for the write.
	leastShare = 0.1
)

// fraction of the wait that a queue saves: putting the record there takes no time as long as the
// writer keeps up. It writes several records at once.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.4, High: 1}

// Rule is write-before-answer.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "write-before-answer",
		Kind:   rule.IO,
		Needs:  []rule.Need{rule.NeedTrace, rule.NeedCounts},
		Title:  "Request waits for a write that its answer does not need",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `A handler or a middleware writes an entry for an audit or access log, a metric, an
event or the time of the last visit to a database or another service, and waits
until it is stored. The answer is ready by then and does not depend on it: the
error is dropped or only logged. Each request takes longer by a round trip, and
when the store is slow, so is everything that records into it. No CPU profile
shows it.

Put the record into a buffered channel that one goroutine empties; it can write
many records at once. Decide what happens when the channel is full: wait, or
drop the record and count it. Close it at shutdown, and let the goroutine write
what is left. A goroutine for each write saves the wait too, but has no limit.

It is fine where a record must exist before the answer is sent: an audit that
the law requires, a payment. The rule reports calls that send a write to others,
by their name or the code, whose results are dropped or whose error is only
logged, and for which requests wait a tenth of their time. Where the wait is a pause
of fixed length, fixed-sleep reports that.

Seen in the field: cerbos/cerbos#2104 (audit log), seaweedfs/seaweedfs#2503,
LAA-Software-Engineering/golang-rest-api-template#125 (an insert per request).`

func find(p *rule.Pass) []rule.Match {
	w, total := awaited.Long(p, leastShare)
	if w == nil {
		return nil
	}
	var found []write
	pauses := fixedsleep.Pauses(p)
	for _, f := range w.Callers(p) {
		for _, s := range f.Steps {
			if s.Seconds >= leastShare*total && unneeded(f.Place, s.Call) && !sleeps(p, f.Place, s.Call, pauses, levels) {
				found = append(found, write{f, s})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b write) int { return cmp.Compare(b.step.Seconds, a.step.Seconds) })
	var matches []rule.Match
	for _, one := range found {
		if !slices.ContainsFunc(found, one.below) {
			matches = append(matches, one.match(p, total))
		}
	}
	return matches
}

// write is a call that requests wait for.
type write struct {
	of   *awaited.Function
	step *awaited.Step
}

// below reports whether the call is in the function that another one calls.
func (w write) below(other write) bool {
	return other.of.Place.Declaration(other.of.Place.Callee(other.step.Call)) == w.of.Place.Decl && w.of.Place.Decl != other.of.Place.Decl
}

func (w write) match(p *rule.Pass, total float64) rule.Match {
	share := units.Percent(w.step.Seconds / total)
	return rule.Match{
		Site:       p.Site(w.step.Frame),
		Confidence: rule.Likely, // that the record may come later is what the function looks like
		Saving:     w.saving(p, total),
		Cause: fmt.Sprintf("Requests wait for %s in %s, which does not use its outcome: the answer does not depend on it. They spend %s of their time waiting there.",
			syntax.Text(w.step.Call.Fun), syntax.FuncName(w.of.Place), share),
		Fix: "Put the record into a buffered channel that one goroutine empties, several records at a time, and decide what happens when it is full. Keep the wait if the record must be stored before the answer is sent.",
		Evidence: []rule.Evidence{{
			What:    "time of requests waiting for this call",
			Value:   share + " of " + units.Seconds(total),
			Command: evidence.ViewCommand(p, "requests"),
		}},
	}
}

// saving is what requests save when they do not wait for the write. In a closed loop more of them
// are then under way, as far as there are processors.
func (w write) saving(p *rule.Pass, total float64) *rule.Saving {
	waited := min(1, w.step.Seconds/total)
	if i, ok := traced.Sooner(p, stats.Interval{Value: waited, Low: waited, High: waited}, stats.Interval{Value: fraction.Expect, Low: fraction.Low, High: fraction.High}); ok {
		return &rule.Saving{Seconds: i.Value * total, Low: i.Low * total, High: i.High * total, Latency: total, Cost: w.step.Seconds, Modelled: true}
	}
	s := fraction.Saving(w.step.Seconds, total)
	s.Cost = w.step.Seconds
	return s
}
