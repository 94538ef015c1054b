package unsetguard

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// unset reports whether no code of the package sets the field: at all, if it is a time, or other
// than in a copy that is lost.
func (g *guard) unset() bool {
	for _, file := range g.at.Files() {
		fine := true
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			p := g.at
			if ok && decl.Body != nil {
				p = g.at.Entry(decl)
			}
			ast.Inspect(d, func(n ast.Node) bool {
				fine = fine && (n == nil || !g.sets(p, n))
				return fine
			})
		}
		if !fine {
			return false
		}
	}
	return g.time || g.lost != nil
}

// sets reports whether a node may set the field, and notes what sets it in a copy that is lost.
func (g *guard) sets(p *gocode.Place, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if g.part(p, lhs) && !g.copied(p, lhs) {
				return true
			}
		}
	case *ast.IncDecStmt:
		return g.part(p, n.X) && !g.copied(p, n.X)
	case *ast.RangeStmt:
		return n.Key != nil && g.part(p, n.Key) || n.Value != nil && g.part(p, n.Value)
	case *ast.UnaryExpr:
		return n.Op == token.AND && g.part(p, n.X)
	case *ast.SliceExpr:
		return g.part(p, n.X)
	case *ast.CompositeLit:
		return g.literal(p, n)
	case *ast.CallExpr:
		return g.call(p, n)
	}
	return false
}

// part reports whether an expression is the field or a part of it.
func (g *guard) part(p *gocode.Place, e ast.Expr) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
			if g.is(p, x) {
				return true
			}
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return false
		}
	}
}

// is reports whether an expression selects the field, also in another instance of a generic type.
func (g *guard) is(p *gocode.Place, e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := p.Object(sel.Sel).(*types.Var)
	return ok && v.Origin() == g.of.Origin()
}

// literal reports whether a composite literal sets the field.
func (g *guard) literal(p *gocode.Place, lit *ast.CompositeLit) bool {
	t := p.TypeOf(lit)
	if t == nil {
		return true
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok { // {…} for &T{…} in a list
		t = ptr.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i, elt := range lit.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); !ok {
			if i < s.NumFields() && s.Field(i).Origin() == g.of.Origin() {
				return true
			}
		} else if id, ok := kv.Key.(*ast.Ident); ok {
			if v, ok := p.Object(id).(*types.Var); ok && v.Origin() == g.of.Origin() {
				return true
			}
		}
	}
	return false
}

// call reports whether a call may set the field: a method that gets its address, a conversion from
// a type with the same fields, or delete, clear and copy.
func (g *guard) call(p *gocode.Place, call *ast.CallExpr) bool {
	if t, conversion := p.Conversion(call); conversion {
		return g.owner(t) && !types.Identical(t, p.TypeOf(call.Args[0]))
	}
	switch p.CalleeName(call) {
	case "clear", "copy", "delete":
		return g.part(p, call.Args[0])
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	fn := p.Callee(call)
	if !ok || fn == nil || fn.Signature().Recv() == nil || !g.part(p, sel.X) {
		return false
	}
	_, pointer := fn.Signature().Recv().Type().(*types.Pointer)
	return pointer
}

// owner reports whether a type is a struct with the field.
func (g *guard) owner(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Origin() == g.of.Origin() {
			return true
		}
	}
	return false
}

// copied reports whether what is assigned to is the field of a copy that is only used by its
// fields, so that it is lost: of a method's value receiver, or an element that a loop copied. It
// notes the assignment.
func (g *guard) copied(p *gocode.Place, lhs ast.Expr) bool {
	sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
	if !ok || p.Decl == nil {
		return false
	}
	v := syntax.LocalVar(p, sel.X)
	if v == nil || !copies(p, v) {
		return false
	}
	if _, fields := v.Type().Underlying().(*types.Struct); !fields {
		return false
	}
	for _, use := range syntax.Uses(p, v) {
		if p.Info.Defs[use] == nil && !g.fieldOf(p, use) {
			return false
		}
	}
	g.lost, g.receiver, g.typeName, g.by = sel, v.Name(), syntax.TypeText(p, v.Type()), ""
	if p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos()) {
		g.by = p.Decl.Name.Name
	}
	return true
}

// copies reports whether a variable is a copy of a value that remains elsewhere: a receiver, the
// element of a loop's list, or one of a map or a list. A parameter may be there to be filled in.
func copies(p *gocode.Place, v *types.Var) bool {
	if p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos()) {
		return true
	}
	switch stmt, value := syntax.Declared(p, v); stmt := stmt.(type) {
	case *ast.RangeStmt:
		return true
	case *ast.AssignStmt: // t := tables[name]; t, ok := tables[name]
		if value == nil && len(stmt.Rhs) == 1 {
			value = stmt.Rhs[0]
		}
		_, element := ast.Unparen(value).(*ast.IndexExpr)
		return element
	}
	return false
}

// fieldOf reports whether what stands around an identifier selects a field of it, and takes no
// address.
func (g *guard) fieldOf(p *gocode.Place, id *ast.Ident) bool {
	sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr)
	if !ok || sel.X != id {
		return false
	}
	if selection := p.Info.Selections[sel]; selection == nil || selection.Kind() != types.FieldVal {
		return false
	}
	u, ok := syntax.Parent(p, sel).(*ast.UnaryExpr)
	return !ok || u.Op != token.AND
}
