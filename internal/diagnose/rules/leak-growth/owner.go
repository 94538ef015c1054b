package leakgrowth

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// owner is the field or package variable that keeps a container. If the container's own type has
// methods that change it, as in "func (l *log) add(e event) { *l = append(*l, e) }", of is that
// type.
type owner struct {
	*types.Var
	of     *types.Named
	within string // the name of the struct that has the field; "" if of is nil
}

// text returns the owner's name where the expression is how the code names it.
func (o *owner) text(e ast.Expr) string {
	switch {
	case o.of == nil:
		return syntax.Text(e)
	case o.within == "":
		return o.Name()
	}
	return o.within + "." + o.Name()
}

// is reports whether an expression denotes the container.
func (o *owner) is(p *gocode.Place, e ast.Expr) bool {
	// In each method of a generic type, its fields are variables of their own.
	if v := syntax.Named(p, e); v != nil && v.Origin() == o.Var.Origin() {
		return true
	}
	switch ast.Unparen(e).(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.StarExpr:
		v, ok := p.Info.Types[e]
		return o.of != nil && ok && v.IsValue() && types.Identical(v.Type, o.of)
	}
	return false
}

// kept returns the field or package variable that an expression names, or that keeps the receiver
// which it names; nil for local variables, whose owner may drop them as a whole.
func kept(p *gocode.Place, e ast.Expr) *owner {
	if n := received(p, e); n != nil {
		return keeps(p.Pkg, n)
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := p.Object(x).(*types.Var); ok && v.Parent() == p.Pkg.Scope() && (!v.Exported() || p.Pkg.Name() == "main") {
			return &owner{Var: v}
		}
	case *ast.SelectorExpr:
		// Other packages may remove entries from what they can name.
		if v, ok := p.Object(x.Sel).(*types.Var); ok && v.IsField() && (!v.Exported() || p.Pkg.Name() == "main") {
			if root, _ := syntax.Var(p, x); root != nil {
				return &owner{Var: v}
			}
		}
	}
	return nil
}

// received returns the type of a receiver that is itself a slice or a map: l of *l and l. It
// returns nil for other expressions.
func received(p *gocode.Place, e ast.Expr) *types.Named {
	if star, ok := ast.Unparen(e).(*ast.StarExpr); ok {
		e = star.X
	}
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := p.Object(id).(*types.Var)
	if !ok || v.Kind() != types.RecvVar {
		return nil
	}
	n := named(v.Type())
	if n == nil || n.Obj().Pkg() != p.Pkg {
		return nil
	}
	switch n.Underlying().(type) {
	case *types.Slice, *types.Map:
		return n
	}
	return nil
}

// keeps returns the only field or variable of a package that keeps a container of a type; nil if
// there are several.
func keeps(pkg *types.Package, n *types.Named) (found *owner) {
	add := func(v *types.Var, within string) {
		if named(v.Type()) != n {
			return
		}
		if found != nil {
			found = &owner{}
			return
		}
		found = &owner{Var: v, of: n, within: within}
	}
	for _, name := range pkg.Scope().Names() {
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Var:
			add(o, "")
		case *types.TypeName:
			if s, ok := o.Type().Underlying().(*types.Struct); ok && !o.IsAlias() {
				for f := range s.Fields() {
					add(f, o.Name())
				}
			}
		}
	}
	if found == nil || found.Var == nil {
		return nil
	}
	return found
}
