// Package broadcastherd finds condition variables whose Broadcast wakes goroutines that find
// nothing to do.
package broadcastherd

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/stats"
)

const (
	wait      = "sync.(*Cond).Wait"
	broadcast = "sync.(*Cond).Broadcast"
	// fewest waits at a line, and in a second of the trace.
	fewest, fewestRate = 500, 500
	// inVain is the minimum share of the wake-ups after which the goroutine waits again.
	inVain = 0.75
	// leastShare of the program's CPU that waiting and waking must take.
	leastShare = 0.02
)

// fraction of the cost of the wake-ups in vain that Signal saves.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.6, High: 1}

// Rule is broadcast-herd.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "broadcast-herd",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace, rule.NeedCounts},
		Title:  "Broadcast wakes all goroutines, and most wait again",
		Doc:    doc,
		Finder: finder.Trace{Specificity: 1, Judge: find},
	}
}

const doc = `Broadcast of a sync.Cond wakes every goroutine that waits. If one job arrived,
one of them gets it. The others take the mutex one after the other, find nothing
and wait again: with a hundred idle workers, a hundred switches and a hundred
locks for each job (the thundering herd).

Call Signal, which wakes one goroutine, if any of the waiting goroutines can
use the change and the change is enough for one. If goroutines wait for different
conditions, give each condition a Cond of its own. A channel also passes each
value to one goroutine.

It is fine when a change concerns all: at shutdown, or for a new state that all
goroutines read. The rule uses counted executions: it reports a Broadcast if
three of four goroutines that it wakes wait again.

Seen in the field: nanomsg/nng#54 (a condition variable of C: latency from 240
to 30 µs), im7mortal/kmutex#5 (why Broadcast was avoided).`

func find(p *rule.Pass) []rule.Match {
	if p.Counts == nil {
		return nil
	}
	var matches []rule.Match
	for i := range p.Trace.Blocking.Waits {
		w := &p.Trace.Blocking.Waits[i]
		if w.Reason != wait || w.Count < fewest || float64(w.Count) < fewestRate*p.Trace.Parallelism.Length || len(w.Wakers) == 0 {
			continue
		}
		waker, waiter := traced.SiteAt(p, w.Wakers[0].Line), traced.SiteAt(p, w.Line)
		if waker == nil || waiter == nil {
			continue
		}
		if m, ok := match(p, w, waker, waiter); ok {
			matches = append(matches, m)
		}
	}
	return matches
}

func match(p *rule.Pass, w *wall.Wait, waker, waiter *site.Site) (rule.Match, bool) {
	at, place := p.Place(waker), p.Place(waiter)
	if at == nil || place == nil {
		return rule.Match{}, false
	}
	calls := syntax.CallsOf(at, "(*sync.Cond).Broadcast")
	vain, ok := again(p, waiter)
	if len(calls) == 0 || !ok || vain < inVain {
		return rule.Match{}, false
	}
	// The goroutine that is woken locks the mutex, for which it often waits as well.
	times := w.Count
	for _, o := range p.Trace.Blocking.Waits {
		if o.Line == w.Line && o.Reason != w.Reason {
			times += o.Count
		}
	}
	cost := traced.Switching(p, times, []*site.Site{waker, waiter}, wait, broadcast)
	total := p.Table.Totals.TotalSeconds
	if cost == (stats.Interval{}) || cost.Value < leastShare*total {
		return rule.Match{}, false
	}
	cond := syntax.Text(syntax.Receiver(calls[0]))
	m := rule.Match{
		Site:       waker,
		Callees:    []string{wait, broadcast},
		Confidence: rule.Measured,
		Saving:     rule.Fraction{Expect: vain * fraction.Expect, Low: vain * fraction.Low, High: vain * fraction.High}.Part(cost),
		Cause: fmt.Sprintf("%s.Broadcast wakes all goroutines that wait on %s. Of %s wake-ups in the trace, %s were in vain according to the counts of executions: the goroutine locks the mutex, finds nothing and waits again.",
			cond, evidence.Near(p, waker, w.Line), units.Count(w.Count), units.Percent(vain)),
		Fix: fmt.Sprintf("Call %s.Signal, which wakes one goroutine, where any of them can handle the change; keep Broadcast for changes that concern all of them, such as a shutdown. If they wait for different conditions, use one Cond per condition.", cond),
		Evidence: []rule.Evidence{
			{What: "waits in sync.Cond.Wait in the trace", Value: fmt.Sprintf("%s in %s", units.Count(w.Count), units.Seconds(p.Trace.Parallelism.Length)), Command: evidence.ViewCommand(p, "blocking")},
			{What: "waits that are followed by another wait, counted", Value: units.Percent(vain)},
			{What: "CPU for waiting, waking and the scheduler", Value: units.Percent(min(1, cost.Value/total)), Command: evidence.TopCommand(p, "cpu")},
		},
	}
	for _, s := range []*site.Site{waker, waiter} {
		m.CPU = append(m.CPU, stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, wait, broadcast) })...)
	}
	return m, true
}

// again returns the share of the waits at a line that are followed by another before the loop
// around them ends: each time that the loop is reached, at most one wake-up ends it. It returns
// false if the line has no such loop, or executions were not counted.
func again(p *rule.Pass, s *site.Site) (float64, bool) {
	place := p.Place(s)
	e, ok := evidence.Executions(p, s.Frame)
	if !ok || e.PerUnit <= 0 {
		return 0, false
	}
	for _, call := range syntax.CallsOf(place, "(*sync.Cond).Wait") {
		around := loops.Around(place, call)
		if len(around) == 0 || !onlyWaits(around[0], call) {
			continue
		}
		if l, ok := p.Counts.Loop(s.Owner.Package, s.File, syntax.Line(place, around[0].Pos())); ok {
			return max(0, 1-l.Entries/e.PerUnit), true
		}
	}
	return 0, false
}

// onlyWaits reports whether a loop does nothing but call Wait until a condition holds: for !ready {
// c.Wait() }, or for { if ready { break }; c.Wait() }.
func onlyWaits(loop ast.Node, wait *ast.CallExpr) bool {
	f, ok := loop.(*ast.ForStmt)
	if !ok || f.Post != nil {
		return false
	}
	for _, s := range f.Body.List {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if s.X != wait {
				return false
			}
		case *ast.IfStmt:
			n := len(s.Body.List)
			if n == 0 || s.Else != nil || !syntax.Departs(s.Body.List[n-1], true) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
