package flow

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// mostSteps is how many fields and parameters a constant is followed through.
const mostSteps = 4

// Constants returns the constants that an expression can have: its own value, those that the main
// module gives to a field, or those that callers in the main module pass for a parameter. It is nil
// when one of them is not known to be a constant.
func Constants(s *gocode.Syntax, p *gocode.Place, e ast.Expr) []constant.Value {
	return constants(s, p, e, mostSteps)
}

func constants(s *gocode.Syntax, p *gocode.Place, e ast.Expr, steps int) []constant.Value {
	if v, ok := p.Const(e); ok {
		return []constant.Value{v}
	}
	if sum, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && steps > 0 {
		return sums(constants(s, p, sum.X, steps-1), sum.Op, constants(s, p, sum.Y, steps-1))
	}
	v := syntax.Named(p, e)
	if v == nil || s == nil || steps == 0 {
		return nil
	}
	var all []constant.Value
	if v.IsField() {
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		owner := p.TypeOf(sel.X)
		if ptr, ok := owner.(*types.Pointer); ok {
			owner = ptr.Elem()
		}
		for _, given := range s.ValuesOf(types.TypeString(owner, nil), v.Name()) {
			values := constants(s, given.Place, given.Value, steps-1)
			if values == nil {
				return nil
			}
			all = append(all, values...)
		}
		return all
	}
	fn, index := parameter(p, v)
	if fn == nil {
		return nil
	}
	called := func(f *types.Func) bool { return f == fn }
	for _, place := range s.Calls(called) {
		for _, call := range place.Calls() {
			if place.Callee(call) != fn || index >= len(call.Args) {
				continue
			}
			values := constants(s, place, call.Args[index], steps-1)
			if values == nil {
				return nil
			}
			all = append(all, values...)
		}
	}
	return all
}

// mostSums is the largest number of values that the operands of a sum may have together.
const mostSums = 64

// sums returns the values of a + b for all values of both.
func sums(as []constant.Value, op token.Token, bs []constant.Value) (all []constant.Value) {
	if op != token.ADD || len(as)*len(bs) > mostSums {
		return nil
	}
	for _, a := range as {
		for _, b := range bs {
			if a.Kind() != b.Kind() {
				return nil
			}
			all = append(all, constant.BinaryOp(a, op, b))
		}
	}
	return all
}

// parameter returns the function declaration around a place, and the index of the parameter that a
// variable is; nil for other variables, and for parameters that the function sets.
func parameter(p *gocode.Place, v *types.Var) (*types.Func, int) {
	if p.Decl == nil || len(syntax.Assigned(p, v)) > 0 {
		return nil, 0
	}
	fn, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok {
		return nil, 0
	}
	params := fn.Signature().Params()
	for i := range params.Len() {
		if params.At(i) == v && !fn.Signature().Variadic() {
			return fn, i
		}
	}
	return nil, 0
}
