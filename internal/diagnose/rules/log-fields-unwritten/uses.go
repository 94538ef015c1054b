package logfieldsunwritten

import (
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// stays reports whether only methods of a copied logger are called, in the function that copies it:
// all lines that are written with it are then written below that function.
func stays(p *gocode.Place, call *ast.CallExpr) bool {
	last := chain(p, call)
	if _, line := syntax.Parent(p, last).(*ast.ExprStmt); line {
		return true
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, last))
	if v == nil || syntax.IsResult(p, v) || syntax.Param(p, v) {
		return false
	}
	at := p.Outer()
	for _, id := range syntax.Reads(p, v) {
		if later(at, id, p.Func) {
			return false
		}
		used := chain(at, id)
		if used == ast.Expr(id) {
			return false // the logger itself is passed on
		}
		if _, line := syntax.Parent(at, used).(*ast.ExprStmt); line {
			continue
		}
		if syntax.LocalVar(at, syntax.AssignedTo(at, used)) != v {
			return false
		}
	}
	return true
}

// oneLine reports whether a copied logger serves one line, to whose method fields can be given:
// log.With("id", id).Info("stored"). Methods with a format, and those of zap's sugared logger
// without a w, take none.
func oneLine(p *gocode.Place, call *ast.CallExpr) bool {
	last, ok := chain(p, call).(*ast.CallExpr)
	if !ok || last == call {
		return false
	}
	if _, line := syntax.Parent(p, last).(*ast.ExprStmt); !line {
		return false
	}
	switch name := p.CalleeName(last); {
	case strings.HasPrefix(name, "(*github.com/rs/zerolog.Event)"):
		return true
	case strings.HasPrefix(name, "(*go.uber.org/zap.SugaredLogger)"):
		return strings.HasSuffix(name, "w")
	default:
		return name != "" && !strings.HasSuffix(name, "f")
	}
}

// chain returns the outermost call of a chain of methods that starts at an expression, such as
// log.With().Str("id", id).Logger() at log; the expression itself if no method of it is called.
func chain(p *gocode.Place, e ast.Expr) ast.Expr {
	for {
		sel, ok := syntax.Parent(p, e).(*ast.SelectorExpr)
		if !ok || ast.Unparen(sel.X) != e {
			return e
		}
		call, ok := syntax.Parent(p, sel).(*ast.CallExpr)
		if !ok || ast.Unparen(call.Fun) != ast.Expr(sel) {
			return e
		}
		e = call
	}
}

// later reports whether an expression is in a function literal that may run after the function has
// returned, or in another goroutine: one that is not deferred.
func later(p *gocode.Place, e ast.Expr, fn ast.Node) bool {
	path := p.Enclosing(e)
	for i, n := range path {
		if n == fn {
			return false
		}
		if _, ok := n.(*ast.GoStmt); ok {
			return true
		}
		if lit, ok := n.(*ast.FuncLit); ok {
			if i+2 >= len(path) {
				return true
			}
			call, is := path[i+1].(*ast.CallExpr)
			if _, deferred := path[i+2].(*ast.DeferStmt); !is || call.Fun != ast.Expr(lit) || !deferred {
				return true
			}
		}
	}
	return false
}
