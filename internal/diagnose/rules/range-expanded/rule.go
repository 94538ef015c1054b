// Package rangeexpanded finds ranges of numbers that are written out as lists or sets of all their
// members, only to be searched.
package rangeexpanded

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// least is the minimum mean number of members of a range.
const least = 32

// Rule is range-expanded.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "range-expanded",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Range of numbers expanded into all its members, only to be searched",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Two numbers are stored for each range. The comparisons remain.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 3, // slice-growth and map-growth report how the list grows
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A range such as "1-1499" (of ports, numbers, days) is written out: a loop appends
each number between its ends to a list, or adds it to a set. Then the program
only asks whether a number is among them. That takes memory and time for each
member, and a search of the list takes as many steps again.

Keep each range as its first and last number, and compare: n >= first && n <=
last. If there are many ranges, sort them by their first number, and find the one
that may contain n with slices.BinarySearchFunc.

It is fine for ranges of a few members, and where the members are visited one by
one. The rule reports loops that add at least 32 successive numbers each time, as
counted, to a list or a map of which nothing but searches, lookups and the length
is used.

Seen in the field: aquasecurity/trivy#7549.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	found := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *expansion { return look(p, f, place) })
	return finder.Line{Start: finder.Frames(found.Nearest), Judge: func(c *finder.Case) bool {
		e := found.At(&c.Site.Frame)
		if e == nil {
			return false
		}
		e.describe(c)
		return true
	}}
}

// expansion is a loop that adds all members of a range to a list or a map.
type expansion struct {
	loop    ast.Node
	to      ast.Expr // the list or map
	v       *types.Var
	search  token.Pos // the first search
	members float64   // each time
}

// look returns the expansion that a line is a part of; nil for none.
func look(p *rule.Pass, f *site.Frame, place *gocode.Place) *expansion {
	if place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	loop := place.Loop()
	if loop == nil {
		return nil
	}
	e := expansionOf(place.Outer(), loop)
	if e == nil || place.Line != syntax.Line(place, loops.Body(loop).List[0].Pos()) || !e.searched(place) {
		return nil
	}
	l, ok := p.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, loop.Pos()))
	if e.members = l.Iterations; !ok || l.Iterations < least {
		return nil
	}
	return e
}

// expansionOf returns the expansion that a loop is; nil for other loops.
func expansionOf(p *gocode.Place, loop ast.Node) *expansion {
	n := counter(p, loop)
	body := loops.Body(loop)
	if n == nil || body == nil || len(body.List) != 1 {
		return nil
	}
	a, ok := body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
		return nil
	}
	e := &expansion{loop: loop, to: a.Lhs[0]}
	if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok && p.CalleeName(call) == "append" {
		if len(call.Args) != 2 || call.Ellipsis.IsValid() || !member(p, call.Args[1], n) || syntax.Text(call.Args[0]) != syntax.Text(e.to) {
			return nil
		}
	} else {
		at, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
		if !ok || !syntax.IsMap(p.TypeOf(at.X)) || !member(p, at.Index, n) || syntax.Mentions(p, a.Rhs[0], n) {
			return nil
		}
		e.to = at.X
	}
	e.v = syntax.Named(p, e.to)
	if e.v == nil || e.v.Exported() && p.Pkg.Name() != "main" || syntax.Param(p, e.v) || syntax.IsResult(p, e.v) {
		return nil
	}
	return e
}

// counter returns the variable with which a loop counts up by one; nil for other loops.
func counter(p *gocode.Place, loop ast.Node) *types.Var {
	switch l := loop.(type) {
	case *ast.ForStmt:
		post, ok := l.Post.(*ast.IncDecStmt)
		if !ok || post.Tok != token.INC {
			return nil
		}
		v := syntax.LocalVar(p, post.X)
		cond, ok := l.Cond.(*ast.BinaryExpr)
		if !ok || v == nil || syntax.LocalVar(p, cond.X) != v || cond.Op != token.LEQ && cond.Op != token.LSS {
			return nil
		}
		return v
	case *ast.RangeStmt:
		b, ok := p.TypeOf(l.X).Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsInteger == 0 || l.Key == nil {
			return nil
		}
		return syntax.LocalVar(p, l.Key)
	}
	return nil
}

// member reports whether an expression is the counter, perhaps converted or plus something.
func member(p *gocode.Place, e ast.Expr, n *types.Var) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return syntax.LocalVar(p, x) == n
	case *ast.BinaryExpr:
		return x.Op == token.ADD && (member(p, x.X, n) || member(p, x.Y, n))
	case *ast.CallExpr:
		_, conversion := p.Conversion(x)
		return conversion && len(x.Args) == 1 && member(p, x.Args[0], n)
	}
	return false
}

func (e *expansion) describe(c *finder.Case) {
	c.Confidence = rule.Likely
	to := syntax.Text(e.to)
	c.Cause = fmt.Sprintf("The loop on line %d expands a range into all its numbers: it adds %s successive numbers to %s each time. %s is only searched (%s), for which the two ends of the range are enough.",
		syntax.Line(c.Place, e.loop.Pos()), units.Number(e.members), to, to, syntax.Where(c.Place, e.search))
	c.Fix = "Keep each range as its first and last number, and compare with both instead of a search: n >= first && n <= last. Sort the ranges if there are many, and find the one by slices.BinarySearchFunc."
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: units.Number(e.members) + " members of a range, on average"})
}
