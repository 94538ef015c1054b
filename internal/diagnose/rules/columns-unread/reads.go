package columnsunread

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// deepest is how many types around a struct are followed.
const deepest = 4

type search struct {
	pass  *rule.Pass
	sql   sqltext.Program
	lines *finder.Lines[query]
	reads map[*types.Var]float64     // -1 if it is not known
	lists map[*ast.CompositeLit]bool // of addresses, for Scan
}

// query is a line that scans a row into the fields of a struct.
type query struct {
	typ    string
	whole  bool     // a library fills all fields of each value
	unread []string // fields
	used   bool     // some of them are read for a few rows
	rows   float64  // for each unit of work
}

// look returns the query whose rows a line scans, if at least half of the texts are not read.
func (s *search) look(f *site.Frame, p *gocode.Place) *query {
	if p.Decl == nil {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		fn := p.Callee(call)
		if fn == nil {
			continue
		}
		var columns []column
		of := fills(p, call, fn)
		switch {
		case of != nil:
			columns = s.texts(p, call, of)
		case fn.Name() == "Scan" && fn.Signature().Variadic():
			columns = s.columns(p, call)
		default:
			continue
		}
		ran, ok := evidence.ExecutionsAt(s.pass, p, call.Lparen)
		if !ok || !evidence.Hot(s.pass, ran) {
			return nil
		}
		q := &query{rows: ran.PerUnit, whole: of != nil}
		read, owner := 0, types.Type(nil)
		for _, c := range columns {
			if c.field == nil {
				read++
				continue
			}
			if owner == nil {
				owner = c.of
			}
			runs, known := s.runs(f.Owner.Module, c.field, c.of)
			if !known || c.of != owner {
				return nil
			}
			if runs > mostRead*ran.PerUnit || q.whole && runs > 0 { // how many rows it has is not known
				read++
				continue
			}
			q.unread = append(q.unread, c.field.Name())
			q.used = q.used || runs > 0
		}
		if len(q.unread) == 0 || len(q.unread) < read || s.stored(f.Owner.Module, owner) {
			return nil
		}
		q.typ = syntax.TypeText(p, owner)
		return q
	}
	return nil
}

// column is where a text of a row is stored.
type column struct {
	field *types.Var // nil for a variable that the function uses itself
	of    types.Type // the struct
}

// columns returns where a call of Scan stores the texts of a row: its arguments, or the elements of
// a list that it gets, also from a method: rows.Scan(a.fields()...).
func (s *search) columns(p *gocode.Place, call *ast.CallExpr) (all []column) {
	args := call.Args
	if call.Ellipsis.IsValid() && len(args) > 0 {
		list := syntax.Origin(p, args[len(args)-1])
		if from, ok := list.(*ast.CallExpr); ok {
			in, result := syntax.Returned(p, from)
			if in == nil {
				return nil
			}
			p, list = in, ast.Unparen(result)
		}
		lit, ok := list.(*ast.CompositeLit)
		if !ok {
			return nil
		}
		s.lists[lit] = true
		args = lit.Elts
	}
	for _, arg := range args {
		field, of := scanned(p, arg)
		if field == nil && kept(p, arg) || field != nil && text(field.Type()) {
			all = append(all, column{field, of})
		}
	}
	return all
}

// scanned returns the field into which an argument of Scan stores a column, and the struct's type.
func scanned(p *gocode.Place, arg ast.Expr) (*types.Var, types.Type) {
	u, ok := ast.Unparen(arg).(*ast.UnaryExpr)
	if !ok || u.Op != token.AND {
		return nil, nil
	}
	if v := syntax.LocalVar(p, u.X); v != nil {
		return becomes(p, v, arg)
	}
	sel, ok := ast.Unparen(u.X).(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	v, ok := p.Object(sel.Sel).(*types.Var)
	if !ok || !v.IsField() {
		return nil, nil
	}
	t := p.TypeOf(sel.X)
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	return v, t
}

// becomes returns the field of a struct that a variable, into which a column is scanned, is only
// used to set, and the struct's type.
func becomes(p *gocode.Place, v *types.Var, scan ast.Expr) (field *types.Var, of types.Type) {
	for _, id := range syntax.Uses(p, v) {
		if syntax.Within(scan, id) || p.Info.Defs[id] != nil {
			continue
		}
		var value ast.Expr = id
		if sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr); ok { // of a sql.NullString
			if value = sel; sel.Sel.Name == "Valid" {
				continue
			}
		}
		if field != nil {
			return nil, nil
		}
		if field, of = set(p, value); field == nil {
			return nil, nil
		}
	}
	return field, of
}

