// Package loopinvariantcall finds calls in loops whose arguments are the same in every iteration.
package loopinvariantcall

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/finder"
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

It is fine in a loop that seldom has more than one iteration, or under a
condition that is rarely true: before the loop the call would always run.

Seen in the field: lawrencegripper/azbrowse#393,
superseriousbusiness/gotosocial#3297, cloudflare/pint#1579.`

func judge(c *finder.Case) bool {
	var loop ast.Node
	ok := c.All(func(call *ast.CallExpr) bool {
		loop = invariantIn(c.Place, call)
		return loop != nil
	})
	if !ok {
		return false
	}
	call := syntax.Text(c.Calls[0])
	c.Cause = fmt.Sprintf("%s has the same result in every iteration of the loop on line %d, and is computed in each.", call, syntax.Line(c.Place, loop.Pos()))
	c.Fix = "Compute it once before the loop."
	if !c.All(func(call *ast.CallExpr) bool { return sure(c.Place, loop, call) }) {
		c.Confidence = rule.Likely // other code may set the field in the meantime
	}
	return true
}

// sure reports whether no other code can change the arguments of a call.
func sure(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	return !slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return !loops.Unchanged(p, loop, arg) })
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
		for _, arg := range call.Args {
			if !loops.Steady(p, loop, arg) {
				return nil // nor in a loop around it
			}
		}
		return loop
	}
	return nil
}
