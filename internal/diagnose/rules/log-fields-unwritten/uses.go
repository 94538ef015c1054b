package logfieldsunwritten

import (
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// lines are those of a call, in the file of the function that copies a logger.
type lines struct{ from, to int }

func linesOf(p *gocode.Place, e ast.Expr) lines {
	return lines{syntax.Line(p, e.Pos()), syntax.Line(p, e.End())}
}

// stays reports whether only methods of a copied logger are called, in the function that copies it,
// and on which lines: all that is written with the copy is then written below these.
func stays(p *gocode.Place, call *ast.CallExpr) (uses []lines, ok bool) {
	last := chain(p, call)
	if _, line := syntax.Parent(p, last).(*ast.ExprStmt); line {
		return []lines{linesOf(p, last)}, true
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, last))
	if v == nil || syntax.IsResult(p, v) || syntax.Param(p, v) {
		return nil, false
	}
	at := p.Outer()
	for _, id := range syntax.Reads(p, v) {
		if later(at, id, p.Func) {
			return nil, false
		}
		used := chain(at, id)
		if used == ast.Expr(id) {
			return nil, false // the logger itself is passed on
		}
		uses = append(uses, linesOf(at, used))
		if _, line := syntax.Parent(at, used).(*ast.ExprStmt); line {
			continue
		}
		if syntax.LocalVar(at, syntax.AssignedTo(at, used)) != v {
			return nil, false
		}
	}
	return uses, true
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