// kept reports whether an argument is the address of a variable for a text, which the function uses
// itself.
func kept(p *gocode.Place, arg ast.Expr) bool {
	u, ok := ast.Unparen(arg).(*ast.UnaryExpr)
	if !ok {
		return false
	}
	v := syntax.LocalVar(p, u.X)
	return v != nil && text(v.Type())
}

// set returns the field of a struct that a value is for, and the struct's type: T{F: v}, T{v}, and
// x.F = v.
func set(p *gocode.Place, value ast.Expr) (*types.Var, types.Type) {
	if call, ok := syntax.Parent(p, value).(*ast.CallExpr); ok {
		if _, conversion := p.Conversion(call); conversion {
			value = call
		}
	}
	if sel, ok := syntax.AssignedTo(p, value).(*ast.SelectorExpr); ok {
		if v, ok := p.Object(sel.Sel).(*types.Var); ok && v.IsField() {
			return v, syntax.Pointed(p.TypeOf(sel.X))
		}
	}
	parent := syntax.Parent(p, value)
	kv, keyed := parent.(*ast.KeyValueExpr)
	if keyed {
		parent = syntax.Parent(p, kv)
	}
	lit, ok := parent.(*ast.CompositeLit)
	if !ok {
		return nil, nil
	}
	t := syntax.Pointed(p.TypeOf(lit))
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil, nil
	}
	if keyed {
		id, _ := kv.Key.(*ast.Ident)
		v, _ := p.Object(id).(*types.Var)
		return v, t
	}
	return s.Field(slices.Index(lit.Elts, value)), t
}

// text reports whether a column of a type may be long.
func text(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.String
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && b.Kind() == types.Byte
	case *types.Pointer:
		return text(u.Elem())
	case *types.Struct:
		return types.TypeString(t, nil) == "database/sql.NullString"
	}
	return false
}

// runs returns how often the program reads a field, for each unit of work; false where that was not
// counted.
func (s *search) runs(module string, field *types.Var, of types.Type) (sum float64, known bool) {
	if n, ok := s.reads[field]; ok {
		return n, n >= 0
	}
	known = true
	s.everywhere(module, func(p *gocode.Place, n ast.Node) {
		part := s.selects(p, n, field)
		if !known || !part && !whole(p, n, of) {
			return
		}
		runs, ok := evidence.ReachedAt(s.pass, p, n.Pos())
		if !ok && s.pass.Counts.Ran(p.Pkg.Path(), p.Fset.Position(n.Pos()).Filename) || !part && runs > 0 {
			known = false // of a list that is passed on, how many elements are read is not known
		}
		sum += runs
	})
	if s.reads[field] = sum; !known {
		s.reads[field] = -1
	}
	return sum, known
}

// packages returns those of a module.
func (s *search) packages(module string) (all []*gocode.Place) {
	names, _ := s.pass.Syntax.Packages()
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, module); !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if p, ok := s.pass.Syntax.Package(name); ok {
			all = append(all, p)
		}
	}
	return all
}

// everywhere visits the functions of a module.
func (s *search) everywhere(module string, visit func(*gocode.Place, ast.Node)) {
	for _, pkg := range s.packages(module) {
		for _, f := range pkg.Files() {
			for _, d := range f.Decls {
				decl, ok := d.(*ast.FuncDecl)
				if !ok || decl.Body == nil {
					continue
				}
				in := pkg.Entry(decl)
				ast.Inspect(decl.Body, func(n ast.Node) bool {
					if n != nil {
						visit(in, n)
					}
					return true
				})
			}
		}
	}
}

// selects reports whether a node reads a field.
func (s *search) selects(p *gocode.Place, n ast.Node, field *types.Var) bool {
	sel, ok := n.(*ast.SelectorExpr)
	return ok && p.Object(sel.Sel) == field && !s.setsField(p, sel)
}

