package ctorpercall

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// staysHere reports whether the result of a call is used only inside the function around it: by its
// methods and fields, or as an argument of calls. Functions of other packages are assumed not to
// keep it.
func staysHere(p *gocode.Place, call *ast.CallExpr) bool {
	if to := syntax.AssignedTo(p, call); to != nil {
		v := syntax.LocalVar(p, to)
		if v == nil || syntax.IsResult(p, v) {
			return false
		}
		reads := syntax.Reads(p, v)
		for _, id := range reads {
			if !usedUp(p, id, v.Type()) {
				return false
			}
		}
		return len(reads) > 0
	}
	return usedUp(p, call, p.TypeOf(call))
}

// usedUp reports whether one use of the value does not let it escape from the function.
func usedUp(p *gocode.Place, e ast.Expr, t types.Type) bool {
	around := p.Enclosing(e)
	for _, n := range around {
		if lit, ok := n.(*ast.FuncLit); ok && lit != p.Func {
			return false // a closure may outlive the function
		}
	}
	for _, n := range around {
		switch n := n.(type) {
		case *ast.ParenExpr:
			continue
		case *ast.SelectorExpr:
			return member(p, n, t)
		case *ast.IndexExpr:
			return n.X == e && plain(p.TypeOf(n)) || syntax.Defines(p, n)
		case *ast.RangeStmt:
			return n.X == e
		case *ast.BinaryExpr:
			return n.Op == token.EQL || n.Op == token.NEQ
		case *ast.CallExpr:
			return argument(p, n, e)
		}
		return false
	}
	return false
}

// member judges v.f and v.M(): a method that does not pass the value on, or a field of a plain
// type.
func member(p *gocode.Place, sel *ast.SelectorExpr, t types.Type) bool {
	if fn, ok := p.Object(sel.Sel).(*types.Func); ok {
		call, ok := syntax.Parent(p, sel).(*ast.CallExpr)
		if !ok || call.Fun != sel || runsApart(p, call) {
			return false
		}
		results := fn.Signature().Results()
		for i := range results.Len() {
			if types.Identical(results.At(i).Type(), t) {
				return false // v.With(…) passes v on
			}
		}
		return true
	}
	return plain(p.TypeOf(sel)) || syntax.Defines(p, sel)
}

// argument judges f(v). It reports false for append, conversions, and calls in a goroutine or at
// the function's end.
func argument(p *gocode.Place, call *ast.CallExpr, e ast.Expr) bool {
	if call.Fun == e || runsApart(p, call) {
		return false
	}
	if _, conversion := p.Conversion(call); conversion {
		return false
	}
	if p.CalleeName(call) == "append" || kept(p, call, e, mostCalls) {
		return false
	}
	// The result of the call may hold the value: then it must not escape either.
	switch n := syntax.Parent(p, call).(type) {
	case *ast.ReturnStmt, *ast.CompositeLit, *ast.KeyValueExpr, *ast.SendStmt:
		return returnsPlain(p, call)
	case *ast.AssignStmt:
		return returnsPlain(p, call) || n.Tok == token.DEFINE && len(n.Lhs) > 0 && syntax.LocalVar(p, n.Lhs[0]) != nil
	}
	return true
}

// mostCalls is how far an argument is followed through functions of the package.
const mostCalls = 3

// kept reports whether a function of the package stores its argument e where it outlives the call.
func kept(p *gocode.Place, call *ast.CallExpr, e ast.Expr, calls int) bool {
	fn := p.Callee(call)
	if fn == nil || calls == 0 {
		return false
	}
	decl := p.Declaration(fn)
	at := slices.Index(call.Args, e)
	params := fn.Signature().Params()
	if decl == nil || decl.Body == nil || at < 0 || at >= params.Len() {
		return false
	}
	inner := p.Entry(decl)
	for _, id := range syntax.Reads(inner, params.At(at)) {
		if outlives(inner, id, calls) {
			return true
		}
	}
	return false
}

// outlives reports whether one use of a parameter stores it: in a variable that is not local, in
// another value, in a channel, or in a function literal.
func outlives(p *gocode.Place, id ast.Expr, calls int) bool {
	for _, n := range p.Enclosing(id) {
		switch n := n.(type) {
		case *ast.ParenExpr:
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Lhs, func(to ast.Expr) bool { return syntax.LocalVar(p, to) == nil })
		case *ast.CompositeLit, *ast.KeyValueExpr, *ast.SendStmt, *ast.FuncLit, *ast.GoStmt:
			return true
		case *ast.CallExpr:
			return p.CalleeName(n) == "append" && n.Args[0] != id || runsApart(p, n) || kept(p, n, id, calls-1)
		default:
			return false
		}
	}
	return false
}

// runsApart reports whether a call runs in a goroutine of its own, or at the function's end.
func runsApart(p *gocode.Place, call *ast.CallExpr) bool {
	_, ok := syntax.Parent(p, call).(*ast.GoStmt)
	return ok
}

// returnsPlain reports whether no result of a call can hold a reference.
func returnsPlain(p *gocode.Place, call *ast.CallExpr) bool {
	switch t := p.TypeOf(call).(type) {
	case *types.Tuple:
		for v := range t.Variables() {
			if !plain(v.Type()) {
				return false
			}
		}
		return true
	default:
		return plain(t)
	}
}

// plain reports whether values of a type refer to nothing else: numbers, strings, booleans, errors.
func plain(t types.Type) bool {
	if t == nil {
		return false
	}
	if types.Identical(t, types.Universe.Lookup("error").Type()) {
		return true
	}
	_, ok := t.Underlying().(*types.Basic)
	return ok
}
