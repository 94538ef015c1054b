package listperelement

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// The inner loop may be in a function that the outer one calls with the list, or for the object
// that has the list; or in a function of package slices that calls a function literal for each
// element.

// nestBelow returns the nest whose inner loop is in a function that a line calls; nil for none.
func nestBelow(p *rule.Pass, f *site.Frame, place *gocode.Place) *nest {
	for _, call := range syntax.Calls(place) {
		around := loops.Around(place, call)
		if len(around) == 0 {
			continue
		}
		n := &nest{outer: around[0], call: call}
		var ok bool
		if n.all, ok = loops.ElementsOf(place, n.outer); !ok {
			continue
		}
		n.outside, ok = p.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, n.outer.Pos()))
		if ok && (n.literal(p, place) || n.function(p, place)) {
			return n
		}
	}
	return nil
}

// searches are functions that go through a list and call a function literal for each element.
var searches = []string{"slices.ContainsFunc", "slices.IndexFunc", "slices.MaxFunc", "slices.MinFunc"}

// literal reports whether the call has a function literal called for all elements of the list.
func (n *nest) literal(p *rule.Pass, place *gocode.Place) bool {
	if len(n.call.Args) != 2 || !funcname.Match(place.CalleeName(n.call), searches...) {
		return false
	}
	lit, ok := ast.Unparen(n.call.Args[1]).(*ast.FuncLit)
	same, _ := n.all.Again(place, loops.Elements{List: n.call.Args[0]})
	if !ok || !same || len(lit.Body.List) == 0 {
		return false
	}
	n.inner, n.again = lit, loops.Elements{List: n.call.Args[0]}
	if params := lit.Type.Params.List; len(params) == 1 && len(params[0].Names) == 1 {
		n.again.Value, _ = place.Object(params[0].Names[0]).(*types.Var)
	}
	calls, ok1 := evidence.ReachedAt(p, place, n.call.Pos())
	each, ok2 := evidence.ReachedAt(p, place, lit.Body.List[0].Pos())
	if !ok1 || !ok2 || calls <= 0 {
		return false
	}
	n.counted = counts.Loop{Entries: calls, Iterations: each / calls}
	return n.frequent() && repeats(place, n, loops.Body(n.outer), lit.Body)
}

// function reports whether the call is of a function that goes through the list.
func (n *nest) function(p *rule.Pass, place *gocode.Place) bool {
	in, ok := p.Syntax.Declared(place.Callee(n.call))
	if !ok || in.Decl == nil || in.Decl.Body == nil || syntax.SignatureOf(in) == nil || syntax.SignatureOf(in).Variadic() {
		return false
	}
	for _, stmt := range in.Decl.Body.List {
		again, ok := loops.ElementsOf(in, stmt)
		if !ok || !n.passes(place, in, again.List) {
			continue
		}
		at := in.Fset.Position(stmt.Pos())
		n.in, n.inner, n.again = in, stmt, again
		if n.counted, ok = p.Counts.Loop(in.Pkg.Path(), at.Filename, at.Line); !ok || !n.frequent() {
			continue
		}
		above := &nest{outer: n.outer, all: n.all, again: n.all}
		below := &nest{outer: in.Decl, inner: stmt, again: again, all: loops.Elements{List: again.List, Value: n.element(place, in)}}
		if repeats(place, above, loops.Body(n.outer), nil) && repeats(in, below, in.Decl.Body, loops.Body(stmt)) {
			return true
		}
	}
	return false
}

// passes reports whether a list in the called function is the outer loop's: a parameter for which
// the call passes it, or the same field of the receiver.
func (n *nest) passes(place, in *gocode.Place, list ast.Expr) bool {
	v, part := syntax.Var(in, list)
	sig := syntax.SignatureOf(in)
	if i := syntax.ParamIndex(sig, v); i >= 0 && !part && i < len(n.call.Args) {
		same, _ := n.all.Again(place, loops.Elements{List: n.call.Args[i]})
		return same
	}
	here, field := ast.Unparen(n.all.List).(*ast.SelectorExpr)
	there, again := ast.Unparen(list).(*ast.SelectorExpr)
	to := syntax.Receiver(n.call)
	return field && again && to != nil && sig.Recv() != nil && syntax.LocalVar(in, there.X) == sig.Recv() &&
		syntax.Same(place, here.X, to) && place.Object(here.Sel) == in.Object(there.Sel)
}

// element returns the parameter of the called function for which the call passes the element of
// the outer loop; nil if there is none.
func (n *nest) element(place, in *gocode.Place) *types.Var {
	i := slices.IndexFunc(n.call.Args, func(arg ast.Expr) bool { return n.all.Is(place, arg) })
	if params := syntax.SignatureOf(in).Params(); i >= 0 && i < params.Len() {
		return params.At(i)
	}
	return nil
}

// frequent reports whether the inner loop goes through most of a long list in most iterations of
// the outer one.
func (n *nest) frequent() bool {
	return n.counted.Iterations >= max(least, mostly*n.outside.Iterations) &&
		n.counted.Entries >= mostly*n.outside.Entries*n.outside.Iterations
}
