// Package resultonlytested finds results that a function allocates and its callers only compare
// with nil.
package resultonlytested

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// levels is how many functions may pass a result on to the one that tests it.
const levels = 3

// Rule is result-only-tested.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "result-only-tested",
		Kind:  rule.Alloc,
		Title: "Result allocated only to be compared with nil",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Nothing is allocated for a bool. What else the function computes stays.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 2, // how the result is allocated does not matter where nobody uses it
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function returns a new value, or nil if there is none: the intersection of two
rectangles, the match of a pattern, the common part of two lists. A caller that
only asks whether there is one compares the result with nil and drops it. In a
search, that is an allocation for each candidate, and often several: the value
and its parts escape to the heap because they are returned.

Let the function return a bool. If other callers use the value, add a function
that only tests the condition (overlaps beside intersect), and call it from both.

It is fine on paths that run seldom. The rule reports lines whose allocations
only become part of the result, for the calls whose result is compared with nil
and not used otherwise. Results that are stored, too, or whose parts are read
before they are returned are left alone, and so are errors.

Seen in the field: dhconnelly/rtreego#31 (the overlap of two rectangles,
allocated for each entry of a tree that a search looks at).`

type search struct {
	pass *rule.Pass
	// makes are the lines whose allocations only become part of the result of their function.
	makes *finder.Lines[gocode.Place]
	// calls are the calls whose results are tested, or passed on as a result.
	calls *finder.Edges[use]
	// tests are the calls that test what a line allocates.
	tests map[gocode.Pos]*use
}

// use is a call of a function whose result is only compared with nil, or else becomes part of the
// caller's result.
type use struct {
	place  *gocode.Place
	call   *ast.CallExpr
	tested bool
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, tests: map[gocode.Pos]*use{}}
	s.makes = finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *gocode.Place {
		if !allocatesResult(place) {
			return nil
		}
		return place
	})
	s.calls = finder.RememberEdges(s.look)
	return finder.Line{Start: finder.Rows(s.take), Judge: s.judge}
}

// take returns what a line allocates for calls that only test the result.
func (s *search) take(at *site.Site) rule.Match {
	m := finder.TakeOwn(at)
	m.Keep(func(r *site.Row) bool {
		u := s.test(r)
		if u != nil {
			s.tests[gocode.Pos{File: at.File, Line: at.Line}] = u
		}
		return u != nil
	})
	m.Callers = true
	return m
}

// test returns the call that tests what the line of a row allocates; nil if there is none, or if
// the result may be used.
func (s *search) test(r *site.Row) *use {
	if r.Owner < 0 || s.makes.At(r.Stack[r.Owner]) == nil {
		return nil
	}
	for i := r.Owner + 1; i < len(r.Stack) && i <= r.Owner+levels; i++ {
		if k := r.Stack[i].Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			return nil
		}
		if u := s.calls.At(r.Stack[i], r.Stack[i-1]); u == nil || u.tested {
			return u
		}
	}
	return nil
}

// look returns how a line uses the result of a function that it calls; nil if it may use the value.
func (s *search) look(f, below *site.Frame) *use {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok {
		return nil
	}
	callee, ok := s.pass.Syntax.At(below.File, below.Line)
	call := loops.CallTo(place, below.Function)
	if !ok || call == nil || len(syntax.CallsTo(place, below.Function)) != 1 {
		return nil // of an interface or a variable
	}
	if mayReturnNil(callee) && tested(place, call) {
		return &use{place, call, true}
	}
	if place.Decl != nil && place.Func == ast.Node(place.Decl) && newResult(place).takes(call) {
		return &use{place, call, false}
	}
	return nil
}

// tested reports whether the result of a call is only compared with nil.
func tested(p *gocode.Place, call *ast.CallExpr) bool {
	if comparedWithNil(p, call) {
		return true
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	if v == nil || syntax.IsResult(p, v) {
		return false
	}
	reads := syntax.Reads(p, v)
	for _, id := range reads {
		if !comparedWithNil(p.Outer(), id) {
			return false
		}
	}
	return len(reads) > 0
}

// comparedWithNil reports whether an expression is an operand of == or != with nil.
func comparedWithNil(p *gocode.Place, e ast.Expr) bool {
	b, ok := syntax.Parent(p, e).(*ast.BinaryExpr)
	return ok && (b.Op == token.EQL || b.Op == token.NEQ) && (p.Info.Types[b.X].IsNil() || p.Info.Types[b.Y].IsNil())
}

func (s *search) judge(c *finder.Case) bool {
	u := s.tests[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if u == nil {
		return false
	}
	name, maker := syntax.FuncName(c.Place), syntax.Text(u.call.Fun)
	made := "what it returns"
	if name != maker {
		made = "for the result of " + maker
	}
	c.Cause = fmt.Sprintf("%s allocates %s, and %s only compares the result with nil (%s): it is discarded at once.",
		name, made, syntax.FuncName(u.place), syntax.Where(u.place, u.call.Pos()))
	c.Fix = fmt.Sprintf("Let %s return a bool: false where it returns nil, else true, without allocating the value. If other callers use the value, add a function beside it that only tests the condition.", maker)
	return true
}
