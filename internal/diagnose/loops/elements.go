package loops

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Elements is what a loop over all elements of a list in memory goes through.
type Elements struct {
	List ast.Expr
	// Index and Value are the loop's variables: the index of an element, or the key in a map, and
	// the element. They are nil if the loop has none.
	Index, Value *types.Var
}

// ElementsOf returns what a loop goes through if it is one over all elements of a slice, an array
// or a map: for i, x := range xs; for i := range xs; for i := range len(xs); for i := 0; i <
// len(xs); i++; for x := range slices.Values(xs).
func ElementsOf(p *gocode.Place, loop ast.Node) (Elements, bool) {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		e := Elements{List: l.X}
		if l.Key != nil {
			e.Index = syntax.LocalVar(p, l.Key)
		}
		if l.Value != nil {
			e.Value = syntax.LocalVar(p, l.Value)
		}
		if of := measured(p, l.X); of != nil {
			e.List = of
		} else if of := Yielded(p, l.X); of != nil {
			e.List = of
			if funcname.Match(p.CalleeName(ast.Unparen(l.X).(*ast.CallExpr)), "slices.Values", "maps.Values") {
				e.Index, e.Value = nil, e.Index
			}
		}
		return e, listed(p.TypeOf(e.List))
	case *ast.ForStmt:
		init, ok := l.Init.(*ast.AssignStmt)
		cond, compares := l.Cond.(*ast.BinaryExpr)
		if !ok || !compares || cond.Op != token.LSS || len(init.Lhs) != 1 || len(init.Rhs) != 1 {
			return Elements{}, false
		}
		i := syntax.LocalVar(p, init.Lhs[0])
		from, constant := syntax.ConstInt(p, init.Rhs[0])
		of := measured(p, syntax.Origin(p, cond.Y))
		if i == nil || !constant || from != 0 || of == nil || syntax.LocalVar(p, cond.X) != i {
			return Elements{}, false
		}
		return Elements{List: of, Index: i}, listed(p.TypeOf(of))
	}
	return Elements{}, false
}

// Yielded returns the list or map that an iterator of package slices or maps goes over, such as xs
// of slices.Values(xs); nil for other expressions.
func Yielded(p *gocode.Place, e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if ok && funcname.Match(p.CalleeName(call), "slices.Values", "slices.All", "slices.Backward", "maps.Values", "maps.Keys", "maps.All") {
		return call.Args[0]
	}
	return nil
}

// measured returns xs of len(xs); nil for other expressions.
func measured(p *gocode.Place, e ast.Expr) ast.Expr {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 1 && p.CalleeName(call) == "len" {
		return call.Args[0]
	}
	return nil
}

func listed(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map:
		return true
	}
	return false
}

// Is reports whether an expression is the loop's element: its variable, or xs[i].
func (e Elements) Is(p *gocode.Place, x ast.Expr) bool {
	if v := syntax.LocalVar(p, x); v != nil && v == e.Value {
		return true
	}
	at, ok := ast.Unparen(x).(*ast.IndexExpr)
	return ok && e.Index != nil && syntax.LocalVar(p, at.Index) == e.Index && equal(p, at.X, e.List)
}

// Of reports whether an expression is the loop's element, or a field of it in any depth.
func (e Elements) Of(p *gocode.Place, x ast.Expr) bool {
	for !e.Is(p, x) {
		sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
		if !ok {
			return false
		}
		x = sel.X
	}
	return true
}

// Again reports whether a loop inside of one over e goes through the same list: one that is named
// or found in the same way, or the list that the element itself is in, found through its parent,
// such as x.Parent.Children for the x of n.Children. up is true for the latter.
func (e Elements) Again(p *gocode.Place, inner Elements) (same, up bool) {
	a, b := syntax.Origin(p, e.List), syntax.Origin(p, inner.List)
	if equal(p, e.List, inner.List) {
		return true, false
	}
	from, of := accessed(p, a)
	back, again := accessed(p, b)
	if from == nil || back == nil || of.Name() != again.Name() || !types.Identical(p.TypeOf(a), p.TypeOf(b)) {
		return false, false
	}
	child, parent := accessed(p, syntax.Origin(p, back))
	return child != nil && strings.Contains(strings.ToLower(parent.Name()), "parent") && e.Is(p, child), true
}

// accessed returns x and what is selected of x.f and x.f(); nil for other expressions.
func accessed(p *gocode.Place, e ast.Expr) (x ast.Expr, of types.Object) {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 0 {
		e = ast.Unparen(call.Fun)
	}
	if sel, ok := e.(*ast.SelectorExpr); ok && p.Info.Selections[sel] != nil {
		return sel.X, p.Object(sel.Sel)
	}
	return nil, nil
}

// equal reports whether two expressions combine the same variables, fields and calls without
// arguments in the same way.
func equal(p *gocode.Place, a, b ast.Expr) bool {
	if v := syntax.LocalVar(p, a); v != nil && v == syntax.LocalVar(p, b) {
		return true // whatever it was set to
	}
	a, b = syntax.Origin(p, a), syntax.Origin(p, b)
	switch x := a.(type) {
	case *ast.Ident:
		y, ok := b.(*ast.Ident)
		v, isVar := p.Object(x).(*types.Var)
		return ok && isVar && p.Object(y) == types.Object(v)
	case *ast.SelectorExpr:
		y, ok := b.(*ast.SelectorExpr)
		return ok && p.Object(x.Sel) == p.Object(y.Sel) && (p.Info.Selections[x] == nil || equal(p, x.X, y.X))
	case *ast.CallExpr:
		y, ok := b.(*ast.CallExpr)
		return ok && len(x.Args)+len(y.Args) == 0 && equal(p, x.Fun, y.Fun)
	case *ast.StarExpr:
		y, ok := b.(*ast.StarExpr)
		return ok && equal(p, x.X, y.X)
	}
	return false
}
