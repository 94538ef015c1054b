package costlycall

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// frameByFrame judges a line that asks for one frame of the stack after the other.
func frameByFrame(c *finder.Case) bool {
	call := c.Calls[0]
	around := loops.Around(c.Place, call)
	if len(call.Args) != 1 || len(around) == 0 || !changesIn(c, around[0], call.Args[0]) {
		return false
	}
	c.Cause = fmt.Sprintf("The loop on line %d calls runtime.Caller for one frame of the stack after the other, and each call walks the stack from its top again and allocates: k frames cost k²/2 steps.",
		syntax.Line(c.Place, around[0].Pos()))
	c.Fix = "Get the program counters with one call of runtime.Callers, and step through runtime.CallersFrames to the frame that is needed. If only failures or some lines show the location, look it up only for those."
	c.Fraction = &rule.Fraction{Expect: 0.5, Low: 0.2, High: 0.95} // the high end: only for failures
	c.Confidence = rule.Likely
	return true
}

// changesIn reports whether a loop changes a local variable of an expression.
func changesIn(c *finder.Case, loop ast.Node, e ast.Expr) (changes bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !changes {
			v, _ := c.Place.Object(id).(*types.Var)
			changes = v != nil && (syntax.Changes(c.Place, loop, v) || counts(c, loop, v))
		}
		return !changes
	})
	return changes
}

// counts reports whether a variable is the one of a range loop.
func counts(c *finder.Case, loop ast.Node, v *types.Var) bool {
	r, ok := loop.(*ast.RangeStmt)
	return ok && r.Key != nil && syntax.LocalVar(c.Place, r.Key) == v
}
