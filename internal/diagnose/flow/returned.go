package flow

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Getter is a call of a function that returns what another call created.
type Getter struct {
	*gocode.Place
	Call *ast.CallExpr
	// Wrapped is true if the value is in a field of a struct that the function returns.
	Wrapped bool
}

// Returned returns the calls, in the main module, of the function around a place, if the function
// returns the value that a call in it creates, alone or in a field of a new struct.
func Returned(s *gocode.Syntax, p *gocode.Place, created *ast.CallExpr) (uses []Getter) {
	if s == nil || p.Decl == nil || p.Func != p.Decl {
		return nil
	}
	wrapped, ok := returns(p, created)
	if !ok {
		return nil
	}
	self := p.Info.Defs[p.Decl.Name]
	for _, in := range s.Calls(func(fn *types.Func) bool { return fn == self }) {
		for _, call := range syntax.Calls(in) {
			if in.Callee(call) == self {
				uses = append(uses, Getter{in, call, wrapped})
			}
		}
	}
	return uses
}

// returns reports whether the function around a place returns a created value, and whether it is
// wrapped.
func returns(p *gocode.Place, created *ast.CallExpr) (wrapped, ok bool) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 || ok {
				return false
			}
			result := syntax.Origin(p, n.Results[0])
			if ref, is := result.(*ast.UnaryExpr); is && ref.Op == token.AND {
				result = syntax.Origin(p, ref.X)
			}
			if result == ast.Expr(created) {
				ok = true
				return false
			}
			if lit, is := result.(*ast.CompositeLit); is {
				wrapped = wraps(p, lit, created)
				ok = wrapped
			}
		}
		return !ok
	})
	return wrapped, ok
}

// wraps reports whether a field of a literal has a created value.
func wraps(p *gocode.Place, lit *ast.CompositeLit, created *ast.CallExpr) bool {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		if syntax.Origin(p, e) == ast.Expr(created) {
			return true
		}
	}
	return false
}
