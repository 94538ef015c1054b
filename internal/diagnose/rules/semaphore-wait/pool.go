package semaphorewait

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// wrappers is how many functions may pass on what a pool's own returns or gets.
const wrappers = 2

// pool is the functions of the program that take a value of a pool, and those that give it back.
type pool struct {
	rule.Pass
	takes, gives []*types.Func
}

// pooled reports whether requests take something at one line and give it back at the other: some
// function calls the functions of both, and passes what it got from the first to the second.
func pooled(p *rule.Pass, waiter, waker *exectrace.Line) bool {
	if p.Syntax == nil {
		return false
	}
	take, give := declared(p, waiter), declared(p, waker)
	if take == nil || give == nil || take == give {
		return false
	}
	o := pool{Pass: *p, takes: []*types.Func{take}, gives: []*types.Func{give}}
	for range wrappers {
		o.takes = o.wrap(o.takes, returns)
		o.gives = o.wrap(o.gives, passes)
	}
	found := false
	o.calls(o.takes, func(in *gocode.Place, call *ast.CallExpr) {
		found = found || o.givenBack(in.Outer(), call)
	})
	return found
}

// declared returns the declared function around a line; nil for none.
func declared(p *rule.Pass, l *exectrace.Line) *types.Func {
	place, ok := p.Syntax.At(l.File, l.Line)
	if !ok || place.Outer().Decl == nil {
		return nil
	}
	fn, _ := place.Object(place.Outer().Decl.Name).(*types.Func)
	return fn
}

// calls visits the calls of some functions in the main module, also through interfaces.
func (o *pool) calls(of []*types.Func, visit func(*gocode.Place, *ast.CallExpr)) {
	accept := func(fn *types.Func) bool { return calls(of, fn) }
	for _, place := range o.Syntax.Calls(accept) {
		for _, call := range syntax.Calls(place) {
			if fn := place.Callee(call); fn != nil && accept(fn.Origin()) {
				visit(place, call)
			}
		}
	}
}

func calls(of []*types.Func, fn *types.Func) bool {
	return slices.ContainsFunc(of, func(f *types.Func) bool { return f == fn || awaited.Implements(f, fn) })
}

// wrap adds the functions that call some functions and pass on a value as through reports.
func (o *pool) wrap(of []*types.Func, through func(*gocode.Place, *ast.CallExpr) bool) []*types.Func {
	all := slices.Clone(of)
	o.calls(of, func(in *gocode.Place, call *ast.CallExpr) {
		outer := in.Outer()
		if outer.Decl == nil || !through(outer, call) {
			return
		}
		if fn, ok := in.Object(outer.Decl.Name).(*types.Func); ok && !slices.Contains(all, fn) {
			all = append(all, fn)
		}
	})
	return all
}

// returns reports whether a function returns what a call returns.
func returns(in *gocode.Place, call *ast.CallExpr) bool {
	if _, ok := syntax.Parent(in, call).(*ast.ReturnStmt); ok {
		return true
	}
	v := syntax.LocalVar(in, first(in, call))
	if v == nil {
		return false
	}
	return slices.ContainsFunc(syntax.Reads(in, v), func(id *ast.Ident) bool {
		_, ok := syntax.Parent(in, id).(*ast.ReturnStmt)
		return ok
	})
}

// passes reports whether a call gets a parameter or the receiver of the function around it.
func passes(in *gocode.Place, call *ast.CallExpr) bool {
	return slices.ContainsFunc(given(call), func(e ast.Expr) bool {
		v, _ := syntax.Var(in, e)
		return v != nil && (syntax.Param(in, v) || v.Kind() == types.RecvVar)
	})
}

// given returns the receiver and the arguments of a call.
func given(call *ast.CallExpr) []ast.Expr {
	if to := syntax.Receiver(call); to != nil {
		return append([]ast.Expr{to}, call.Args...)
	}
	return call.Args
}

// first returns what the first result of a call is assigned to; nil for nothing.
func first(in *gocode.Place, call *ast.CallExpr) ast.Expr {
	if a, ok := syntax.Parent(in, call).(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
		return a.Lhs[0]
	}
	return syntax.AssignedTo(in, call)
}

// givenBack reports whether the function around a call gives back what the call returns, or, if
// that is nothing, or an error, calls a function that gives back of the same receiver.
func (o *pool) givenBack(in *gocode.Place, take *ast.CallExpr) bool {
	v := syntax.LocalVar(in, first(in, take))
	if v != nil && syntax.IsError(v.Type()) {
		v = nil
	}
	found := false
	ast.Inspect(syntax.Body(in), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		fn := in.Callee(call)
		if fn == nil || !calls(o.gives, fn.Origin()) {
			return true
		}
		if v == nil {
			a, b := syntax.Receiver(take), syntax.Receiver(call)
			found = a != nil && b != nil && len(call.Args) == 0 && call.Pos() > take.Pos() && syntax.Same(in, a, b) && !syntax.Exclusive(in, take, call)
			return !found
		}
		found = slices.ContainsFunc(given(call), func(e ast.Expr) bool { return syntax.Named(in, e) == v })
		return !found
	})
	return found
}

// held returns the text of the type of the values that a line receives from a channel; "" if they
// are only tokens, or the line does not receive.
func held(p *gocode.Place) (name string) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		u, ok := n.(*ast.UnaryExpr)
		if !ok || u.Op != token.ARROW || name != "" {
			return name == ""
		}
		ch, ok := p.TypeOf(u.X).Underlying().(*types.Chan)
		if ok && syntax.HoldsPointers(ch.Elem()) && types.TypeString(ch.Elem(), nil) != "time.Time" {
			name = syntax.TypeText(p, ch.Elem())
		}
		return true
	})
	return name
}
