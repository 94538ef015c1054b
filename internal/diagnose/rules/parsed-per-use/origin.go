package parsedperuse

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepest is the number of expressions and variables that are followed.
const deepest = 12

// arguments reports whether the arguments of a call are constants and fields of objects, at least
// one of them a text, and notes those.
func (s *search) arguments(p *gocode.Place, call *ast.CallExpr, found *parse) bool {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && p.Info.Selections[sel] != nil && !s.kept(p, sel.X, found, 0) && !packageValue(p, sel.X) {
		return false
	}
	args := call.Args
	if decodes(p.Callee(call)) {
		args = args[:1]
	}
	for _, arg := range args {
		if !s.kept(p, arg, found, 0) {
			return false
		}
	}
	return slices.ContainsFunc(found.fields, func(v *types.Var) bool { return text(v.Type()) })
}

// packageValue reports whether an expression is a variable of a package, such as
// base64.StdEncoding.
func packageValue(p *gocode.Place, e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v, ok := p.Object(sel.Sel).(*types.Var)
	return ok && !v.IsField()
}

// kept reports whether an expression is computed from constants and fields of objects alone.
func (s *search) kept(p *gocode.Place, e ast.Expr, found *parse, depth int) bool {
	if _, constant := p.Const(e); constant {
		return true
	}
	if depth++; depth > deepest {
		return false
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return s.field(p, x, found)
	case *ast.IndexExpr:
		if m, ok := p.TypeOf(x.X).Underlying().(*types.Map); ok {
			return text(m.Elem()) && s.kept(p, x.X, found, depth) // one of those that it keeps
		}
		return s.kept(p, x.X, found, depth)
	case *ast.SliceExpr:
		bounds := []ast.Expr{x.Low, x.High, x.Max}
		return s.kept(p, x.X, found, depth) && !slices.ContainsFunc(bounds, func(b ast.Expr) bool { return b != nil && !s.kept(p, b, found, depth) })
	case *ast.BinaryExpr:
		return s.kept(p, x.X, found, depth) && s.kept(p, x.Y, found, depth)
	case *ast.Ident:
		return s.variable(p, x, found, depth)
	case *ast.CallExpr:
		name := p.CalleeName(x)
		if _, conversion := p.Conversion(x); !conversion && !funcname.Match(name, funcname.TypedAll(effects.DeterministicFuncs())...) && !funcname.Match(name, splitters()...) {
			return false
		}
		return len(x.Args) > 0 && !slices.ContainsFunc(x.Args, func(arg ast.Expr) bool { return !s.kept(p, arg, found, depth) })
	}
	return false
}

// splitters are functions that return parts of a text.
func splitters() []string {
	return []string{"strings.Cut*", "bytes.Cut*", "net.SplitHostPort", "path.Split", "path.Ext", "path/filepath.Split", "path/filepath.Ext"}
}

// field reports whether an expression is a field of an object of the program, of the same type as
// the others, and notes it.
func (s *search) field(p *gocode.Place, sel *ast.SelectorExpr, found *parse) bool {
	selection := p.Info.Selections[sel]
	if selection == nil || selection.Kind() != types.FieldVal {
		return false
	}
	v, ok := selection.Obj().(*types.Var)
	if !ok || v.Pkg() == nil || !syntax.PlainData(v.Type()) && !texts(v.Type()) {
		return false
	}
	if _, loaded := s.pass.Syntax.Package(v.Pkg().Path()); !loaded && v.Pkg() != p.Pkg {
		return false
	}
	owner := selection.Recv()
	if ptr, ok := owner.(*types.Pointer); ok {
		owner = ptr.Elem()
	}
	if found.owner != nil && !types.Identical(owner, found.owner) {
		return false // a result of each pair of objects
	}
	found.owner = owner
	if root, _ := syntax.Var(p, sel.X); root != nil {
		if of, ok := found.roots[p.Decl]; ok && of != root {
			return false
		}
		found.roots[p.Decl] = root
	}
	if !slices.Contains(found.fields, v) {
		found.fields = append(found.fields, v)
		found.texts = append(found.texts, syntax.Text(sel))
	}
	return true
}

// variable reports whether a local variable has one value, of fields of objects: what is assigned
// to it once, the elements of a list over which a loop goes, or what all callers pass for it.
func (s *search) variable(p *gocode.Place, id *ast.Ident, found *parse, depth int) bool {
	v := syntax.LocalVar(p, id)
	if v == nil || !syntax.PlainData(v.Type()) && !texts(v.Type()) {
		return false
	}
	if syntax.Param(p, v) {
		given := flow.Passed(s.pass.Syntax, p, v)
		return len(given) > 0 && !slices.ContainsFunc(given, func(g flow.Argument) bool { return !s.kept(g.Place, g.Value, found, depth) })
	}
	if list := flow.Ranged(p, v); list != nil {
		return texts(p.TypeOf(list)) && s.kept(p, list, found, depth)
	}
	if part := partOf(p, v); part != nil {
		return s.kept(p, part, found, depth)
	}
	values := syntax.Assigned(p, v)
	return len(values) == 1 && s.kept(p, values[0], found, depth)
}

// partOf returns the call of which a variable is declared as one of several results, if nothing
// else sets it: before, after, ok := strings.Cut(…); nil for others.
func partOf(p *gocode.Place, v *types.Var) ast.Expr {
	stmt, value := syntax.Declared(p, v)
	a, ok := stmt.(*ast.AssignStmt)
	if !ok || value != nil || len(a.Rhs) != 1 {
		return nil
	}
	if len(syntax.Reads(p, v))+1 != len(syntax.Uses(p, v)) {
		return nil
	}
	return a.Rhs[0]
}

// text reports whether values of a type are texts, or lists or maps of texts.
func text(t types.Type) bool { return syntax.StringOrBytes(t) || texts(t) }

// texts reports whether values of a type are lists or maps of texts, or texts.
func texts(t types.Type) bool {
	if t == nil {
		return false
	}
	if syntax.StringOrBytes(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return syntax.StringOrBytes(u.Elem())
	case *types.Array:
		return syntax.StringOrBytes(u.Elem())
	case *types.Map:
		return syntax.StringOrBytes(u.Elem())
	}
	return false
}
