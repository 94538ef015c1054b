package sortunchanged

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// source returns the origin of a sorted list: itself or, for a local variable, the list that it is
// a copy of or the map whose keys it holds. nil when that is not known.
func source(p *gocode.Place, list ast.Expr) ast.Expr {
	v := syntax.LocalVar(p, list)
	if v == nil {
		return list
	}
	if syntax.Param(p, v) {
		return nil
	}
	var from ast.Expr
	for _, value := range syntax.Assigned(p, v) {
		call, ok := ast.Unparen(value).(*ast.CallExpr)
		if !ok {
			if lit, ok := ast.Unparen(value).(*ast.CompositeLit); ok && len(lit.Elts) == 0 {
				continue
			}
			return nil
		}
		switch p.CalleeName(call) {
		case "make":
			continue
		case "slices.Clone":
			from = call.Args[0]
		case "append":
			switch {
			case call.Ellipsis.IsValid() && len(call.Args) == 2:
				from = call.Args[1]
			case len(call.Args) == 2:
				from = ranged(p, call.Args[1]) // names = append(names, name)
			}
		}
		if from == nil {
			return nil
		}
	}
	return from
}

// ranged returns the list or map of the range statement whose variable, or a field of it, an
// expression is.
func ranged(p *gocode.Place, e ast.Expr) ast.Expr {
	v, _ := syntax.Var(p, e)
	if v == nil {
		return nil
	}
	for _, n := range p.Enclosing(e) {
		loop, ok := n.(*ast.RangeStmt)
		if !ok {
			continue
		}
		if syntax.LocalVar(p, loop.Key) == v || loop.Value != nil && syntax.LocalVar(p, loop.Value) == v {
			if plain(loop.Body) {
				return loop.X
			}
		}
		return nil
	}
	return nil
}

// plain reports whether a loop's body takes every element, without conditions.
func plain(body *ast.BlockStmt) bool {
	fine := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.IfStmt, *ast.SwitchStmt, *ast.BranchStmt, *ast.ReturnStmt:
			fine = false
		}
		return fine
	})
	return fine
}

// keptVar returns the variable of an expression that is a receiver's field or a package variable,
// or nil.
func keptVar(p *gocode.Place, e ast.Expr) *types.Var {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := p.Object(e).(*types.Var); ok && v.Pkg() == p.Pkg && v.Parent() == p.Pkg.Scope() {
			return v
		}
	case *ast.SelectorExpr:
		v, ok := p.Object(e.Sel).(*types.Var)
		if !ok || !v.IsField() || v.Pkg() != p.Pkg {
			return nil
		}
		root, _ := syntax.Var(p, e)
		if root == nil || p.Decl.Recv == nil || !(p.Decl.Recv.Pos() <= root.Pos() && root.Pos() < p.Decl.Recv.End()) {
			return nil
		}
		return v
	}
	return nil
}

// orderOf returns the fields that the order of a sort depends on; false when it also depends on
// arguments of the call, or is not known.
func orderOf(p *gocode.Place, call *ast.CallExpr, list ast.Expr) (keys []*types.Var, ok bool) {
	if len(call.Args) < 2 {
		t, ok := p.TypeOf(list).Underlying().(*types.Slice)
		if !ok {
			return nil, false
		}
		_, basic := t.Elem().Underlying().(*types.Basic)
		return nil, basic
	}
	less := call.Args[len(call.Args)-1]
	lit, ok := ast.Unparen(less).(*ast.FuncLit)
	if !ok {
		// A function of a package, such as cmp.Compare or strings.Compare, has no state.
		switch f := ast.Unparen(less).(type) {
		case *ast.Ident:
			_, ok = p.Object(f).(*types.Func)
		case *ast.SelectorExpr:
			var fn *types.Func
			fn, ok = p.Object(f.Sel).(*types.Func)
			ok = ok && fn.Signature().Recv() == nil
		}
		return nil, ok && basicElements(p, list)
	}
	sorted, _ := syntax.Var(p, list)
	fine := true
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return fine
		}
		v, ok := p.Object(id).(*types.Var)
		switch {
		case !ok:
		case v.IsField():
			keys = append(keys, v)
		case v == sorted || syntax.Inside(lit, v.Pos()):
		default:
			fine = false
		}
		return fine
	})
	return keys, fine
}

