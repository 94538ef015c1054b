package chainrewalked

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// step leads from a variable that holds a link of a chain to the next link: next(v), v.Next(),
// v.next.
type step struct {
	from *types.Var
	by   string // the function, method or field
}

// stepOf returns the step that an expression takes, if its result is again a link.
func stepOf(p *gocode.Place, e ast.Expr) (step, bool) {
	if e == nil {
		return step{}, false
	}
	var from ast.Expr
	by := ""
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		if s := p.Info.Selections[x]; s != nil && s.Kind() == types.FieldVal {
			from, by = x.X, "field "+s.Obj().Name()
		}
	case *ast.CallExpr:
		fn := p.Callee(x)
		if fn == nil {
			break
		}
		by = gocode.FullName(fn)
		switch {
		case fn.Signature().Recv() == nil && len(x.Args) == 1:
			from = x.Args[0]
		case fn.Signature().Recv() != nil && len(x.Args) == 0:
			from = syntax.Receiver(x)
		}
	}
	v := variable(p, from)
	if v == nil || p.TypeOf(e) == nil || !types.Identical(v.Type(), p.TypeOf(e)) {
		return step{}, false
	}
	return step{v, by}, true
}

// variable returns the local variable or parameter that an expression names; nil for others.
func variable(p *gocode.Place, e ast.Expr) *types.Var {
	if e == nil {
		return nil
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := p.Object(id).(*types.Var)
	return v
}

// stepsIn returns the step by which a loop replaces its variable: c = next(c), as its post
// statement or in its body.
func stepsIn(p *gocode.Place, loop ast.Node) (found step, ok bool) {
	l, isFor := loop.(*ast.ForStmt)
	if !isFor {
		return step{}, false
	}
	ast.Inspect(l, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt:
			return n == l
		case *ast.RangeStmt:
			return false
		case *ast.AssignStmt:
			if n.Tok != token.ASSIGN || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
				break
			}
			if s, steps := stepOf(p, n.Rhs[0]); steps && s.from == variable(p, n.Lhs[0]) {
				found, ok = s, true
			}
		}
		return true
	})
	return found, ok
}

// receiver is the index of a method's receiver among its parameters.
const receiver = -1

// none is the index of no parameter.
const none = -2

// index returns as which parameter a call gets the variable of a chain.
func index(p *gocode.Place, call *ast.CallExpr, chain step) int {
	fn := p.Callee(call)
	if s, ok := stepOf(p, call); fn == nil || ok && s == chain {
		return none // the step itself
	}
	if fn.Signature().Recv() != nil && variable(p, syntax.Receiver(call)) == chain.from {
		return receiver
	}
	for i, arg := range call.Args {
		if variable(p, arg) == chain.from && i < fn.Signature().Params().Len() {
			return i
		}
	}
	return none
}

// parameter returns a parameter of the function of a place; nil for none.
func parameter(p *gocode.Place, i int) *types.Var {
	fn, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	switch {
	case !ok || i == none:
		return nil
	case i == receiver:
		return fn.Signature().Recv()
	case i < fn.Signature().Params().Len():
		return fn.Signature().Params().At(i)
	}
	return nil
}

// restOf returns the loop or the recursive call by which a function follows the chain from its
// parameter, by the same step; nil if it does not.
func restOf(p *gocode.Place, param *types.Var, chain step) (rest ast.Node) {
	if param == nil || p.Decl.Body == nil {
		return nil
	}
	self, _ := p.Info.Defs[p.Decl.Name].(*types.Func)
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt:
			if s, ok := stepsIn(p, n); ok && s.by == chain.by && startsAt(p, s.from, param, chain) && !loops.AtMost(p, n, n.Body, leastRest) {
				rest = n
			}
		case *ast.CallExpr:
			if p.Callee(n) == self && recurses(p, n, param, chain) {
				rest = n
			}
		}
		return rest == nil
	})
	return rest
}

// startsAt reports whether a variable is a parameter, or is first set to it or to the next link.
func startsAt(p *gocode.Place, v, param *types.Var, chain step) bool {
	if v == param {
		return true
	}
	for _, e := range syntax.Assigned(p, v) {
		if variable(p, e) == param {
			return true
		}
		if s, ok := stepOf(p, e); ok && s.from == param && s.by == chain.by {
			return true
		}
	}
	return false
}

// recurses reports whether a call passes the next link after a parameter.
func recurses(p *gocode.Place, call *ast.CallExpr, param *types.Var, chain step) bool {
	next := func(e ast.Expr) bool {
		s, ok := stepOf(p, e)
		return ok && s.from == param && s.by == chain.by
	}
	if next(syntax.Receiver(call)) {
		return true
	}
	for _, arg := range call.Args {
		if next(arg) {
			return true
		}
	}
	return false
}
