// Package linearscan finds slices that a loop searches linearly in each iteration.
package linearscan

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
	"github.com/hone-go/hone/stats"
)

// Rule is linear-scan.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "linear-scan",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Slice searched linearly in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Looking up n elements in a slice of n costs n²/2 comparisons; in a map n lookups
				// of about 20 ns. The profile does not show how long the slice is: a few dozen
				// elements save nothing.
				Fraction: rule.Fraction{Expect: 0.8, Low: 0.2, High: 1},
			},
			Start: finder.Calls{
				Functions: []string{"slices.Contains[*", "slices.Index[*"},
				Types:     []string{"slices.Contains", "slices.Index"},
			},
			Judge: judge,
		},
	}
}

const doc = `slices.Contains and Index compare one element after the other. Calling them once
per element, on the same slice or on one that grows with the loop, costs n²/2
comparisons: fifty million for ten thousand elements.

Keep the elements in a map (map[T]struct{}, or map[T]int for the index) beside
the slice, or sort once and use slices.BinarySearch.

It is fine for short slices: up to about thirty numbers, or ten strings, the
scan is faster than the map. The rule leaves alone slices of constant length,
and slices that do not depend on the loop, because their length is unknown. A
function that adds an element unless it finds it is reported if a loop of its
caller calls it for the same slice.

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
		return unique(c) || long(c)
	}
	if each, known := searchTime(c); known && each < shortSearch {
		return false // the loop adds few of what it goes through
	}
	describe(c, fmt.Sprintf("in every iteration of a loop %s: n iterations make about n²/2 comparisons", why))
	return true
}

// leastEach is the minimum time of one search, in seconds, that shows a long slice: 50 elements and
// more, where a lookup in a map takes about 20 ns.
const leastEach = 100e-9

// shortSearch is a time of one search, in seconds, that shows a slice of a few elements.
const shortSearch = 20e-9

// searchTime returns how long one search takes at most, in seconds, as far as the samples show;
// false if it is not known.
func searchTime(c *finder.Case) (float64, bool) {
	value, n := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(value)*1e-9)
	return each * stats.Poisson(n).High / float64(max(1, n)), known && n > 0
}

// long reports whether one search takes so long that the slice must be long.
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
		return false // a list that the call itself creates
	}
	describe(c, fmt.Sprintf("each time: one search takes %s, a lookup in a map about 20 ns", units.Seconds(each)))
	return true
}

// describe fills in what is searched, and how.
func describe(c *finder.Case, how string) {
	xs := syntax.Text(c.Calls[0].Args[0])
	elem := "T"
	if s, ok := c.Place.TypeOf(c.Calls[0].Args[0]).Underlying().(*types.Slice); ok {
		elem = syntax.TypeText(c.Place, s.Elem())
	}
	c.Cause = fmt.Sprintf("%s searches %s from end to end %s.", symbol.Short(c.Name()), xs, how)
	c.Fix = fmt.Sprintf("Keep a map[%s]struct{} beside %s and look elements up in it (for more than a few dozen elements).", elem, xs)
	c.Confidence = rule.Likely // only a run shows how long the slice is
}

// growsWithLoop reports whether the length of the slice that a call searches depends on the number
// of iterations of a loop around it: the loop ranges over the slice, or appends to it.
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

// appends reports whether a loop appends to the slice, and never sets it to a new one.
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
