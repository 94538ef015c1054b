// Package costlytestfirst finds expensive tests that run before cheap ones which reject most.
package costlytestfirst

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastRejected is the share of what passes the expensive test that the cheap one rejects.
	leastRejected = 0.5
	// leastEach is the minimum time of the expensive test, in seconds.
	leastEach = 20e-9
)

// Rule is costly-test-first.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "costly-test-first",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Expensive test before a cheap one that rejects most",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own: the counted share that the cheap test rejects.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
				Specificity: 5, // an index would save more, but the order is changed in a minute
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A filter tests each element twice: with a call that takes long (a pattern, a
policy, a search in a text, a distance) and with a comparison of a field (the
owner, a state, a kind). If the call comes first, it runs for all elements,
although the comparison, which takes a nanosecond, rejects most of those that
pass. Go evaluates && and || from left to right, and statements in sequence.

Test the fields first, then call. In a chain of filters, sort them by cost and by
what they reject. If a filter is passed as a function, do the cheap tests of it
where the loop is.

It is fine where the first test makes the second one possible, as a check for nil
does, or where the comparison rejects little. The rule reports calls without
visible side effects of at least 20 ns, followed by a test without calls that does
not use their result, and that rejects at least half of what passes, as counted.

Seen in the field: koordinator-sh/koordinator#2435 (an expensive filter of pods
before a comparison).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.edges = finder.RememberEdges(s.look)
	return finder.Line{Start: finder.Frames(s.edges.Farthest), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	edges *finder.Edges[order]
}

// order is an expensive test and the cheap one after it.
type order struct {
	call     *ast.CallExpr
	callee   string // as profiles name it
	cheap    ast.Expr
	runs     float64 // of the call, for each unit of work
	passes   float64 // share of the calls after which the cheap test runs
	rejected float64 // share of those that it rejects
}

// look returns the test at an edge, if a cheap one after it rejects most.
func (s *search) look(f, below *site.Frame) *order {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || place.Func == nil || place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	for _, call := range syntax.CallsTo(place, below.Function) {
		ran, ok := evidence.ExecutionsAt(s.pass, place, call.Pos())
		if !ok || !evidence.Hot(s.pass, ran) || !effects.Harmless(s.pass.Syntax, place, call, below) {
			continue
		}
		for _, o := range s.after(place.Outer(), call) {
			if o.rejected >= leastRejected && o.passes > 0 {
				o.callee, o.runs = below.Function, ran.PerUnit
				return o
			}
		}
	}
	return nil
}

func (s *search) judge(c *finder.Case) bool {
	o := s.edges.From(&c.Site.Frame)
	if o == nil {
		return false
	}
	at := func(r *site.Row) int {
		for i, f := range r.Stack {
			if f.File == c.Site.File && f.Line == c.Site.Line {
				return i
			}
		}
		return -1
	}
	if fine, file := effects.PureBelow(c.CPU, at); !fine || file {
		return false
	}
	nanoseconds, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9)
	if known && each < leastEach {
		return false
	}
	name, test := syntax.Short(syntax.Text(o.call)), syntax.Text(o.cheap)
	took := ""
	if known {
		took = fmt.Sprintf(", which takes %s,", units.Seconds(each))
	}
	c.Cause = fmt.Sprintf("%s%s runs before the comparison %s, which takes a nanosecond or two and rejects %s of what passes %s.",
		name, took, test, units.Percent(o.rejected), name)
	c.Fix = fmt.Sprintf("Test %s first, and call %s only for what passes.", test, name)
	c.Fraction = &rule.Fraction{Expect: 0.95 * o.rejected, Low: 0.6 * o.rejected, High: 1}
	c.Confidence = rule.Likely // that both pass for different reasons is not known
	c.Callees = []string{o.callee}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s runs %s per %s; %s pass, of which the comparison rejects %s", name, evidence.Times(o.runs), s.pass.Manifest.Unit(),
			units.Percent(o.passes), units.Percent(o.rejected)),
	})
	return true
}
