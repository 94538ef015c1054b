package flow

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Argument is what a call passes for a parameter.
type Argument struct {
	*gocode.Place
	Value ast.Expr
}

// Passed returns what the main module passes for the parameter that a variable is; nil for other
// variables, and for parameters that the function sets.
func Passed(s *gocode.Syntax, p *gocode.Place, v *types.Var) (all []Argument) {
	fn, index := parameter(p, v)
	if fn == nil {
		return passedToLiteral(p, v)
	}
	for _, place := range s.Calls(func(f *types.Func) bool { return f == fn }) {
		for _, call := range place.Calls() {
			if place.Callee(call) == fn && index < len(call.Args) {
				all = append(all, Argument{place, call.Args[index]})
			}
		}
	}
	return all
}

// passedToLiteral is [Passed] for a parameter of a function literal that a local variable has and
// that is only called.
func passedToLiteral(p *gocode.Place, v *types.Var) (all []Argument) {
	if v == nil || len(syntax.Assigned(p, v)) > 0 {
		return nil
	}
	lit, at := LiteralOf(p, v)
	if lit == nil {
		return nil
	}
	outer := p.Outer()
	name, ok := syntax.AssignedTo(outer, lit).(*ast.Ident)
	if !ok {
		return nil
	}
	signature, _ := p.TypeOf(lit).(*types.Signature)
	f, _ := p.Object(name).(*types.Var)
	if f == nil || len(syntax.Assigned(outer, f)) != 1 || signature.Variadic() && at == signature.Params().Len()-1 {
		return nil
	}
	for _, use := range syntax.Uses(outer, f) {
		if use == name {
			continue
		}
		call, ok := syntax.Parent(outer, use).(*ast.CallExpr)
		if !ok || call.Fun != ast.Expr(use) || at >= len(call.Args) {
			return nil
		}
		all = append(all, Argument{outer, call.Args[at]})
	}
	return all
}

// LiteralOf returns the function literal that has a variable as a parameter, and its index; nil for
// none.
func LiteralOf(p *gocode.Place, v *types.Var) (lit *ast.FuncLit, index int) {
	if p.Decl == nil {
		return nil, 0
	}
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok && syntax.Inside(f.Type.Params, v.Pos()) {
			lit = f
		}
		return lit == nil
	})
	if lit == nil {
		return nil, 0
	}
	signature, _ := p.TypeOf(lit).(*types.Signature)
	if index = syntax.ParamIndex(signature, v); index < 0 {
		return nil, 0
	}
	return lit, index
}

// Sources returns the expressions that create the value of an expression, with their places: what a
// variable is set to once, what the main module gives to a field or passes for a parameter. It is
// the expression itself if there is nothing to follow.
func Sources(s *gocode.Syntax, p *gocode.Place, e ast.Expr) []Argument {
	return sources(s, p, e, mostSteps)
}

func sources(s *gocode.Syntax, p *gocode.Place, e ast.Expr, steps int) (all []Argument) {
	e = syntax.Origin(p, e)
	v := syntax.Named(p, e)
	if v == nil || s == nil || steps == 0 {
		return []Argument{{p, e}}
	}
	given := Passed(s, p, v)
	if sel, ok := e.(*ast.SelectorExpr); ok && v.IsField() {
		owner := p.TypeOf(sel.X)
		if ptr, ok := owner.(*types.Pointer); ok {
			owner = ptr.Elem()
		}
		given = nil
		for _, value := range s.ValuesOf(types.TypeString(owner, nil), v.Name()) {
			given = append(given, Argument{value.Place, value.Value})
		}
	}
	if len(given) == 0 {
		return []Argument{{p, e}}
	}
	for _, g := range given {
		all = append(all, sources(s, g.Place, g.Value, steps-1)...)
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
	if i := index(fn.Signature(), v); i >= 0 {
		return fn, i
	}
	return nil, 0
}

// index returns the index of a parameter, and of its argument in calls; -1 for other variables and
// for a parameter of the form args ...T.
func index(sig *types.Signature, v *types.Var) int {
	i := syntax.ParamIndex(sig, v)
	if sig.Variadic() && i == sig.Params().Len()-1 {
		return -1
	}
	return i
}

// CallAbove returns the call on a caller's line of the function declared around a place; nil for
// none.
func CallAbove(p, caller *gocode.Place) *ast.CallExpr {
	if p.Decl == nil || p.Func != p.Decl {
		return nil
	}
	self, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok {
		return nil
	}
	for _, call := range syntax.Calls(caller) {
		if fn := caller.Callee(call); fn != nil && fn.FullName() == self.FullName() {
			return call
		}
	}
	return nil
}

// ArgumentFor returns what a call of the function declared around a place passes for a variable of
// it: an argument, or the receiver; nil if the variable is neither, or the function sets it.
func ArgumentFor(p *gocode.Place, call *ast.CallExpr, v *types.Var) ast.Expr {
	if v == nil || p.Decl == nil || len(syntax.Assigned(p, v)) > 0 {
		return nil
	}
	self, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok {
		return nil
	}
	if i := index(self.Signature(), v); i >= 0 && i < len(call.Args) {
		return call.Args[i]
	}
	if p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos()) {
		return syntax.Receiver(call)
	}
	return nil
}

// OnlyCall returns the only call in the main module of the function declared around a place, with
// its place; nil for none, or several.
func OnlyCall(s *gocode.Syntax, p *gocode.Place) (*gocode.Place, *ast.CallExpr) {
	if p.Decl == nil {
		return nil, nil
	}
	self := p.Object(p.Decl.Name)
	places := s.Calls(func(fn *types.Func) bool { return types.Object(fn) == self })
	if len(places) != 1 {
		return nil, nil
	}
	for _, call := range places[0].Calls() {
		if fn := places[0].Callee(call); fn != nil && types.Object(fn.Origin()) == self {
			return places[0], call
		}
	}
	return nil, nil
}

// RunningCall returns the only call in the main module of the function declared around a place that
// ran while executions were counted, or if they were not, the only one at all; with its place. A
// method may be called through an interface. It is nil for none, or several.
func RunningCall(pass *rule.Pass, p *gocode.Place) (above *gocode.Place, found *ast.CallExpr) {
	if p.Decl == nil || pass.Syntax == nil {
		return nil, nil
	}
	self, ok := p.Object(p.Decl.Name).(*types.Func)
	if !ok {
		return nil, nil
	}
	is := func(fn *types.Func) bool { return fn.Origin() == self || awaited.Implements(self, fn.Origin()) }
	for _, place := range pass.Syntax.Calls(is) {
		for _, call := range place.Calls() {
			if fn := place.Callee(call); fn == nil || !is(fn) {
				continue
			}
			if ran, ok := evidence.ExecutionsAt(pass, place, call.Pos()); ok && ran.PerUnit == 0 {
				continue
			}
			if found != nil && found != call {
				return nil, nil
			}
			above, found = place, call
		}
	}
	return above, found
}