func basicElements(p *gocode.Place, list ast.Expr) bool {
	t, ok := p.TypeOf(list).Underlying().(*types.Slice)
	if !ok {
		return false
	}
	_, basic := t.Elem().Underlying().(*types.Basic)
	return basic
}

// changes counts how often a kept list is sorted and changed.
type changes struct {
	pass  *rule.Pass
	frame *site.Frame
	place *gocode.Place
	v     *types.Var
	keys  []*types.Var // fields that the order depends on
	call  *ast.CallExpr
}

// sorts returns how often the list is sorted for each unit of work: how often its function is
// called. The sort's own line may hold the comparison, which runs more often. It reports false if
// the sort does not run once in each call.
func (c *changes) sorts() (float64, bool) {
	p := c.place
	var whole ast.Stmt
	for _, stmt := range p.Decl.Body.List {
		if syntax.Within(stmt, c.call) {
			whole = stmt
		}
	}
	if _, straight := whole.(*ast.ExprStmt); !straight {
		return 0, false
	}
	for _, stmt := range p.Decl.Body.List {
		if stmt == whole || holdsFunc(stmt) {
			continue
		}
		if n, ok := c.ran(stmt); ok {
			return n, true
		}
	}
	return 0, false
}

func holdsFunc(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			found = true
		}
		return !found
	})
	return found
}

// ran returns how often a node ran for each unit of work: 0 in a file that was never reached.
func (c *changes) ran(n ast.Node) (float64, bool) {
	at := c.place.Fset.Position(n.Pos())
	e, ok := c.pass.Counts.Line(c.frame.Owner.Package, at.Filename, at.Line)
	return e.PerUnit, ok || !c.pass.Counts.Ran(c.frame.Owner.Package, at.Filename)
}

// count returns how often lines of the package change the list, or a field that its order depends
// on, for each unit of work. It reports false where that is not known.
func (c *changes) count() (sum float64, known bool) {
	known = true
	add := func(n ast.Node) {
		times, ok := c.ran(n)
		sum, known = sum+times, known && ok
	}
	for _, file := range c.place.Files() {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue // initialisers run once
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if n != nil && c.changes(n) {
					add(n)
				}
				return true
			})
		}
	}
	return sum, known
}

// changes reports whether a node may change the list: it assigns to it or a part of it, takes its
// address, passes it to a function that may change it, or creates a value that it is a field of.
func (c *changes) changes(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, c.is)
	case *ast.IncDecStmt:
		return c.is(n.X)
	case *ast.UnaryExpr:
		return n.Op == token.AND && c.is(n.X)
	case *ast.CompositeLit:
		return c.owner(c.place.TypeOf(n))
	case *ast.CallExpr:
		if n == c.call {
			return false
		}
		switch c.place.CalleeName(n) {
		case "len", "cap", "append", "copy", "slices.Clone", "slices.Contains", "slices.Index", "new":
			return c.place.CalleeName(n) == "copy" && c.is(n.Args[0])
		}
		return slices.ContainsFunc(n.Args, func(e ast.Expr) bool { return c.whole(e) })
	}
	return false
}

// is reports whether an expression is the list, a part of it, or a field that the order depends on.
func (c *changes) is(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return c.place.Object(x) == c.v
		case *ast.SelectorExpr:
			obj, _ := c.place.Object(x.Sel).(*types.Var)
			if obj == c.v || obj != nil && slices.Contains(c.keys, obj) {
				return true
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return false
		}
	}
}

// whole reports whether an expression is the list itself.
func (c *changes) whole(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.place.Object(x) == c.v
	case *ast.SelectorExpr:
		return c.place.Object(x.Sel) == c.v
	case *ast.SliceExpr:
		return c.whole(x.X)
	}
	return false
}

// owner reports whether a type is the struct that the list is a field of.
func (c *changes) owner(t types.Type) bool {
	if t == nil || !c.v.IsField() {
		return false
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		if s.Field(i) == c.v {
			return true
		}
	}
	return false
}
