// Package linearscan finds slices that are searched from end to end once per element.
package linearscan

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// Rule is linear-scan.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "linear-scan",
		Kind:  rule.CPU,
		Title: "Slice searched linearly in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// n elements looked up in n cost n²/2 comparisons; in a map n look-ups of some 20 ns. How
				// long the slice is the profile does not say: for a few dozen nothing is saved.
				Fraction: rule.Fraction{Expect: 0.8, Low: 0.2, High: 0.99},
			},
			Start: finder.Calls{
				Functions: []string{"slices.Contains[*", "slices.Index[*"},
				Types:     []string{"slices.Contains", "slices.Index"},
			},
			Judge: judge,
		},
	}
}

const doc = `slices.Contains and Index compare one element after the other. Called once per
element on the same slice, or on one that grows with the loop, they cost n²/2
comparisons: fifty million for ten thousand elements.

Keep the elements in a map (map[T]struct{}, or map[T]int for the index) beside
the slice, or sort once and use slices.BinarySearch.

It is fine for short slices: up to some thirty numbers, or ten strings, the scan
is faster than the map. The rule leaves alone slices of constant length and
searches in a slice that has nothing to do with the loop, since nothing tells
how long those are.

Seen in the field: ai-dynamo/grove#577 (nine such loops in one operator),
supersonic-app/supersonic#348.`

func judge(c *finder.Case) bool {
	var why string
	ok := c.All(func(call *ast.CallExpr) bool {
		if len(call.Args) != 2 {
			return false
		}
		words, quadratic := growsWithLoop(c.Place, call)
		why = words
		return quadratic
	})
	if !ok {
		return long(c)
	}
	describe(c, fmt.Sprintf("in every iteration of a loop %s: n iterations make about n²/2 comparisons", why))
	return true
}

// leastEach is how long one search must take for the slice to be long: 50 elements and more, where a look-up in a map takes some
// 20 ns.
const leastEach = 100e-9

// long reports whether one search takes so long that the slice must be.
func long(c *finder.Case) bool {
	if len(c.Calls) != 1 || len(c.Calls[0].Args) != 2 {
		return false
	}
	value, n := stacks.Sum(c.CPU)
	each, ok := evidence.PerExecution(c.Pass, c.Site.Frame, float64(value)*1e-9)
	if !ok || each < leastEach || n < 20 {
		return false
	}
	if v, _ := syntax.Var(c.Place, c.Calls[0].Args[0]); v == nil {
		return false // a list made on the spot
	}
	describe(c, fmt.Sprintf("each time: one search takes %s, a look-up in a map some 20 ns", units.Seconds(each)))
	return true
}

// describe says what is searched, and how.
func describe(c *finder.Case, how string) {
	xs := syntax.Text(c.Calls[0].Args[0])
	elem := "T"
	if s, ok := c.Place.TypeOf(c.Calls[0].Args[0]).Underlying().(*types.Slice); ok {
		elem = syntax.TypeText(c.Place, s.Elem())
	}
	c.Cause = fmt.Sprintf("%s searches %s from end to end %s.", funcname.Short(c.Name()), xs, how)
	c.Fix = fmt.Sprintf("Keep a map[%s]struct{} beside %s and ask that (for more than a few dozen elements).", elem, xs)
	c.Confidence = rule.Likely // how long the slice is, only a run can say
}

// growsWithLoop reports whether the slice that a call searches is as long as a loop around the call
// runs: the loop ranges over it, or appends to it.
func growsWithLoop(p *gocode.Place, call *ast.CallExpr) (string, bool) {
	xs := call.Args[0]
	v, _ := syntax.Var(p, xs)
	if v == nil {
		return "", false
	}
	for _, loop := range loops.Around(p, call) {
		if syntax.Inside(loop, v.Pos()) || loops.AtMost(p, loop, call, 32) {
			return "", false
		}
		if r, ok := loop.(*ast.RangeStmt); ok && overSame(p, r, xs) {
			return fmt.Sprintf("over the same slice (line %d)", syntax.Line(p, loop.Pos())), true
		}
		if appends(p, loop, xs) {
			return fmt.Sprintf("that makes it longer (line %d)", syntax.Line(p, loop.Pos())), true
		}
	}
	return "", false
}

// overSame reports whether a loop ranges over the slice, or its tail.
func overSame(p *gocode.Place, r *ast.RangeStmt, xs ast.Expr) bool {
	x := ast.Unparen(r.X)
	if s, ok := x.(*ast.SliceExpr); ok {
		x = s.X
	}
	if s, ok := ast.Unparen(xs).(*ast.SliceExpr); ok {
		xs = s.X
	}
	return syntax.Same(p, x, xs)
}

// appends reports whether a loop appends to the slice, once or more in an iteration, and never
// starts it again.
func appends(p *gocode.Place, loop ast.Node, xs ast.Expr) bool {
	grows, reset := false, false
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, lhs := range a.Lhs {
			if !syntax.Same(p, lhs, xs) {
				continue
			}
			call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr)
			if ok && p.CalleeName(call) == "append" && len(call.Args) > 1 && syntax.Same(p, call.Args[0], xs) {
				grows = true
			} else {
				reset = true
			}
		}
		return true
	})
	return grows && !reset
}
