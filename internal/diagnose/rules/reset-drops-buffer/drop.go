package resetdropsbuffer

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// made is the memory that a line allocates for a field of a struct.
type made struct {
	field  *types.Var
	owner  *types.Named
	text   ast.Expr // x.f
	value  ast.Expr // what it is set to; nil for an element that is added to a map
	grows  bool     // it adds to what is there: append, or an element of a map
	passed bool     // functions get the memory
}

// madeAt returns what the line of a place allocates for a field, if it allocates nothing else.
func madeAt(p *gocode.Place) (*made, bool) {
	for _, n := range p.Nodes {
		a, ok := n.(*ast.AssignStmt)
		if inc, counts := n.(*ast.IncDecStmt); counts { // m[k]++ adds an element as m[k] = 1 does
			a, ok = &ast.AssignStmt{Lhs: []ast.Expr{inc.X}, TokPos: inc.TokPos, Tok: token.ASSIGN, Rhs: []ast.Expr{inc.X}}, true
		}
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		if m := madeInLiteral(p, a); m != nil {
			return m, true
		}
		if syntax.Line(p, a.Pos()) != p.Line {
			continue
		}
		to, value := ast.Unparen(a.Lhs[0]), a.Rhs[0]
		at, element := to.(*ast.IndexExpr)
		if element {
			if _, ok := p.TypeOf(at.X).Underlying().(*types.Map); !ok {
				continue
			}
			to, value = ast.Unparen(at.X), nil
		}
		field, owner := fieldOf(p, to)
		if owner == nil || !element && !fresh(p, to, value) {
			continue
		}
		if element && syntax.AllocatesOnly(p) || !element && syntax.AllocatesOnly(p, value) {
			m := &made{field: field, owner: owner, text: to, value: value, grows: element, passed: passed(p, field)}
			if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok && p.CalleeName(call) == "append" {
				m.grows = m.grows || syntax.Same(p, call.Args[0], to)
			}
			return m, true
		}
	}
	return nil, false
}

// madeInLiteral is madeAt for an assignment *x = T{f: make(…)}; nil for others.
func madeInLiteral(p *gocode.Place, a *ast.AssignStmt) *made {
	star, ok := ast.Unparen(a.Lhs[0]).(*ast.StarExpr)
	lit, whole := ast.Unparen(a.Rhs[0]).(*ast.CompositeLit)
	if !ok || !whole {
		return nil
	}
	owner := named(p.TypeOf(star))
	for _, elt := range lit.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok || owner == nil || owner.Obj().Pkg() != p.Pkg || syntax.Line(p, kv.Value.Pos()) != p.Line {
			continue
		}
		key, ok := kv.Key.(*ast.Ident)
		if !ok || !fresh(p, key, kv.Value) || !syntax.AllocatesOnly(p, kv.Value) {
			continue
		}
		if field, ok := p.Object(key).(*types.Var); ok {
			x := &ast.SelectorExpr{X: star.X, Sel: key}
			return &made{field: field.Origin(), owner: owner, text: x, value: kv.Value, passed: passed(p, field.Origin())}
		}
	}
	return nil
}

// fieldOf returns the field that an expression x.f names, and the struct type of x, if that is of
// the place's package.
func fieldOf(p *gocode.Place, e ast.Expr) (*types.Var, *types.Named) {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	s := p.Info.Selections[sel]
	if s == nil || s.Kind() != types.FieldVal {
		return nil, nil
	}
	owner := named(s.Recv())
	for _, i := range s.Index()[:len(s.Index())-1] { // of an embedded struct
		if outer, ok := owner.Underlying().(*types.Struct); ok {
			owner = named(outer.Field(i).Type())
		}
		if owner == nil {
			return nil, nil
		}
	}
	if owner == nil || owner.Obj().Pkg() != p.Pkg {
		return nil, nil
	}
	return s.Obj().(*types.Var).Origin(), owner
}

// fresh reports whether a value is memory that the line allocates: make, new, a literal, or append
// to the field itself.
func fresh(p *gocode.Place, to, value ast.Expr) bool {
	switch e := ast.Unparen(value).(type) {
	case *ast.CallExpr:
		switch p.CalleeName(e) {
		case "make":
			_, channel := p.TypeOf(e).Underlying().(*types.Chan)
			return !channel
		case "new":
			return true
		case "append":
			return len(e.Args) > 0 && (syntax.Same(p, e.Args[0], to) || empty(p, e.Args[0]))
		}
	case *ast.UnaryExpr:
		_, lit := ast.Unparen(e.X).(*ast.CompositeLit)
		return e.Op == token.AND && lit
	case *ast.CompositeLit:
		return true
	}
	return false
}

// empty reports whether an expression has no memory: nil, []T(nil), []T{}.
func empty(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, is := p.Object(e).(*types.Nil)
		return is
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		if _, conversion := p.Conversion(e); conversion {
			return len(e.Args) == 1 && empty(p, e.Args[0])
		}
		return p.CalleeName(e) == "make" && mapOrShort(p, e)
	}
	return false
}

