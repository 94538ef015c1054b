// Package gcassistlatency finds requests that are slow because they assist the garbage collector.
package gcassistlatency

import (
	"fmt"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/units"
)

// leastShare of the requests' time that assists must take.
const leastShare = 0.05

// fraction of the assists that smaller allocations or a larger heap save: with four times the GOGC
// there are three quarters fewer cycles.
var fraction = rule.Fraction{Expect: 0.6, Low: 0.3, High: 0.9}

// Rule is gc-assist-latency.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "gc-assist-latency",
		Kind:   rule.GC,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Requests assist the garbage collector",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `During a collection, a goroutine that allocates must assist: it marks in
proportion to what it allocates, or waits until background workers have earned
credit for it. Requests that allocate most in those milliseconds are the
slowest. A CPU profile only sums assists up; the trace shows that they are part
of requests.

Allocate fewer bytes per request: the finding names the line that assisted most.
A larger GOGC, guarded by GOMEMLIMIT, makes collections rarer.

It is fine when assists are a small part of the latency; the rule reports a
twentieth of it and more.

Seen in the field: golang/go#27732, golang/go#14812.`

func find(p *rule.Pass) []rule.Match {
	if !traced.Serves(p) {
		return nil
	}
	total := traced.LatencyTotal(p)
	if total <= 0 {
		return nil
	}
	var marking, waiting float64
	for _, part := range p.Trace.Requests.All.Parts {
		switch s := float64(part.Time) / 1e9; part.Part {
		case requests.Assist:
			marking += s
		case requests.WaitAssist:
			waiting += s
		}
	}
	assist := marking + waiting
	if assist < leastShare*total {
		return nil
	}
	m := rule.Match{
		Confidence: rule.Likely, // trace and allocations of the line agree
		Saving: &rule.Saving{
			Seconds: fraction.Expect * assist, Low: fraction.Low * assist, High: fraction.High * assist, Latency: total, Cost: assist,
			Collector: fraction.Expect * assist,
		},
		Evidence: []rule.Evidence{
			{What: "time of requests in assists", Value: fmt.Sprintf("%s marking, %s waiting for credit, of %s", units.Seconds(marking), units.Seconds(waiting), units.Seconds(total)), Command: evidence.ViewCommand(p, "requests")},
		},
	}
	if gc := p.Trace.GC; gc != nil {
		m.Evidence = append(m.Evidence, rule.Evidence{
			What: "collections", Value: fmt.Sprintf("%s a second, going on for %s of the time", units.Number(gc.PerSecond), units.Percent(gc.Share)), Command: evidence.ViewCommand(p, "gc"),
		})
	}
	m.Cause = fmt.Sprintf("Requests spend %s of their time in GC assists, because they allocate while the garbage collector marks.", units.Percent(assist/total))
	m.Fix = "Allocate fewer bytes per request."
	blame(p, &m)
	if !collector.Refuted(p) {
		m.Fix += " A larger GOGC, guarded by GOMEMLIMIT, makes collections rarer."
	}
	return []rule.Match{m}
}

// blame returns the line whose allocations assisted most.
func blame(p *rule.Pass, m *rule.Match) {
	if p.Trace.GC == nil {
		return
	}
	for _, l := range p.Trace.GC.Assists.Lines {
		s := traced.SiteAt(p, l.Line)
		if s == nil {
			continue
		}
		m.Site = s
		m.Cause += fmt.Sprintf(" The allocations of this line assisted most: %s times, %s in all, %s at most.",
			units.Count(l.Count), units.Seconds(l.Seconds), units.Seconds(l.Max))
		m.Fix = "Allocate fewer bytes here: reuse buffers instead of allocating memory that is soon discarded."
		return
	}
}
