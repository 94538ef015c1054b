package deferinloop

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// leastHeld is how often a call of the function must open something for the line to be reported.
const leastHeld = 10

// held claims the memory of what the line opens in a loop, and a defer in the same loop releases:
// all of it is in use at once.
func held(c *finder.Case) bool {
	if len(c.Allocs) == 0 {
		return false
	}
	ran, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || ran.PerCall < leastHeld {
		return false
	}
	for _, call := range syntax.Calls(c.Place) {
		v := syntax.Result(c.Place, call)
		if v == nil {
			continue
		}
		stmt := release(c.Place, call, v)
		if stmt == nil || stored(c.Place, v) {
			continue
		}
		callee := c.Place.CalleeName(call)
		c.CPU, c.Mutex, c.Block = nil, nil, nil
		c.Confidence = rule.Likely
		// How much of it the next iteration could use again is not known.
		c.Fraction = &rule.Fraction{Expect: 0.5, Low: 0, High: 1}
		c.Cause = fmt.Sprintf("%s is deferred in the loop (line %d): what %s opens, %s for each call of %s, stays open until that returns, and later iterations cannot reuse its buffers.",
			syntax.Text(stmt.Call.Fun), syntax.Line(c.Place, stmt.Pos()), symbol.Short(callee), evidence.Times(ran.PerCall), syntax.FuncName(c.Place))
		c.Fix = fmt.Sprintf("Release each one before the next iteration: move the loop body into its own function, or call %s at the end of the body.", syntax.Text(stmt.Call.Fun))
		return true
	}
	return false
}

// release returns the defer statement that releases the result of a call, which declares it in a
// loop, in the same loop; nil if there is none.
func release(p *gocode.Place, call *ast.CallExpr, v *types.Var) *ast.DeferStmt {
	return loops.Deferred(p, call, v, func(d *ast.DeferStmt) bool {
		sel, ok := d.Call.Fun.(*ast.SelectorExpr)
		return ok && releases(sel.Sel.Name) && syntax.LocalVar(p, sel.X) == v
	})
}

// releases reports whether a method with this name gives back what its receiver holds.
func releases(name string) bool {
	switch strings.ToLower(name) {
	case "close", "release", "free", "destroy":
		return true
	}
	return false
}

// needed reports whether what a defer statement in a loop releases is kept for later iterations.
func needed(p *gocode.Place, stmt *ast.DeferStmt) bool {
	sel, ok := stmt.Call.Fun.(*ast.SelectorExpr)
	if !ok || !releases(sel.Sel.Name) {
		return false
	}
	v := syntax.LocalVar(p, sel.X)
	return v != nil && stored(p, v)
}

// stored reports whether a variable is used in another way than as the receiver or an argument of
// calls, and in comparisons: something may need it after the iteration.
func stored(p *gocode.Place, v *types.Var) bool {
	for _, id := range syntax.Reads(p, v) {
		switch n := syntax.Parent(p, id).(type) {
		case *ast.SelectorExpr, *ast.BinaryExpr:
		case *ast.CallExpr:
			if p.CalleeName(n) == "append" {
				return true
			}
		default:
			return true
		}
	}
	return false
}
