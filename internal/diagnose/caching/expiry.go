package caching

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// ExpiryTest returns the condition before a position in a function that compares the time of a kept
// value with the current one; nil for none.
func ExpiryTest(p *gocode.Place, before token.Pos) (found ast.Expr) {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		cond, ok := n.(*ast.IfStmt)
		if ok && found == nil && cond.Cond.Pos() < before && compares(p, cond.Cond, true) {
			found = cond.Cond
		}
		return found == nil
	})
	return found
}

// compares reports whether an expression compares the time of something that is kept, itself or in
// a function of the package that it calls.
func compares(p *gocode.Place, e ast.Node, below bool) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && !found {
			found = seconds(p, b.X) && keptIn(p, b.Y) || seconds(p, b.Y) && keptIn(p, b.X)
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		name := p.CalleeName(call)
		switch {
		case funcname.Match(name, "time.Since", "time.Until"):
			found = kept(p, call.Args[0])
		case funcname.Match(name, "(time.Time).Before", "(time.Time).After", "(time.Time).Compare", "(time.Time).Sub"):
			found = kept(p, call.Args[0]) || kept(p, syntax.Receiver(call))
		case below:
			found = asksAge(p, p.Callee(call))
		}
		return !found
	})
	return found
}

// seconds reports whether an expression is a time as a number: now.Unix(), now.UnixNano().
func seconds(p *gocode.Place, e ast.Expr) bool {
	call, ok := syntax.Origin(p, e).(*ast.CallExpr)
	return ok && funcname.Match(p.CalleeName(call), "(time.Time).Unix*")
}

// keptIn reports whether an expression is computed from something that is kept: e.at+ttl.
func keptIn(p *gocode.Place, e ast.Expr) bool {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok {
		return keptIn(p, b.X) || keptIn(p, b.Y)
	}
	_, constant := p.Const(e)
	return !constant && kept(p, e)
}

// asksAge reports whether a function of the package returns a comparison of times.
func asksAge(p *gocode.Place, fn *types.Func) (found bool) {
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return false
	}
	in := p.Entry(decl)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			for _, e := range r.Results {
				t := in.TypeOf(e)
				b, ok := types.Unalias(t).(*types.Basic)
				found = found || ok && b.Info()&types.IsBoolean != 0 && compares(in, e, false)
			}
		}
		return !found
	})
	return found
}

// kept reports whether an expression is, or is computed from, the time of something that is kept: a
// field or an element, or a local variable that gets one.
func kept(p *gocode.Place, e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return p.Info.Selections[x] != nil
	case *ast.IndexExpr:
		return true
	case *ast.CallExpr:
		if strings.HasPrefix(p.CalleeName(x), "(time.Time).") {
			return kept(p, syntax.Receiver(x))
		}
		return p.CalleeName(x) != "time.Now" && syntax.Receiver(x) != nil && len(x.Args) == 0
	case *ast.Ident:
		v := syntax.LocalVar(p, x)
		if v == nil {
			return false
		}
		stmt, _ := syntax.Declared(p, v)
		a, ok := stmt.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 {
			return false
		}
		switch rhs := ast.Unparen(a.Rhs[0]).(type) {
		case *ast.IndexExpr:
			return true
		case *ast.SelectorExpr:
			return p.Info.Selections[rhs] != nil
		}
	}
	return false
}