// mapOrShort reports whether a call of make creates an empty map, or a slice without elements and
// room.
func mapOrShort(p *gocode.Place, call *ast.CallExpr) bool {
	if _, ok := p.TypeOf(call).Underlying().(*types.Map); ok {
		return true
	}
	n, constant := syntax.ConstInt(p, call.Args[len(call.Args)-1])
	return len(call.Args) > 1 && constant && n == 0
}

// drop is where a function takes the memory from an object that exists.
type drop struct {
	function, where string
	makes           bool // it makes the new memory itself
	named           bool // its name says that it prepares an object
}

// dropped returns where the package drops the memory of a field, and how often it does for each
// unit of work; nil if it does not, or gives it to other code before.
func dropped(pass *rule.Pass, p *gocode.Place, m *made) (found *drop, times float64) {
	most := 0.0
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil || !resets(decl.Name.Name) && (m.passed || aliased(p, m.field)) {
				continue
			}
			in := p.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				a, ok := n.(*ast.AssignStmt)
				if !ok || !drops(in, a, m) {
					return true
				}
				e, counted := evidence.ExecutionsAt(pass, in, a.Pos())
				if !counted || gives(in, m.field) {
					return true
				}
				times += e.PerUnit
				if found == nil || e.PerUnit > most {
					most = e.PerUnit
					found = &drop{named: resets(decl.Name.Name), function: syntax.FuncName(in), where: syntax.Where(p, a.Pos()), makes: m.value != nil && syntax.Within(a, m.value)}
				}
				return true
			})
		}
	}
	return found, times
}

// resets reports whether a function prepares an object for its next use, by a word of its name.
// Other functions also do, if nothing but the object itself ever has the memory.
func resets(name string) bool {
	verbs := []string{"reset", "init", "clear", "recycle", "reuse", "renew", "rewind", "restart", "release", "free", "cleanup", "put"}
	return slices.ContainsFunc(awaited.Words(name), func(word string) bool { return slices.Contains(verbs, word) })
}

// drops reports whether an assignment takes the memory of the field from an object that the
// function gets: x.f = nil, x.f = make(…), *x = T{…} without x.f.
func drops(p *gocode.Place, a *ast.AssignStmt, m *made) bool {
	for i, lhs := range a.Lhs {
		if len(a.Lhs) != len(a.Rhs) {
			return false
		}
		if v, _ := syntax.Var(p, lhs); v == nil || !syntax.Param(p, v) {
			continue
		}
		value := a.Rhs[i]
		if field, _ := fieldOf(p, lhs); field == m.field {
			if value == m.value {
				return !m.grows && !examined(p, a, m.field)
			}
			return empty(p, value) && !examined(p, a, m.field)
		}
		star, ok := ast.Unparen(lhs).(*ast.StarExpr)
		lit, whole := ast.Unparen(value).(*ast.CompositeLit)
		if !ok || !whole {
			continue
		}
		if of := named(p.TypeOf(star)); of == m.owner && !keeps(p, lit, m) || len(lit.Elts) == 0 && embeds(of, m.owner) {
			return true
		}
	}
	return false
}

// embeds reports whether a struct has another one embedded in it.
func embeds(outer, inner *types.Named) bool {
	if outer == nil {
		return false
	}
	s, ok := outer.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if _, pointer := f.Type().Underlying().(*types.Pointer); f.Embedded() && !pointer && named(f.Type()) == inner {
			return true
		}
	}
	return false
}

// keeps reports whether a literal of a struct has a value for the field, other than an empty one or
// the new memory.
func keeps(p *gocode.Place, lit *ast.CompositeLit, m *made) bool {
	for _, elt := range lit.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			return true // all fields
		}
		if key, ok := kv.Key.(*ast.Ident); ok && key.Name == m.field.Name() {
			return kv.Value != m.value && !empty(p, kv.Value)
		}
	}
	return false
}

// examined reports whether a condition before a statement of the function, or around it, is about a
// field: whether it is too small, or too large to be kept.
func examined(p *gocode.Place, a *ast.AssignStmt, field *types.Var) bool {
	found := false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		var cond ast.Expr
		switch n := n.(type) {
		case *ast.IfStmt:
			cond = n.Cond
		case *ast.SwitchStmt:
			cond = n.Tag
		case *ast.CaseClause:
			for _, e := range n.List {
				found = found || e.Pos() < a.Pos() && mentions(p, e, field)
			}
		}
		found = found || cond != nil && cond.Pos() < a.Pos() && mentions(p, cond, field)
		return !found
	})
	return found
}

// mentions reports whether a node names a field.
func mentions(p *gocode.Place, n ast.Node, field *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		found = found || ok && is(p, sel, field)
		return !found
	})
	return found
}

// is reports whether a selector names a field.
func is(p *gocode.Place, sel *ast.SelectorExpr, field *types.Var) bool {
	v, ok := p.Object(sel.Sel).(*types.Var)
	return ok && v.Origin() == field
}

// named returns the named type of a value or of what a pointer points to; nil for other types.
func named(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Origin()
	}
	return nil
}
