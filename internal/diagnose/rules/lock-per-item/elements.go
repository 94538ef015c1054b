package lockperitem

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// ofElement reports whether a mutex is part of the object that its function gets, and all callers
// pass it elements of a list or map: each time another mutex is locked, which guards that element.
func ofElement(pass *rule.Pass, p *gocode.Place, mutex ast.Expr) bool {
	owner, _ := syntax.Var(p, mutex)
	if owner == nil {
		return false
	}
	if isElement(pass.Syntax, p, owner) {
		return true
	}
	if p.Decl == nil {
		return false
	}
	fn, _ := p.Object(p.Decl.Name).(*types.Func)
	callers := 0
	for _, in := range pass.Syntax.Calls(func(f *types.Func) bool { return f == fn }) {
		for _, call := range in.Calls() {
			if in.Callee(call) != fn {
				continue
			}
			arg := flow.ArgumentFor(p, call, owner)
			if arg == nil || !isElementOf(pass.Syntax, in, arg) {
				return false
			}
			callers++
		}
	}
	return callers > 0
}

// isElementOf reports whether an expression is an element of a list or map, or part of one.
func isElementOf(s *gocode.Syntax, p *gocode.Place, e ast.Expr) bool {
	e = syntax.Origin(p, e)
	if at, ok := e.(*ast.IndexExpr); ok {
		_, constant := p.Const(at.Index)
		return !constant
	}
	v, _ := syntax.Var(p, e)
	return v != nil && isElement(s, p, v)
}

// isElement reports whether a variable is an element of what a loop ranges over, or the parameter
// of a function literal that the function which gets it calls with such elements.
func isElement(s *gocode.Syntax, p *gocode.Place, v *types.Var) bool {
	if flow.Ranged(p, v) != nil {
		return true
	}
	lit, i := flow.LiteralOf(p, v)
	if lit == nil {
		return false
	}
	call, ok := syntax.Parent(p.Outer(), lit).(*ast.CallExpr)
	if !ok {
		return false
	}
	in, ok := s.Declared(p.Callee(call))
	if !ok || in.Decl == nil {
		return false
	}
	each := false
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || i >= len(c.Args) {
			return true
		}
		f := syntax.LocalVar(in, c.Fun)
		if f == nil {
			return true
		}
		of, _ := syntax.Var(in, syntax.Origin(in, c.Args[i]))
		each = each || flow.ArgumentFor(in, call, f) == ast.Expr(lit) && of != nil && flow.Ranged(in, of) != nil
		return true
	})
	return each
}
