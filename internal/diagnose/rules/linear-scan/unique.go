package linearscan

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// levels is how many callers away from the search the loop may be.
const levels = 2

// unique judges a function that adds an element to a slice unless a search finds it there, and that
// a loop of a caller calls for one slice: a field, or a parameter that the loop replaces by the
// result.
func unique(c *finder.Case) bool {
	p := c.Place
	if len(c.Calls) != 1 || len(c.Calls[0].Args) != 2 || p.Decl == nil || p.Func != ast.Node(p.Decl) || len(loops.Around(p, c.Calls[0])) > 0 {
		return false
	}
	xs := c.Calls[0].Args[0]
	root, part := syntax.Var(p, xs)
	if root == nil || !adds(p, xs) {
		return false
	}
	var by loops.Caller
	match := *c.Match
	match.Keep(func(r *site.Row) bool {
		l, ok := loops.Calling(c.Pass.Syntax, r.Stack, r.Owner, levels)
		if !ok || loops.AtMost(l.Place, l.Loop, l.Call, 32) {
			return false
		}
		if part || root.Parent() == p.Pkg.Scope() {
			ok = l.Shares(p, xs)
		} else {
			ok = l.Direct && replaced(p, l, xs)
		}
		if ok {
			by = l
		}
		return ok
	})
	if match.Empty() {
		return false
	}
	value, _ := stacks.Sum(match.CPU)
	if each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(value)*1e-9); known && each < leastEach/2 {
		return false // a short slice
	}
	*c.Match = match
	describe(c, fmt.Sprintf("in every call, and adds what it does not find; the loop on line %d of %s calls %s: n calls make about n²/2 comparisons", by.Line(), by.Name(), syntax.FuncName(p)))
	return true
}

// adds reports whether a function appends to a slice: xs = append(xs, x), return append(xs, x).
func adds(p *gocode.Place, xs ast.Expr) (found bool) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || p.CalleeName(call) != "append" || len(call.Args) < 2 || !syntax.Same(p, call.Args[0], xs) {
			return !found
		}
		_, returned := syntax.Parent(p, call).(*ast.ReturnStmt)
		to := syntax.AssignedTo(p, call)
		found = returned || to != nil && syntax.Same(p, to, xs)
		return !found
	})
	return found
}

// replaced reports whether a loop passes a slice from outside of it for the parameter xs, and
// replaces the slice by the result.
func replaced(p *gocode.Place, l loops.Caller, xs ast.Expr) bool {
	v := syntax.LocalVar(p, xs)
	to := syntax.AssignedTo(l.Place, l.Call)
	if v == nil || to == nil || !loops.FromOutside(l.Place, l.Loop, to) {
		return false
	}
	i := syntax.ParamIndex(syntax.SignatureOf(p), v) // the function may set it
	return i >= 0 && i < len(l.Call.Args) && syntax.Same(l.Place, l.Call.Args[i], to)
}
