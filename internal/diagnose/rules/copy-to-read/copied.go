package copytoread

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// copied returns the copy that a line makes; nil if it makes none, or does something else too.
func copied(p *gocode.Place) *copy {
	if p.Decl == nil || p.Decl.Body == nil {
		return nil
	}
	for _, call := range p.Calls() {
		if source := cloned(p, call); source != nil {
			return finish(p, &copy{source: source}, call)
		}
	}
	return filled(p)
}

// cloned returns the source of a call that copies a whole slice or map; nil for other calls.
func cloned(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	switch p.CalleeName(call) {
	case "slices.Clone", "maps.Clone", "bytes.Clone":
		return call.Args[0]
	case "append":
		if len(call.Args) == 2 && call.Ellipsis.IsValid() && empty(p, call.Args[0]) && isSlice(p.TypeOf(call.Args[1])) {
			return call.Args[1]
		}
	}
	return nil
}

// empty reports whether a slice has no elements and no room: nil of a type, []T{}, x[:0:0].
func empty(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		_, conversion := p.Conversion(e)
		if id, ok := ast.Unparen(e.Args[0]).(*ast.Ident); conversion && ok {
			return id.Name == "nil"
		}
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.SliceExpr:
		return e.Slice3
	}
	return false
}

func isSlice(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Slice)
	return ok
}

// filled finds a slice or map that the line creates or grows, and that is filled with all elements
// of another: by copy, by append, or in a loop over that.
func filled(p *gocode.Place) *copy {
	var found *copy
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if found != nil {
			return false
		}
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || p.CalleeName(call) != "make" {
			return true
		}
		id := a.Lhs[0].(*ast.Ident)
		v, ok := p.Object(id).(*types.Var)
		if !ok {
			return true
		}
		source, by := filler(p, v)
		if source == nil || !on(p, call) && !on(p, by) {
			return true
		}
		found = finish(p, &copy{source: source, variable: id, filling: by}, nil)
		return true
	})
	return found
}

func on(p *gocode.Place, n ast.Node) bool {
	return syntax.Line(p, n.Pos()) <= p.Line && p.Line <= syntax.Line(p, n.End())
}

// filler returns the only statement that fills a variable, and the source.
func filler(p *gocode.Place, v *types.Var) (source ast.Expr, by ast.Node) {
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ok && p.Object(id) == v
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if p.CalleeName(n) == "copy" && len(n.Args) == 2 && is(n.Args[0]) || p.CalleeName(n) == "append" && n.Ellipsis.IsValid() && is(n.Args[0]) {
				source, by = n.Args[1], n
			}
		case *ast.RangeStmt:
			if t := p.TypeOf(n.X); t == nil || !isSlice(t) && !isMap(t) || !fills(p, n, is) {
				return true
			}
			source, by = n.X, n
			return false
		}
		return true
	})
	if source != nil && isMap(v.Type()) != isMap(p.TypeOf(source)) {
		return nil, nil // an index of a list, or a list of keys
	}
	return source, by
}

func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// fills reports whether each iteration of a loop, without a condition, sets one element of a
// variable by the loop's own key or, for a slice, appends the loop's value.
func fills(p *gocode.Place, loop *ast.RangeStmt, is func(ast.Expr) bool) bool {
	same := func(a, b ast.Expr) bool {
		x, ok := a.(*ast.Ident)
		y, yes := ast.Unparen(b).(*ast.Ident)
		return ok && yes && p.Object(x) != nil && p.Object(x) == p.Object(y)
	}
	for _, stmt := range loop.Body.List {
		a, ok := stmt.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || a.Tok != token.ASSIGN {
			continue
		}
		if x, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr); ok && is(x.X) && loop.Key != nil && same(loop.Key, x.Index) {
			return isMap(p.TypeOf(loop.X)) || loop.Value != nil && same(loop.Value, a.Rhs[0])
		}
		if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok && is(a.Lhs[0]) && p.CalleeName(call) == "append" && len(call.Args) == 2 {
			return loop.Value != nil && same(loop.Value, call.Args[1])
		}
	}
	return false
}

// finish completes a copy with the origin of its source and its uses; nil when the rule is not
// about it.
func finish(p *gocode.Place, c *copy, call *ast.CallExpr) *copy {
	v, _ := syntax.Var(p, c.source)
	if v == nil {
		return nil
	}
	c.isMap = isMap(p.TypeOf(c.source))
	root := v
	if root.IsField() {
		c.state = true
	}
	switch {
	case c.state, root.Parent() == p.Pkg.Scope():
		c.state = true
	case syntax.Param(p, root):
		_, selector := ast.Unparen(c.source).(*ast.SelectorExpr)
		c.state = selector || receives(p, root)
	default:
		return nil // its own
	}
	if call != nil {
		switch to := syntax.AssignedTo(p, call).(type) {
		case *ast.Ident:
			c.variable, c.filling = to, call
		case nil:
			_, returns := syntax.Parent(p.Outer(), call).(*ast.ReturnStmt)
			c.returned = returns
			if !returns {
				return nil
			}
			return c
		default:
			return nil
		}
	}
	w, ok := p.Object(c.variable).(*types.Var)
	if !ok || !syntax.Local(p, w) {
		return nil
	}
	c.returned = onlyReturned(p, w, c.filling)
	return c
}

// receives reports whether a variable is a function's receiver.
func receives(p *gocode.Place, v *types.Var) bool {
	if p.Decl.Recv == nil {
		return false
	}
	for _, f := range p.Decl.Recv.List {
		for _, id := range f.Names {
			if p.Object(id) == v {
				return true
			}
		}
	}
	return false
}

// onlyReturned reports whether a variable is only filled and returned.
func onlyReturned(p *gocode.Place, v *types.Var, filling ast.Node) bool {
	returned := false
	for _, use := range syntax.Uses(p, v) {
		if syntax.Defines(p, use) || filling != nil && syntax.Within(filling, use) {
			continue
		}
		switch n := syntax.Parent(p.Outer(), use).(type) {
		case *ast.ReturnStmt:
			returned = true
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || n.Lhs[0] != ast.Expr(use) || filling == nil || !syntax.Within(n, filling) {
				return false
			}
		default:
			return false
		}
	}
	return returned
}
