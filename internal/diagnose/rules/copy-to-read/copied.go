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
	case "slices.Collect", "maps.Collect": // slices.Collect(slices.Values(list))
		if all, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr); ok && len(all.Args) == 1 {
			if name := p.CalleeName(all); name == "slices.Values" || name == "maps.All" {
				return all.Args[0]
			}
		}
	case "append":
		if len(call.Args) == 2 && call.Ellipsis.IsValid() && empty(p, call.Args[0]) && isSlice(p.TypeOf(call.Args[1])) {
			return call.Args[1]
		}
	}
	return nil
}

// empty reports whether a slice is new and has no elements: nil of a type, []T{}, x[:0:0],
// make([]T, 0, n), or a variable that is declared without a value and set once.
func empty(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		v := syntax.LocalVar(p, e)
		return v != nil && !syntax.Param(p, v) && len(syntax.Assigned(p, v)) == 1 && (unset(p, v) || syntax.IsResult(p, v))
	case *ast.CallExpr:
		if p.CalleeName(e) == "make" {
			n, ok := syntax.ConstInt(p, e.Args[min(1, len(e.Args)-1)])
			return ok && n == 0
		}
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

// unset reports whether a variable is declared without a value.
func unset(p *gocode.Place, v *types.Var) bool {
	stmt, value := syntax.Declared(p, v)
	_, spec := stmt.(*ast.ValueSpec)
	return spec && value == nil
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
		id, created := fresh(p, n)
		if id == nil {
			return true
		}
		v, ok := p.Object(id).(*types.Var)
		if !ok {
			return true
		}
		source, by := filler(p, v)
		if source == nil || !on(p, created) && !on(p, by) {
			return true
		}
		found = finish(p, &copy{source: source, variable: id, filling: by}, nil)
		return true
	})
	return found
}

// fresh returns the variable that a statement declares as an empty slice or map, and the node that
// creates it: x := make(…), x := []T{}, var x []T, var x = make(…).
func fresh(p *gocode.Place, n ast.Node) (*ast.Ident, ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
			return nil, nil
		}
		if id, ok := n.Lhs[0].(*ast.Ident); ok {
			if value := emptied(p, n.Rhs); value != nil {
				return id, value
			}
		}
	case *ast.ValueSpec:
		if len(n.Names) != 1 {
			return nil, nil
		}
		if len(n.Values) == 0 && isSlice(p.TypeOf(n.Names[0])) {
			return n.Names[0], n
		}
		if value := emptied(p, n.Values); value != nil {
			return n.Names[0], value
		}
	}
	return nil, nil
}

// emptied returns the value of a declaration that is a new slice or map without elements; nil for
// others.
func emptied(p *gocode.Place, values []ast.Expr) ast.Expr {
	if len(values) != 1 {
		return nil
	}
	switch value := ast.Unparen(values[0]).(type) {
	case *ast.CallExpr:
		if p.CalleeName(value) == "make" {
			return value
		}
	case *ast.CompositeLit:
		if t := p.TypeOf(value); len(value.Elts) == 0 && (isSlice(t) || syntax.IsMap(t)) {
			return value
		}
	}
	return nil
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
			if p.CalleeName(n) == "maps.Copy" && is(n.Args[0]) {
				source, by = n.Args[1], n
			}
		case *ast.RangeStmt:
			if t := p.TypeOf(n.X); t == nil || !isSlice(t) && !syntax.IsMap(t) || !fills(p, n, is) {
				return true
			}
			source, by = n.X, n
			return false
		}
		return true
	})
	if source != nil && syntax.IsMap(v.Type()) && !syntax.IsMap(p.TypeOf(source)) {
		return nil, nil // an index of a list
	}
	return source, by
}

// fills reports whether each iteration of a loop, without a condition, sets one element of a
// variable by the loop's own key or, for a slice, appends the loop's value, or the key of a map.
func fills(p *gocode.Place, loop *ast.RangeStmt, is func(ast.Expr) bool) bool {
	for _, stmt := range loop.Body.List {
		a, ok := stmt.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || a.Tok != token.ASSIGN {
			continue
		}
		if x, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr); ok && is(x.X) && same(p, loop.Key, x.Index) {
			return syntax.IsMap(p.TypeOf(loop.X)) || element(p, loop, a.Rhs[0])
		}
		if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok && is(a.Lhs[0]) && p.CalleeName(call) == "append" && len(call.Args) == 2 {
			return element(p, loop, call.Args[1]) || syntax.IsMap(p.TypeOf(loop.X)) && same(p, loop.Key, call.Args[1])
		}
	}
	return false
}

// element reports whether an expression is the element that a loop is at: as it is, converted to
// another type, or the object that it points at.
func element(p *gocode.Place, loop *ast.RangeStmt, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return same(p, loop.Value, e)
	case *ast.StarExpr: // the objects that the list points at are copied, too
		return element(p, loop, e.X)
	case *ast.IndexExpr:
		return syntax.Same(p, e.X, loop.X) && same(p, loop.Key, e.Index)
	case *ast.CallExpr:
		if _, conversion := p.Conversion(e); conversion {
			return element(p, loop, e.Args[0])
		}
	}
	return false
}

// same reports whether two expressions are the same variable.
func same(p *gocode.Place, a, b ast.Expr) bool {
	x, ok := a.(*ast.Ident)
	y, yes := ast.Unparen(b).(*ast.Ident)
	return ok && yes && p.Object(x) != nil && p.Object(x) == p.Object(y)
}

// finish completes a copy with the origin of its source and its uses; nil when the rule is not
// about it.
func finish(p *gocode.Place, c *copy, call *ast.CallExpr) *copy {
	v, _ := syntax.Var(p, c.source)
	if v == nil {
		return nil
	}
	c.isMap = syntax.IsMap(p.TypeOf(c.source))
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
			switch up := syntax.Parent(p.Outer(), call).(type) {
			case *ast.ReturnStmt:
				c.returned = true
				return c
			case *ast.SendStmt:
				c.sent = up
				return c
			}
			return nil
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
