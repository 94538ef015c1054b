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

// Constants returns the constants that an expression can have: its own value, that of a variable
// which is set once, those of the list that a loop ranges over, those that the main module gives to
// a field, or those that callers in the main module pass for a parameter. It is nil when one of
// them is not known to be a constant.
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
	if created := syntax.Origin(p, e); created != ast.Unparen(e) && steps > 0 {
		return constants(s, p, created, steps-1)
	}
	v := syntax.Named(p, e)
	if v == nil || s == nil || steps == 0 {
		return nil
	}
	if list := Ranged(p, v); list != nil {
		return elements(p, list)
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
	for _, given := range Passed(s, p, v) {
		values := constants(s, given.Place, given.Value, steps-1)
		if values == nil {
			return nil
		}
		all = append(all, values...)
	}
	return all
}

// Ranged returns the list that a loop ranges over with a variable for its elements; nil for other
// variables, and for those that the loop sets.
func Ranged(p *gocode.Place, v *types.Var) ast.Expr {
	stmt, _ := syntax.Declared(p, v)
	loop, ok := stmt.(*ast.RangeStmt)
	if !ok || syntax.LocalVar(p, loop.Value) != v || syntax.Changes(p, loop.Body, v) {
		return nil
	}
	return loop.X
}

// elements returns the elements of a list, or the values of a map, that is a literal of constants.
func elements(p *gocode.Place, list ast.Expr) (all []constant.Value) {
	lit, ok := syntax.Origin(p, list).(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		v, ok := p.Const(e)
		if !ok {
			return nil
		}
		all = append(all, v)
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
