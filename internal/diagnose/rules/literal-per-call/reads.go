package literalpercall

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// readers are functions that only read a map or slice.
var readers = []string{
	"len", "slices.Contains", "slices.Index", "slices.BinarySearch", "slices.Equal", "slices.Max", "slices.Min",
	"maps.Equal", "strings.Join",
}

// copiers are functions that copy the elements of a map or slice, by the index of the argument.
var copiers = map[string]int{"maps.Copy": 1, "maps.Clone": 0, "slices.Clone": 0, "copy": 1, "maps.Keys": 0, "maps.Values": 0, "slices.Values": 0}

// deepestReads is how many calls and fields a table is followed through.
const deepestReads = 3

// use is what code does with a table.
type use struct {
	syntax *gocode.Syntax
	depth  int
	seen   map[types.Object]bool
	copies []lines    // that copy the table
	field  *types.Var // that keeps the table
	ranged bool       // a loop goes through the table
	adds   bool       // the field's map gets further entries
	grown  []lines    // where it does
}

// lines are those of a statement.
type lines struct {
	file, function string
	from, to       int
}

// onlyRead reports whether the function only reads the table, or what it keeps the table in is only
// read.
func (u *use) onlyRead(p *gocode.Place, table ast.Expr) bool {
	if u.reads(p, table) {
		return true
	}
	to := syntax.AssignedTo(p, table)
	if to == nil {
		return false
	}
	v := syntax.LocalVar(p, to)
	if v == nil || len(syntax.Assigned(p, v)) != 1 {
		return false
	}
	uses := syntax.Reads(p, v)
	return len(uses) > 0 && !slices.ContainsFunc(uses, func(id *ast.Ident) bool { return !u.reads(p.Outer(), id) })
}

