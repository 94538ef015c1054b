package kept

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

// Var returns the variable of an expression that is a receiver's field or a package variable,
// or nil.
func Var(p *gocode.Place, e ast.Expr) *types.Var {
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

// Field is [Var] that also returns a field of another variable than the receiver, such as a
// parameter or a variable around a function literal. Whether the object lives longer than the call,
// its [Changes] show: creating it is one.
func Field(p *gocode.Place, e ast.Expr) *types.Var {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return Var(p, e)
	}
	v, ok := p.Object(sel.Sel).(*types.Var)
	if root, _ := syntax.Var(p, sel); !ok || root == nil || !v.IsField() || v.Pkg() != p.Pkg {
		return nil
	}
	return v
}

// Changes counts how often a kept list or map changes.
type Changes struct {
	Pass  *rule.Pass
	Frame *site.Frame // a line of its package
	Place *gocode.Place
	Var   *types.Var
	Keys  []*types.Var  // fields of the elements that matter
	Skip  *ast.CallExpr // a call that does not count, nil for none
}

// Ran returns how often a node ran for each unit of work: 0 in a file that was never reached.
func (c *Changes) Ran(n ast.Node) (float64, bool) {
	at := c.Place.Fset.Position(n.Pos())
	e, ok := c.Pass.Counts.Line(c.Frame.Owner.Package, at.Filename, at.Line)
	return e.PerUnit, ok || !c.Pass.Counts.Ran(c.Frame.Owner.Package, at.Filename)
}

// Count returns how often lines of the package change the list, or a field that its order depends
// on, for each unit of work. It reports false where that is not known.
func (c *Changes) Count() (sum float64, known bool) {
	known = true
	add := func(n ast.Node) {
		times, ok := c.Ran(n)
		sum, known = sum+times, known && ok
	}
	for _, file := range c.Place.Files() {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue // initialisers run once
			}
			r := reading{Place: c.Place.Entry(fn), skip: c.Skip}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if n != nil && c.changes(r, n) {
					add(n)
				}
				return true
			})
		}
	}
	return sum, known
}

// changes reports whether a node of a function may change the list: it assigns to it or a part of
// it, takes its address, gives it to a variable, function or method that does not visibly only read
// it, or creates a value that it is a field of.
func (c *Changes) changes(r reading, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, c.is) || slices.ContainsFunc(n.Rhs, func(e ast.Expr) bool { return c.shared(e) && !r.value(e) })
	case *ast.IncDecStmt:
		return c.is(n.X)
	case *ast.UnaryExpr:
		return n.Op == token.AND && c.is(n.X)
	case *ast.CompositeLit:
		return c.owner(c.Place.TypeOf(n))
	case *ast.ValueSpec:
		return n.Type != nil && len(n.Values) == 0 && c.owner(c.Place.TypeOf(n.Type)) ||
			slices.ContainsFunc(n.Values, func(e ast.Expr) bool { return c.shared(e) && !r.value(e) })
	case *ast.CallExpr:
		if _, conversion := c.Place.Conversion(n); conversion || n == c.Skip {
			return false
		}
		if c.Place.CalleeName(n) == "new" {
			return c.owner(c.Place.TypeOf(n.Args[0]))
		}
		for i, arg := range n.Args {
			if c.whole(arg) && !c.copied(arg) && !r.argument(n, i) {
				return true
			}
		}
		if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && c.shared(sel.X) && !r.method(n) {
			return true
		}
		// copy and clear change the elements of a part, too.
		name := c.Place.CalleeName(n)
		return (name == "copy" || name == "clear" || name == "delete") && c.is(n.Args[0])
	}
	return false
}

// is reports whether an expression is the list, a part of it, or a field that the order depends on.
func (c *Changes) is(e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return c.Place.Object(x) == c.Var
		case *ast.SelectorExpr:
			obj, _ := c.Place.Object(x.Sel).(*types.Var)
			if obj == c.Var || obj != nil && slices.Contains(c.Keys, obj) {
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
func (c *Changes) whole(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.Place.Object(x) == c.Var
	case *ast.SelectorExpr:
		return c.Place.Object(x.Sel) == c.Var
	case *ast.SliceExpr:
		return c.whole(x.X)
	case *ast.CallExpr: // of a conversion that shares the elements
		if t, ok := c.Place.Conversion(x); ok && len(x.Args) == 1 && !syntax.IsString(c.Place, x) {
			return t != nil && c.whole(x.Args[0])
		}
	}
	return false
}

// shared reports whether an expression is the list itself, and of a type whose copies have the same
// elements.
func (c *Changes) shared(e ast.Expr) bool {
	if t := c.Place.TypeOf(e); t == nil || !c.whole(e) {
		return false
	} else if _, list := t.Underlying().(*types.Slice); !list {
		_, table := t.Underlying().(*types.Map)
		return table
	}
	return true
}

// copied reports whether an expression is a number or a text, of which a function gets a copy.
func (c *Changes) copied(e ast.Expr) bool {
	t := c.Place.TypeOf(e)
	if t == nil {
		return false
	}
	_, basic := t.Underlying().(*types.Basic)
	return basic
}

// owner reports whether a type is the struct that the list is a field of.
func (c *Changes) owner(t types.Type) bool {
	if t == nil || !c.Var.IsField() {
		return false
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		if s.Field(i) == c.Var {
			return true
		}
	}
	return false
}
