package objectperitem

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// stored reports whether a function puts what it allocates into a map, a list or a field that
// outlives it. Such an object may live until the program exits, also where the heap was measured
// before that, or after the program dropped everything.
func stored(p *gocode.Place, made ast.Node) bool {
	e, ok := made.(ast.Expr)
	if !ok {
		return false
	}
	if up, ok := syntax.Parent(p, e).(*ast.UnaryExpr); ok {
		e = up
	}
	if lasting(p, e) {
		return true
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, e))
	if v == nil {
		return false
	}
	for _, use := range syntax.Uses(p, v) {
		if lasting(p, use) {
			return true
		}
	}
	return false
}

// lasting reports whether an expression is assigned to an element of a list or map, or appended to
// a list, that is a field or a package variable.
func lasting(p *gocode.Place, e ast.Expr) bool {
	if call, ok := syntax.Parent(p, e).(*ast.CallExpr); ok && p.CalleeName(call) == "append" && len(call.Args) > 1 && call.Args[0] != e {
		e = call
	}
	to := syntax.AssignedTo(p, e)
	at, element := to.(*ast.IndexExpr)
	if element {
		to = at.X
	}
	if _, call := e.(*ast.CallExpr); !element && !call {
		return false
	}
	v := syntax.Named(p, to)
	return v != nil && (v.IsField() || v.Parent() == p.Pkg.Scope())
}
