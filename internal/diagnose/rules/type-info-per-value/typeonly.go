package typeinfopervalue

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// typeOnly reports whether a call's arguments depend only on constants and on at least one type of
// package reflect.
func typeOnly(p *gocode.Place, call *ast.CallExpr) bool {
	d := depends{place: p}
	fixed, typed := d.call(call)
	return fixed && typed
}

// typedMethod reports whether a call is of a method whose arguments, apart from the receiver,
// depend only on constants and on at least one type of package reflect.
func typedMethod(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() == nil || fn.Signature().Results().Len() == 0 || holdsValue(p.TypeOf(call)) {
		return false
	}
	d := depends{place: p}
	fixed, typed := d.all(call.Args...)
	return fixed && typed
}

// stores reports whether the line assigns to an element of a local map, by key and value that
// depend on a type alone.
func stores(p *gocode.Place) bool {
	for _, n := range p.Nodes {
		a, ok := n.(*ast.AssignStmt)
		if !ok || syntax.Line(p, a.Pos()) != p.Line || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		at, ok := a.Lhs[0].(*ast.IndexExpr)
		if !ok || syntax.LocalVar(p, at.X) == nil {
			continue
		}
		d := depends{place: p}
		if fixed, typed := d.all(at.Index, a.Rhs[0]); fixed && typed {
			return true
		}
	}
	return false
}

// depends determines what expressions depend on.
type depends struct {
	place *gocode.Place
	doing []types.Object // variables that are being followed
}

// expr reports whether an expression depends only on types and constants (fixed), and whether on a
// type at all.
func (d *depends) expr(e ast.Expr) (fixed, typed bool) {
	p := d.place
	if _, constant := p.Const(e); constant {
		return true, false
	}
	if ofType(p.TypeOf(e)) {
		return true, true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BasicLit, *ast.FuncLit:
		return true, false
	case *ast.Ident:
		return d.variable(e)
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			if _, pkg := p.Object(id).(*types.PkgName); pkg {
				return d.variable(e.Sel)
			}
		}
		return d.expr(e.X)
	case *ast.CallExpr:
		return d.call(e)
	case *ast.BinaryExpr:
		return d.all(e.X, e.Y)
	case *ast.UnaryExpr:
		return d.expr(e.X)
	case *ast.StarExpr:
		return d.expr(e.X)
	case *ast.IndexExpr:
		return d.all(e.X, e.Index)
	case *ast.SliceExpr:
		return d.all(e.X, e.Low, e.High)
	}
	return false, false
}

// all is expr of several expressions, without those that are nil.
func (d *depends) all(list ...ast.Expr) (fixed, typed bool) {
	for _, e := range list {
		if e == nil {
			continue
		}
		f, t := d.expr(e)
		if !f {
			return false, false
		}
		typed = typed || t
	}
	return true, typed
}

func (d *depends) call(call *ast.CallExpr) (fixed, typed bool) {
	p := d.place
	if t, ok := p.Conversion(call); ok {
		fixed, typed = d.all(call.Args...)
		return fixed, typed || ofType(t)
	}
	args := slices.Clone(call.Args)
	if recv := syntax.Receiver(call); recv != nil {
		if fn := p.Callee(call); fn != nil && fn.FullName() == "(reflect.Value).NumField" {
			return true, false
		}
		if id, ok := recv.(*ast.Ident); !ok || !packageName(p, id) {
			args = append(args, recv)
		}
	}
	fixed, typed = d.all(args...)
	return fixed && !holdsValue(p.TypeOf(call)), typed
}

func packageName(p *gocode.Place, id *ast.Ident) bool {
	_, ok := p.Object(id).(*types.PkgName)
	return ok
}

func (d *depends) variable(id *ast.Ident) (fixed, typed bool) {
	p := d.place
	v, ok := p.Object(id).(*types.Var)
	if !ok {
		return ok, false
	}
	switch {
	case slices.Contains(d.doing, types.Object(v)):
		return true, false
	case v.Parent() == p.Pkg.Scope():
		return p.Initial(v) != nil, false
	case syntax.Param(p, v) || !syntax.Local(p, v):
		return false, false
	}
	d.doing = append(d.doing, v)
	defer func() { d.doing = d.doing[:len(d.doing)-1] }()
	from, known := d.values(v)
	if !known {
		return false, false
	}
	return d.all(from...)
}

// values returns the expressions that are assigned to a local variable; false if they are unknown.
// A counter has none.
func (d *depends) values(v *types.Var) (from []ast.Expr, known bool) {
	p := d.place
	known = true
	is := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && p.Object(id) == v
	}
	found := false
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if !is(lhs) {
					continue
				}
				found = true
				switch {
				case len(n.Lhs) == len(n.Rhs):
					from = append(from, n.Rhs[i])
				case len(n.Rhs) == 1:
					from = append(from, n.Rhs[0])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if p.Object(name) != v {
					continue
				}
				found = true
				switch {
				case len(n.Values) == len(n.Names):
					from = append(from, n.Values[i])
				case len(n.Values) == 1:
					from = append(from, n.Values[0])
				}
			}
		case *ast.RangeStmt:
			if n.Key != nil && is(n.Key) || n.Value != nil && is(n.Value) {
				found = true
				from = append(from, n.X)
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && is(ast.Unparen(n.X)) {
				known = false // other code fills it
			}
		}
		return true
	})
	return from, known && found
}

// ofType reports whether a value of package reflect describes a type, and no value.
func ofType(t types.Type) bool {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != "reflect" {
		return false
	}
	switch named.Obj().Name() {
	case "Type", "StructField", "StructTag":
		return true
	}
	return false
}

// holdsValue reports whether a result is a value created by reflection.
func holdsValue(t types.Type) bool {
	if t, ok := t.(*types.Tuple); ok {
		for i := range t.Len() {
			if holdsValue(t.At(i).Type()) {
				return true
			}
		}
		return false
	}
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "reflect" && named.Obj().Name() == "Value"
}
