// Package copiedbeforecheck finds copies that are made before a check which mostly needs none.
package copiedbeforecheck

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// mostKept is the largest share of the copies that may be needed.
const mostKept = 1. / 3

// Rule is copied-before-check.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "copied-before-check",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Value copied before a check that mostly makes the copy needless",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own: the counted share of copies that are not needed.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
				Specificity: 4, // how the copy is made, and who reads it, does not matter then
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function copies a value to change it: by a Clone method, maps.Clone, append,
reflection, or by encoding and decoding it. Then it checks whether there is
anything to change (the version, a state, whether the new value differs) and mostly
returns. Or it copies all of the value, changes the copy, and compares it with the
original, which mostly is equal. In both cases nearly every copy is garbage at once.

Check the original first, and copy after the check. Where the copy is made with a
lock held, check while the lock is held. Compare the values that would be set with
those that are there, and copy only if one differs.

It is fine where most copies are needed, or where the original changes before the
check. The rule counts executions: it reports copies of which at most a third are
changed, kept or returned, and that the check before only reads.

Seen in the field: google/pprof#729 (samples copied before the lookup that finds
them).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, copies: flow.NewCopies(p.Syntax), known: map[ast.Node][]*copied{}}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.lines.Nearest), Judge: s.judge}
}

type search struct {
	pass   *rule.Pass
	copies *flow.Copies
	lines  *finder.Lines[copied]
	known  map[ast.Node][]*copied // by declaration
}

// look returns the copy that a line makes before a check; nil for none.
func (s *search) look(_ *site.Frame, p *gocode.Place) *copied {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	all, seen := s.known[p.Decl]
	if !seen {
		all = s.blocks(p.Outer())
		s.known[p.Decl] = all
	}
	for _, c := range all {
		if syntax.Line(p, c.stmt.Pos()) <= p.Line && p.Line <= syntax.Line(p, c.stmt.End()) {
			return c
		}
	}
	return nil
}

func (s *search) judge(c *finder.Case) bool {
	f := s.lines.At(&c.Site.Frame)
	if f == nil {
		return false
	}
	from, test, in := syntax.Text(f.from), syntax.Text(f.check.Cond), syntax.FuncName(c.Place)
	unused := 1 - f.kept/f.runs
	share := "none of the copies was needed while executions were counted"
	if f.kept > 0 {
		share = fmt.Sprintf("%s of the copies are needed", units.Percent(f.kept/f.runs))
	}
	line := syntax.Line(c.Place, f.check.Pos())
	c.Cause = fmt.Sprintf("%s copies %s before line %d checks %s, after which it mostly leaves the copy unused: %s.", in, from, line, test, share)
	c.Fix = fmt.Sprintf("Check %s itself first, and copy it after line %d, only where the copy is changed or kept.", from, line)
	if f.compares {
		c.Cause = fmt.Sprintf("%s copies %s, changes the copy, and line %d compares it with the original (%s), which it mostly equals: %s.", in, from, line, test, share)
		c.Fix = fmt.Sprintf("Compare each value that is to be set with the one in %s first, and copy %[1]s only when one differs.", from)
	}
	if f.locked {
		c.Fix += " Check while the lock is held."
	}
	c.Fraction = &rule.Fraction{Expect: 0.95 * unused, Low: 0.7 * unused, High: unused}
	c.Confidence = rule.Likely // that nobody changes the original meanwhile is not proved
	c.Callees = f.callees
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s is copied %s per %s, and the copy changed, kept or returned %s", from, evidence.Times(f.runs), s.pass.Manifest.Unit(), evidence.Times(f.kept)),
	})
	return true
}
