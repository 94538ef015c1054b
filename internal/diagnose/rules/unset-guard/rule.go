// Package unsetguard finds work behind a test of a field that nothing sets.
package unsetguard

import (
	"context"
	"fmt"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastRuns is the share of the tests after which the work runs. Another condition may hold it back
// as well.
const leastRuns = 0.2

// Rule is unset-guard.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "unset-guard",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Test that never skips the work, because nothing sets its field",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// How often the work is due was not measured: a test is written to skip most of it.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.3, High: 1},
				Specificity: 4, // how the work is done does not matter where it is not due
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function saves its state at most twice a second: it compares the time with
that of the last save. Or it computes a value once and keeps it. But no code sets
the field with the time or the value. Often that line was forgotten, or a method
with a value receiver sets the field of its copy, which is lost when it returns.
The test then has the same result each time, and the work runs each time.

Set the field when the work is done. Declare a method that sets fields of its
receiver on the pointer: func (t *T). staticcheck reports such lost assignments
as SA4005.

It is fine where code sets the field, also rarely, and where the unset field
makes the test skip the work. The rule reports tests of fields that only their
own package can set, which have no capital letter: of times that no code sets,
and of kept values and flags that are only set in a copy that nobody reads. At
least a fifth of the tests must lead to the work, as counted.

Seen in the field: elastic/beats#31669 (the time of the last write of a registry
was never set, so each event wrote it), spy16/parens#3 (a number that a method
with a value receiver kept, and parsed again each time).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.lines.Farthest), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[guard]
}

// look returns the test in front of a line that never skips its work; nil for none.
func (s *search) look(f *site.Frame, place *gocode.Place) *guard {
	if place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	ran, ok := evidence.Executions(s.pass, *f)
	if !ok || !evidence.Hot(s.pass, ran) {
		return nil
	}
	for _, call := range syntax.Calls(place) {
		for _, g := range guards(place.Outer(), call) {
			if g.tests, ok = evidence.ReachedAt(s.pass, place, g.test.Pos()); !ok || g.tests <= 0 {
				continue
			}
			if g.runs = ran.PerUnit; g.runs >= leastRuns*g.tests && g.unset() {
				return g
			}
		}
	}
	return nil
}

func (s *search) judge(c *finder.Case) bool {
	g := s.lines.At(&c.Site.Frame)
	if g == nil {
		return false
	}
	name, test := syntax.Text(g.name), syntax.Text(g.cond)
	where := syntax.Where(g.at, g.cond.Pos())
	zero, now := "the zero time", "time.Now()"
	if _, number := g.of.Type().Underlying().(*types.Basic); number {
		zero, now = "0", "the current time"
	}
	switch {
	case g.lost == nil:
		c.Cause = fmt.Sprintf("This runs only after the test %s (%s), but no code sets %s: it is always %s, and the test always has the same result.", test, where, name, zero)
		c.Fix = fmt.Sprintf("Set %s when this is done: %s = %s.", name, name, now)
	case g.by == "":
		c.Cause = fmt.Sprintf("This runs only after the test %s (%s), but %s is only set in a copy (%s): %s is a copy of a %s, so what is set there is lost, and the test always has the same result.",
			test, where, name, syntax.Where(g.at, g.lost.Pos()), g.receiver, g.typeName)
		c.Fix = fmt.Sprintf("Set the field of the value itself: through an index or a pointer (*%s), or store %s again where it comes from.", g.typeName, g.receiver)
	default:
		c.Cause = fmt.Sprintf("This runs only after the test %s (%s), but %s is only set in a copy (%s): %s has a value receiver, so what it sets is lost when it returns, and the test always has the same result.",
			test, where, name, syntax.Where(g.at, g.lost.Pos()), g.by)
		c.Fix = fmt.Sprintf("Declare %s on the pointer, func (%s *%s), and let its callers use the same object; protect the field if several goroutines call it.", g.by, g.receiver, g.typeName)
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s tests and %s executions per %s", units.Number(g.tests), units.Number(g.runs), s.pass.Manifest.Unit()),
	})
	return true
}
