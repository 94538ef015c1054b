// Package workunittoosmall finds goroutines that do less work than starting them costs.
package workunittoosmall

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/diagnose/chaniter"
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
	// fewest goroutines of one go statement, and in a second of the trace.
	fewest, fewestRate = 1000, 500
	// mostlyShort is the minimum share of them that must run less than 10 µs. It is a share of the
	// number, not a mean, because a machine that takes the CPU away prolongs a few by milliseconds.
	mostlyShort = 0.7
	// waiting is the minimum share of their lives off the processor, waiting for something outside
	// the program, of goroutines whose purpose is to wait. Waiting for a processor does not count.
	waiting = 0.5
)

// fraction of the cost of starting, scheduling and ending goroutines that larger pieces save:
// nearly all with a thousand units in each.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.7, High: 1}

// Rule is work-unit-too-small.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "work-unit-too-small",
		Kind:   rule.Goroutine,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Goroutines do less work than starting them costs",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `Starting a goroutine, scheduling it and ending it takes about a microsecond, and
memory for its stack while it waits. For a goroutine that runs less than ten
microseconds that is a tenth of its time or more. When millions are started at
once, the program spends most of its CPU in the scheduler and the collector.

Give each goroutine a range of the work: as many ranges as there are cores, or a
few times as many when they are uneven. A row instead of a pixel, a file instead
of a line.

It is fine for goroutines that wait for the network, a timer or a signal. The
rule leaves those alone, those that the standard library starts on its own, and a
few small ones that are started occasionally.

Seen in the field: afreidah/s3-orchestrator#891; "High Performance Go Workshop"
(Cheney), where a goroutine per pixel took 1.63 s and a goroutine per row 0.46
s.`

func find(p *rule.Pass) []rule.Match {
	var matches []rule.Match
	length := p.Trace.Parallelism.Length
	for _, sp := range p.Trace.Spawns {
		if sp.Ended < fewest || float64(sp.Ended) < fewestRate*length || float64(sp.Short) < mostlyShort*float64(sp.Ended) {
			continue
		}
		s := traced.SiteAt(p, sp.Line)
		if s == nil || waits(p, sp) || iterates(p, s) || inside(p, s) {
			continue
		}
		matches = append(matches, match(p, sp, s))
	}
	return matches
}

// iterates reports whether a go statement starts an iterator, about which another rule knows more.
func iterates(p *rule.Pass, s *site.Site) bool {
	place := p.Place(s)
	if place == nil {
		return false
	}
	_, is := chaniter.At(place)
	return is
}

// inside reports whether the standard library starts goroutines of its own on a line: the line has
// no go statement and passes no function. It waits in them, and their work is not the program's to
// divide: database/sql has one for each query with a context.
func inside(p *rule.Pass, s *site.Site) bool {
	place := p.Place(s)
	if place == nil {
		return false
	}
	return !slices.ContainsFunc(place.Nodes, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return true
		case *ast.CallExpr:
			return slices.ContainsFunc(n.Args, func(e ast.Expr) bool { return runs(place.TypeOf(e)) })
		}
		return false
	})
}

// runs reports whether values of a type can be what a goroutine runs: functions, and interfaces.
func runs(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Interface:
		return t.String() != "context.Context"
	}
	return false
}

// waits reports whether the purpose of the goroutines that a go statement starts is to wait for
// something outside.
func waits(p *rule.Pass, sp wall.Spawn) bool {
	for _, g := range p.Trace.Goroutines.Groups {
		for _, other := range g.Spawns {
			if other.Line != sp.Line {
				continue
			}
			var ran, outside float64
			for _, part := range g.Parts {
				switch {
				case part.What == "running" || strings.HasPrefix(part.What, "gc "):
					ran += part.Seconds
				case part.What == "syscall", part.What == "blocked" && external(part.Why):
					outside += part.Seconds
				}
			}
			if outside > waiting*(ran+outside) {
				return true
			}
		}
	}
	return false
}

// external reports whether a reason of waiting is outside of the program: no lock and no channel of
// other goroutines.
func external(why string) bool { return why == "network" || why == "sleep" || why == "select" }

func match(p *rule.Pass, sp wall.Spawn, s *site.Site) rule.Match {
	cost := traced.Switching(p, sp.Created, []*site.Site{s}, "runtime.newproc*")
	if cost == (stats.Interval{}) {
		cost = assumed(sp.Created) // no CPU profile, or no samples there
	}
	m := rule.Match{
		Site:   s,
		CPU:    stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, "runtime.newproc*") }),
		Saving: fraction.Part(cost),
		Evidence: []rule.Evidence{
			{What: "goroutines started here in the trace", Value: fmt.Sprintf("%s in %s", units.Count(sp.Created), units.Seconds(p.Trace.Parallelism.Length)), Command: evidence.ViewCommand(p, "goroutines")},
			{What: "ran less than 10 µs", Value: units.Percent(float64(sp.Short) / float64(sp.Ended))},
		},
	}
	if sp.MeanWait != nil {
		m.Evidence = append(m.Evidence, rule.Evidence{What: "waited to be scheduled first, mean", Value: units.Seconds(*sp.MeanWait), Command: evidence.ViewCommand(p, "sched")})
	}
	if total := p.Table.Totals.TotalSeconds; total > 0 {
		m.Evidence = append(m.Evidence, rule.Evidence{What: "CPU for starting, scheduling and ending them", Value: units.Percent(min(1, cost.Value/total)), Command: evidence.TopCommand(p, "cpu")})
	}
	m.Cause = fmt.Sprintf("A goroutine is started for each small piece of work: %s of them, %s of which ran less than 10 µs. Starting and ending one costs about 1 µs.",
		units.Count(sp.Created), units.Percent(float64(sp.Short)/float64(sp.Ended)))
	m.Fix = "Give each goroutine a larger share: a range of iterations instead of one, in about as many goroutines as there are cores (runtime.GOMAXPROCS(0)), or a few times as many when the pieces are uneven."
	m.Confidence = rule.Hint
	if place := p.Place(s); place != nil {
		m.Confidence = rule.Likely // the trace, and a loop or a function that is called many times
		if loop := loops.Outermost(place); loop != nil {
			m.Confidence = rule.Measured
			m.Fix = fmt.Sprintf("Give each goroutine a larger share of the loop on line %d: a range of its iterations instead of one, in about as many goroutines as there are cores (runtime.GOMAXPROCS(0)), or a few times as many when the iterations are uneven.",
				syntax.Line(place, loop.Pos()))
		}
	}
	return m
}

// assumed is the cost of starting goroutines that have no samples: 0.3 to 2 µs each.
func assumed(n int64) stats.Interval {
	return stats.Interval{Value: 1e-6, Low: 0.3e-6, High: 2e-6}.Scale(float64(n))
}