// whole reports whether a node does something with a whole value that may read any field: converts
// it, compares it, or passes it on as an interface or to another module.
func whole(p *gocode.Place, n ast.Node, of types.Type) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		return passed(p, n, of)
	case *ast.BinaryExpr:
		return (n.Op == token.EQL || n.Op == token.NEQ) && p.TypeOf(n.X) != nil && types.Identical(p.TypeOf(n.X), of)
	case *ast.CompositeLit:
		return slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
			want := element(p.TypeOf(n), e)
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			return want && holds(p.TypeOf(e), of, deepest)
		})
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if t := p.TypeOf(to); i < len(n.Rhs) && t != nil && open(t) && holds(p.TypeOf(n.Rhs[i]), of, deepest) {
				return true
			}
		}
	case *ast.ReturnStmt:
		sig := syntax.SignatureOf(p)
		for i, e := range n.Results {
			if sig != nil && i < sig.Results().Len() && open(sig.Results().At(i).Type()) && holds(p.TypeOf(e), of, deepest) {
				return true
			}
		}
	case *ast.SendStmt:
		ch, ok := p.TypeOf(n.Chan).Underlying().(*types.Chan)
		return ok && open(ch.Elem()) && holds(p.TypeOf(n.Value), of, deepest)
	}
	return false
}

// element reports whether an element of a literal is stored as an interface.
func element(t types.Type, e ast.Expr) bool {
	if t == nil {
		return false
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		return open(u.Elem())
	case *types.Slice:
		return open(u.Elem())
	case *types.Struct:
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return true // which field that is does not matter
		}
		for f := range u.Fields() {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == f.Name() {
				return open(f.Type())
			}
		}
	}
	return false
}

// setsField reports whether a selector stands where its field is set, or gets a column.
func (s *search) setsField(p *gocode.Place, sel *ast.SelectorExpr) bool {
	switch n := syntax.Parent(p, sel).(type) {
	case *ast.AssignStmt:
		return n.Tok == token.ASSIGN && slices.Contains(n.Lhs, ast.Expr(sel))
	case *ast.UnaryExpr:
		if lit, ok := syntax.Parent(p, n).(*ast.CompositeLit); ok && s.lists[lit] {
			return true
		}
		call, ok := syntax.Parent(p, n).(*ast.CallExpr)
		return ok && n.Op == token.AND && p.Callee(call) != nil && p.Callee(call).Name() == "Scan"
	}
	return false
}

// passed reports whether a call converts a value with the struct, or passes it on as an interface,
// as a type parameter, or to another module.
func passed(p *gocode.Place, call *ast.CallExpr, of types.Type) bool {
	if to, ok := p.Conversion(call); ok {
		return to != nil && len(call.Args) == 1 && holds(p.TypeOf(call.Args[0]), of, deepest) && !holds(to, of, deepest)
	}
	fn := p.Callee(call)
	if fn != nil && fills(p, call, fn) != nil {
		return false
	}
	if fn == nil {
		sig, ok := p.TypeOf(call.Fun).(*types.Signature)
		return ok && anyOpen(p, sig, call, of) // a variable; append and others keep the type
	}
	return anyOpen(p, fn.Origin().Signature(), call, of)
}

func anyOpen(p *gocode.Place, sig *types.Signature, call *ast.CallExpr, of types.Type) bool {
	for i, arg := range call.Args {
		if sig.Params().Len() == 0 || !holds(p.TypeOf(arg), of, deepest) {
			continue
		}
		t := sig.Params().At(min(i, sig.Params().Len()-1)).Type()
		if list, ok := t.(*types.Slice); ok && sig.Variadic() && i >= sig.Params().Len()-1 {
			t = list.Elem()
		}
		if open(t) {
			return true
		}
	}
	return false
}

// open reports whether a type says nothing about what its values hold: an interface, a type
// parameter, or a list of these.
func open(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Slice:
		return open(u.Elem())
	case *types.Pointer:
		return open(u.Elem())
	case *types.Map:
		return open(u.Elem())
	}
	return types.IsInterface(t)
}

// holds reports whether values of a type have the struct in them.
func holds(t, of types.Type, depth int) bool {
	if t == nil || depth == 0 {
		return false
	}
	if types.Identical(t, of) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return holds(u.Elem(), of, depth-1)
	case *types.Slice:
		return holds(u.Elem(), of, depth-1)
	case *types.Map:
		return holds(u.Elem(), of, depth-1)
	case *types.Chan:
		return holds(u.Elem(), of, depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if holds(f.Type(), of, depth-1) {
				return true
			}
		}
	}
	return false
}

// stored reports whether the program keeps values of a struct, in a map or a container: what
// nothing reads now may be read later.
func (s *search) stored(module string, of types.Type) bool {
	for _, pkg := range s.packages(module) {
		for _, tv := range pkg.Info.Types {
			switch t := tv.Type.(type) {
			case *types.Map:
				if holds(t.Elem(), of, 2) {
					return true
				}
			case *types.Named:
				for arg := range t.TypeArgs().Types() {
					if holds(arg, of, 3) {
						return true
					}
				}
			}
		}
	}
	return false
}
