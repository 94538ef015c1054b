package loops

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// TriesAgain reports whether a loop makes the same call in each iteration until the answer ends it:
// attempts after an error, or a question that is asked until the answer has changed. It has no
// items whose calls could be one.
func TriesAgain(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	switch l := loop.(type) {
	case *ast.ForStmt:
	case *ast.RangeStmt:
		b, ok := p.TypeOf(l.X).Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsInteger == 0 {
			return false
		}
	default:
		return false
	}
	if !given(p, loop, call) {
		return false
	}
	results := resultsOf(p, call)
	return len(results) > 0 && endsBy(p, loop, results)
}

// given reports whether a call in a loop gets the same in each iteration: values from outside, or
// what the iteration makes of them.
func given(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	fixed := true
	var look func(ast.Node, int)
	look = func(e ast.Node, depth int) {
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || !fixed {
				return fixed
			}
			v, ok := p.Object(id).(*types.Var)
			if !ok || v.IsField() || syntax.IsError(v.Type()) {
				return true
			}
			if !syntax.Inside(loop, v.Pos()) {
				fixed = !syntax.Changes(p, loop, v)
				return fixed
			}
			_, value := syntax.Declared(p, v)
			if fixed = value != nil && depth > 0 && syntax.Inside(Body(loop), v.Pos()) && !syntax.Within(value, call); fixed {
				look(value, depth-1)
			}
			return fixed
		})
	}
	for _, arg := range call.Args {
		look(arg, 3)
	}
	return fixed
}

// resultsOf returns the variables that get what a call returns.
func resultsOf(p *gocode.Place, call *ast.CallExpr) (vars []*types.Var) {
	assign, ok := syntax.Parent(p, call).(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return nil
	}
	for _, lhs := range assign.Lhs {
		if v, _ := syntax.Var(p, lhs); v != nil {
			vars = append(vars, v)
		}
	}
	return vars
}

// endsBy reports whether a test of results ends the loop: one of success, not only one of an error,
// which may just give up; or one that is passed before the last statement of the loop leaves it.
func endsBy(p *gocode.Place, loop ast.Node, results []*types.Var) bool {
	found := false
	ast.Inspect(Body(loop), func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit || found {
			return false
		}
		if cond, ok := n.(*ast.IfStmt); ok && syntax.Mentions(p, cond.Cond, results...) {
			switch {
			case !departs(cond.Body):
				found = departs(Body(loop))
			default:
				found = !failure(p, cond.Cond)
			}
		}
		return !found
	})
	return found
}

// departs reports whether a block ends with a statement that leaves the loop around it.
func departs(b *ast.BlockStmt) bool {
	return len(b.List) > 0 && syntax.Departs(b.List[len(b.List)-1], true)
}

// failure reports whether a condition is only that an error is not nil.
func failure(p *gocode.Place, cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && b.Op == token.NEQ && syntax.IsError(p.TypeOf(b.X))
}
