// Package loopinvariantcall finds calls in loops whose arguments are the same in every iteration.
package loopinvariantcall

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is loop-invariant-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "loop-invariant-call",
		Kind:  rule.CPU,
		Title: "The same result computed in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// n iterations become one: half for two iterations, nearly all for a hundred. How many
				// there are the profile does not say, but a hot line in a loop has rather many.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
			},
			Start: finder.Calls{Functions: append(effects.PureFuncs(), "fmt.Sprintf", "fmt.Sprint")},
			Judge: judge,
		},
	}
}

const doc = `The compiler does not move calls out of loops. A search that lowers its query,
quotes a pattern or formats a number once per element of what it searches does
the same work for each of them.

Compute it once before the loop. The rule knows functions of the standard
library without state, and speaks only when every argument is a constant or a
local variable of a basic type that nothing in the loop, and no closure, sets.

It is fine in a loop that seldom has more than one iteration, or where a
condition that is rarely true guards the call: before the loop it would run
every time.

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
	c.Cause = fmt.Sprintf("%s is the same in every iteration of the loop on line %d, and computed in each.", call, syntax.Line(c.Place, loop.Pos()))
	c.Fix = "Compute it once before the loop."
	return true
}

// invariantIn returns the innermost loop that repeats a call whose arguments do not
// change in it. Calls with constants alone belong to another rule.
func invariantIn(p *gocode.Place, call *ast.CallExpr) ast.Node {
	if syntax.AllConst(p, call) || call.Ellipsis.IsValid() || len(call.Args) == 0 {
		return nil
	}
	for _, loop := range loops.Around(p, call) {
		if loops.AtMost(p, loop, call, 2) {
			continue
		}
		for _, arg := range call.Args {
			if !loops.Unchanged(p, loop, arg) {
				return nil // nor in a loop around it
			}
		}
		return loop
	}
	return nil
}