// returned reports whether the function returns the table to callers that only read it.
func (u *use) returned(p *gocode.Place, table ast.Expr) bool {
	ret, ok := syntax.Parent(p, table).(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 || p.Func != p.Decl || u.syntax == nil {
		return false
	}
	self := p.Info.Defs[p.Decl.Name]
	calls, uses := 0, 0
	for _, obj := range p.Info.Uses {
		if obj == self {
			uses++
		}
	}
	for _, in := range u.syntax.Calls(func(fn *types.Func) bool { return fn == self }) {
		for _, call := range in.Calls() {
			if in.Callee(call) != self {
				continue
			}
			if calls++; !u.onlyRead(in, call) {
				return false
			}
		}
	}
	return calls > 0 && calls >= uses // else it is a value somewhere
}

// reads reports whether a use of a table or of one of its elements only reads it.
func (u *use) reads(p *gocode.Place, e ast.Expr) bool {
	switch n := syntax.Parent(p, e).(type) {
	case *ast.IndexExpr:
		return ast.Unparen(n.X) == e && !changed(p, n) && flat(p.TypeOf(n))
	case *ast.RangeStmt:
		if ast.Unparen(n.X) != e || n.Value != nil && !flat(p.TypeOf(n.Value)) {
			return false
		}
		u.ranged = true
		if stores(p, n) {
			u.copied(p, n)
		}
		return true
	case *ast.CallExpr:
		return u.argument(p, n, e)
	case *ast.KeyValueExpr:
		lit, ok := syntax.Parent(p, n).(*ast.CompositeLit)
		key, named := n.Key.(*ast.Ident)
		if ok && named && n.Value == e && isStruct(p.TypeOf(lit)) {
			v, _ := p.Object(key).(*types.Var)
			return u.kept(p, v)
		}
	case *ast.AssignStmt:
		if sel, ok := syntax.AssignedTo(p, e).(*ast.SelectorExpr); ok && len(n.Lhs) == len(n.Rhs) {
			v, _ := p.Object(sel.Sel).(*types.Var)
			return u.kept(p, v)
		}
	}
	return false
}

func isStruct(t types.Type) bool {
	if t == nil {
		return false
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// stores reports whether a loop puts the elements that it ranges over into a map or a list.
func stores(p *gocode.Place, loop *ast.RangeStmt) bool {
	if len(loop.Body.List) != 1 || loop.Value == nil {
		return false
	}
	a, ok := loop.Body.List[0].(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 {
		return false
	}
	at, ok := a.Lhs[0].(*ast.IndexExpr)
	return ok && syntax.Same(p, at.Index, loop.Key) && syntax.Same(p, a.Rhs[0], loop.Value)
}

// copied notes a statement that copies the table.
func (u *use) copied(p *gocode.Place, n ast.Node) {
	u.copies = append(u.copies, linesOf(p, n))
}

func linesOf(p *gocode.Place, n ast.Node) lines {
	return lines{p.Fset.Position(n.Pos()).Filename, syntax.ProfileName(p), syntax.Line(p, n.Pos()), syntax.Line(p, n.End())}
}

// argument is reads for an argument of a call.
func (u *use) argument(p *gocode.Place, call *ast.CallExpr, e ast.Expr) bool {
	name := p.CalleeName(call)
	if funcname.Match(name, readers...) {
		return true
	}
	i := slices.Index(call.Args, e)
	if at, ok := copiers[name]; ok {
		if name != "maps.Keys" && !flat(elements(p.TypeOf(e))) {
			return false
		}
		if name == "maps.Copy" || name == "maps.Clone" {
			u.copied(p, call)
		}
		return i == at
	}
	if name == "append" {
		return i > 0 && call.Ellipsis.IsValid() && flat(elements(p.TypeOf(e)))
	}
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil || i < 0 || u.depth == deepestReads {
		return false
	}
	sig := p.Callee(call).Signature()
	if sig.Variadic() || i >= sig.Params().Len() || types.IsInterface(sig.Params().At(i).Type()) {
		return false
	}
	v := sig.Params().At(i)
	if u.seen[v] {
		return true
	}
	u.seen[v] = true
	u.depth++
	defer func() { u.depth-- }()
	in := p.Entry(decl)
	return len(syntax.Assigned(in, v)) == 0 &&
		!slices.ContainsFunc(syntax.Reads(in, v), func(id *ast.Ident) bool { return !u.reads(in, id) })
}

// elements returns the type of the elements of a map or a slice; nil for others.
func elements(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if m, ok := t.Underlying().(*types.Map); ok {
		return m.Elem()
	}
	return syntax.Elem(t)
}

// kept reports whether the package only reads the table that a field of its own has, or adds
// entries to it.
func (u *use) kept(p *gocode.Place, field *types.Var) bool {
	if field == nil || !field.IsField() || field.Exported() && p.Pkg.Name() != "main" || u.depth == deepestReads || u.syntax == nil {
		return false
	}
	if u.seen[field] {
		return true
	}
	u.seen[field] = true
	u.depth++
	defer func() { u.depth-- }()
	reads := 0
	for id, obj := range p.Info.Uses {
		if obj != field {
			continue
		}
		pos := p.Fset.Position(id.Pos())
		in, ok := u.syntax.At(pos.Filename, pos.Line)
		if !ok {
			return false
		}
		in = in.Outer()
		sel, ok := syntax.Parent(in, id).(*ast.SelectorExpr)
		if !ok {
			continue // the key of a literal
		}
		switch {
		case syntax.Defines(in, sel):
		case added(in, sel):
			u.adds = true
			u.grown = append(u.grown, linesOf(in, sel))
		case u.reads(in, sel):
			reads++
		default:
			return false
		}
	}
	u.field = field
	return reads > 0
}

// added reports whether a use of a map only sets an entry.
func added(p *gocode.Place, m ast.Expr) bool {
	at, ok := syntax.Parent(p, m).(*ast.IndexExpr)
	if !ok || ast.Unparen(at.X) != m || !syntax.IsMap(p.TypeOf(m)) {
		return false
	}
	a, ok := syntax.Parent(p, at).(*ast.AssignStmt)
	return ok && a.Tok == token.ASSIGN && slices.ContainsFunc(a.Lhs, func(lhs ast.Expr) bool { return ast.Unparen(lhs) == at })
}

// changed reports whether an element is assigned to, or its address is taken.
func changed(p *gocode.Place, elem ast.Expr) bool {
	switch n := syntax.Parent(p, elem).(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if ast.Unparen(lhs) == elem {
				return true
			}
		}
	case *ast.IncDecStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.AND
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.SliceExpr:
		return changed(p, n.(ast.Expr))
	}
	return false
}

// flat reports whether values of a type contain no references through which they could be changed.
func flat(t types.Type) bool {
	if t == nil {
		return true // the blank identifier
	}
	if tuple, ok := t.(*types.Tuple); ok { // v, ok
		return tuple.Len() > 0 && flat(tuple.At(0).Type())
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Struct:
		for f := range u.Fields() {
			if !flat(f.Type()) {
				return false
			}
		}
		return true
	case *types.Array:
		return flat(u.Elem())
	}
	return syntax.PlainData(t)
}
