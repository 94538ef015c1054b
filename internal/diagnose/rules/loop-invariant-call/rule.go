// Package loopinvariantcall finds calls in loops whose arguments are the same in every iteration.
package loopinvariantcall

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is loop-invariant-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "loop-invariant-call",
		Kind:  rule.CPU,
		Title: "The same result computed in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				Removes: true,
				// n iterations become one: that saves half for two iterations, nearly all for a
				// hundred. The profile does not show how many there are, but a hot line in a loop
				// probably has many.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
			},
			Lines: []finder.Line{
				{Start: finder.Calls{Functions: effects.DeterministicFuncs()}, Judge: judge},
				{Start: finder.Rows(converting), Judge: judgeConversions},
			},
		},
	}
}

const doc = `The compiler does not move calls out of loops. A search that converts its query
to lower case, quotes a pattern, loads a time zone or formats a number once per
element repeats the same work for each element. So does []rune(text)[i], which
decodes the whole text to get one character.

Compute it once before the loop. The rule knows functions of the standard
library without state, and conversions of strings to slices that are only read.
It reports only calls whose arguments are constants, or local variables and
their fields of basic types that neither the loop nor a closure sets.
A function that is passed to slices.DeleteFunc, sort.Slice or their like is
called for each element, too.

It is fine in a loop that seldom has more than one iteration, or under a
condition that is rarely true: before the loop the call would always run.

Seen in the field: lawrencegripper/azbrowse#393,
superseriousbusiness/gotosocial#3297, cloudflare/pint#1579.`

func judge(c *finder.Case) bool {
	var loop ast.Node
	var same, varying []*ast.CallExpr
	for _, call := range c.Calls {
		if l := invariantIn(c.Place, call); l != nil {
			loop = l
			same = append(same, call)
		} else {
			varying = append(varying, call)
		}
	}
	if len(same) == 0 || !narrow(c, same, varying) {
		return false
	}
	call := syntax.Text(same[0])
	c.Cause = fmt.Sprintf("%s has the same result in every iteration of the loop on line %d, and is computed in each.", call, syntax.Line(c.Place, loop.Pos()))
	c.Fix = "Compute it once before the loop."
	if lit, ok := loop.(*ast.FuncLit); ok {
		by := c.Place.CalleeName(eachBy(c.Place, lit))
		c.Cause = fmt.Sprintf("%s has the same result for every element for which %s calls the function, and is computed for each.", call, by)
		c.Fix = fmt.Sprintf("Compute it once before the call of %s.", by)
	}
	if slices.ContainsFunc(same, func(call *ast.CallExpr) bool { return !sure(c.Place, loop, call) }) {
		c.Confidence = rule.Likely // other code may set the field in the meantime
	}
	return true
}

// narrow limits the match to the calls with the same result. Where the line calls the same function
// for each element, too, the rows do not show which cost belongs to which.
func narrow(c *finder.Case, same, varying []*ast.CallExpr) bool {
	if len(varying) == 0 {
		return true
	}
	names := map[string]bool{}
	for _, call := range same {
		names[c.Place.CalleeName(call)] = true
	}
	for _, call := range varying {
		if names[c.Place.CalleeName(call)] {
			c.Fraction = &rule.Fraction{Expect: 0.35, Low: 0.05, High: 0.8}
			c.Confidence = rule.Likely
		}
	}
	c.Keep(func(r *site.Row) bool { return r.Owner > 0 && names[funcname.Typed(r.Stack[r.Owner-1].Function)] })
	return !c.Empty()
}

// sure reports whether no other code can change the arguments of a call.
func sure(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	return !slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		if inner, ok := ast.Unparen(arg).(*ast.CallExpr); ok && !loops.Unchanged(p, loop, arg) {
			return !sure(p, loop, inner)
		}
		return !loops.Unchanged(p, loop, arg)
	})
}

// converting selects the rows of conversions of strings, and what the line allocates itself.
func converting(s *site.Site) rule.Match {
	return finder.TakeCallsAndOwn(s, syntax.ConversionFuncs()...)
}

// judgeConversions judges a line that converts a text which does not change in the loop.
func judgeConversions(c *finder.Case) bool {
	var nodes []ast.Node
	var loop ast.Node
	convs := syntax.ReadConversions(c.Place)
	for _, conv := range convs {
		if loop = invariantIn(c.Place, conv); loop == nil {
			return false // the rows are of all conversions on the line
		}
		nodes = append(nodes, conv)
	}
	if loop == nil {
		return false
	}
	if !syntax.AllocatesOnly(c.Place, nodes...) {
		c.Keep(func(r *site.Row) bool { return !stacks.Leaf(r) })
	}
	if c.Empty() {
		return false
	}
	c.Cause = fmt.Sprintf("%s converts all of %s again in every iteration of the loop on line %d, to read a part of it.",
		syntax.Text(convs[0]), syntax.Text(convs[0].Args[0]), syntax.Line(c.Place, loop.Pos()))
	c.Fix = "Convert it once before the loop; or range over the string, which decodes one character at a time."
	return true
}

// invariantIn returns the innermost loop that repeats a call whose arguments do not change in it.
// Calls with only constant arguments belong to another rule.
func invariantIn(p *gocode.Place, call *ast.CallExpr) ast.Node {
	if syntax.AllConst(p, call) || call.Ellipsis.IsValid() || len(call.Args) == 0 {
		return nil
	}
	for _, loop := range loops.Around(p, call) {
		if loops.AtMost(p, loop, call, 2) {
			continue
		}
		if !steady(p, loop, call) {
			return nil // nor in a loop around it
		}
		return loop
	}
	if lit, ok := p.Func.(*ast.FuncLit); ok && eachBy(p, lit) != nil && len(loops.Around(p, call)) == 0 && steady(p, lit, call) {
		return lit
	}
	return nil
}

// steady reports whether the arguments of a call do not change in a loop: they are steady, or
// results of functions without state whose arguments are.
func steady(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		inner, ok := ast.Unparen(arg).(*ast.CallExpr)
		if ok && funcname.Match(p.CalleeName(inner), funcname.TypedAll(effects.DeterministicFuncs())...) && steady(p, loop, inner) {
			continue
		}
		if !loops.Steady(p, loop, arg) {
			return false
		}
	}
	return true
}

// eachBy returns the call that gets a function literal and calls it for each element of a list or a
// map; nil for none.
func eachBy(p *gocode.Place, lit *ast.FuncLit) *ast.CallExpr {
	call, ok := syntax.Parent(p.Outer(), lit).(*ast.CallExpr)
	if !ok || !funcname.Match(p.CalleeName(call), "slices.DeleteFunc", "slices.IndexFunc", "slices.ContainsFunc", "maps.DeleteFunc",
		"slices.SortFunc", "slices.SortStableFunc", "sort.Slice", "sort.SliceStable", "(*sync.Map).Range",
		"github.com/samber/lo.Filter", "github.com/samber/lo.Map", "github.com/samber/lo.FilterMap", "github.com/samber/lo.Find", "github.com/samber/lo.ContainsBy") {
		return nil
	}
	return call
}
