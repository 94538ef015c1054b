package sleeppolling

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// kind is what a condition of a loop is about.
type kind int

// The kinds of conditions.
const (
	state     kind = iota // something in the program
	succeeded             // a call returned no error
	failed                // a call returned an error
	limit                 // the number of attempts, the time, the end of a context
)

// not returns the kind of the opposite condition.
func (k kind) not() kind {
	switch k {
	case succeeded:
		return failed
	case failed:
		return succeeded
	}
	return k
}

// kind returns what a condition is about. If it is about several things, errors count most. If one
// of several is enough, an error or a limit only gives up: err != nil || done.
func (a *asking) kind(cond ast.Expr) kind {
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && b.Op == token.LOR {
		x, y := a.kind(b.X), a.kind(b.Y)
		switch {
		case x == succeeded || y == succeeded:
			return succeeded
		case x == state || y == state:
			return state
		}
		return max(x, y)
	}
	found := state
	ast.Inspect(cond, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || found == succeeded || found == failed {
			return false
		}
		switch k := a.part(e); k {
		case state:
		default:
			found = k
		}
		return found != limit
	})
	return found
}

// holds reports whether one of the conditions of a loop, which hold together, is about something
// in the program.
func (a *asking) holds(cond ast.Expr) bool {
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && b.Op == token.LAND {
		return a.holds(b.X) || a.holds(b.Y)
	}
	return a.kind(cond) == state
}

// part returns what an expression in a condition is about by itself.
func (a *asking) part(e ast.Expr) kind {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		isNil := a.p.Info.Types[e.X].IsNil() || a.p.Info.Types[e.Y].IsNil()
		call, ok := ast.Unparen(e.X).(*ast.CallExpr)
		switch {
		case ok && funcname.Match(a.p.CalleeName(call), "(context.Context).Err", "context.Cause"):
			return limit
		case !isNil || !syntax.IsError(a.p.TypeOf(e.X)) && !syntax.IsError(a.p.TypeOf(e.Y)):
			return state
		case e.Op == token.NEQ:
			return failed
		case !a.sentinel:
			return succeeded
		}
	case *ast.CallExpr:
		name := a.p.CalleeName(e)
		switch {
		case sentinel(a.p, e):
			return state
		case funcname.Match(name, "time.Since", "time.Until", "time.Now", "(time.Time).*", "(context.Context).Err"):
			return limit
		}
		for _, arg := range e.Args {
			if syntax.IsError(a.p.TypeOf(arg)) {
				return failed
			}
		}
	case *ast.SelectorExpr:
		if strings.HasPrefix(e.Sel.Name, "StatusCode") {
			return succeeded // of a response
		}
	case *ast.Ident:
		if a.counter != nil && a.p.Object(e) == types.Object(a.counter) {
			return limit
		}
	}
	return state
}

// sentinel reports whether an expression compares an error with a package variable, except those of
// package context.
func sentinel(p *gocode.Place, e ast.Expr) bool {
	var with ast.Expr
	switch e := e.(type) {
	case *ast.CallExpr:
		if p.CalleeName(e) != "errors.Is" || len(e.Args) != 2 {
			return false
		}
		with = e.Args[1]
	case *ast.BinaryExpr:
		if !syntax.IsError(p.TypeOf(e.X)) {
			return false
		}
		with = e.Y
	default:
		return false
	}
	var id *ast.Ident
	switch x := ast.Unparen(with).(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return false
	}
	v, ok := p.Object(id).(*types.Var)
	return ok && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() && v.Pkg().Path() != "context"
}

// ended reports whether a channel is closed when a context ends.
func ended(p *gocode.Place, from ast.Expr) bool {
	call, ok := ast.Unparen(from).(*ast.CallExpr)
	return ok && funcname.Match(p.CalleeName(call), "(context.Context).Done")
}
