package directorypolling

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// waitsForTime reports whether a loop sleeps or receives from a timer or a ticker, itself or in a
// function of its package that it calls. A pause in another loop around the call, within the loop,
// is not one between passes.
func waitsForTime(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	if r, ok := loop.(*ast.RangeStmt); ok && syntax.Times(p, r.X) {
		return true
	}
	body := loops.Body(loop)
	return body != nil && waits(p, body, call)
}

// waits is waitsForTime for a block; without a call, it does not look into the functions that the
// block calls.
func waits(p *gocode.Place, body ast.Node, call *ast.CallExpr) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.ForStmt:
			return call == nil || !syntax.Within(n, call)
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW && syntax.Times(p, n.X)
		case *ast.RangeStmt:
			if call != nil && syntax.Within(n, call) {
				return false
			}
			found = found || syntax.Times(p, n.X)
		case *ast.CallExpr:
			fn := p.Callee(n)
			if fn == nil {
				return !found
			}
			if fn.FullName() == "time.Sleep" {
				found = true
			} else if decl := p.Declaration(fn); call != nil && decl != nil && decl.Body != nil {
				found = found || waits(p.Entry(decl), decl.Body, nil)
			}
		}
		return !found
	})
	return found
}

// sameEachTime reports whether a call in a loop gets the same names in each iteration: none that
// the iteration declares, except those of a list that is the same.
func sameEachTime(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if syntax.IsString(p, arg) && !same(p, loop, arg) {
			return false
		}
	}
	return true
}

func same(p *gocode.Place, loop ast.Node, e ast.Expr) bool {
	all := true
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return all
		}
		v, ok := p.Object(id).(*types.Var)
		if !ok || v.IsField() || !syntax.Inside(loop, v.Pos()) {
			return all
		}
		if stmt, value := syntax.Declared(p, v); value != nil {
			all = all && same(p, loop, value)
		} else if r, ok := stmt.(*ast.RangeStmt); !ok || r == loop || !same(p, loop, r.X) {
			all = false
		}
		return all
	})
	return all
}
