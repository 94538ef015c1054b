package caching

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Shape is a function that looks up a key in a cache, and stores the value on a miss.
type Shape struct {
	Cache, Key    ast.Expr
	Lookup, Store ast.Node
	// StoredAt is where a function that Store calls stores the value; NoPos if Store itself does.
	StoredAt token.Pos
}

// Around is [Of] for the function around a place or, if that is a literal, such as one that a
// singleflight.Group runs, for the function around the literal.
func Around(p *gocode.Place) (Shape, bool) {
	if s, ok := Of(p); ok || p.Decl == nil || p.Func == p.Decl {
		return s, ok
	}
	return Of(p.Outer())
}

// Of returns the first cache that the function around a place looks up and fills with the same
// key, if the function returns what it finds.
func Of(p *gocode.Place) (Shape, bool) {
	return find(p, func(s *Shape, a *ast.AssignStmt, v *types.Var) bool {
		body := syntax.Body(p)
		if !returned(p, body, v, s.Store) || s.state(p, a, v) {
			return false
		}
		_, index := ast.Unparen(a.Rhs[0]).(*ast.IndexExpr)
		return !index || len(a.Lhs) > 1 || tested(p, body, v) // else a list that grows, or a state for each key
	})
}

// InPlace returns the first cache that the function around a place looks up and, on a miss, fills
// with a value that it also assigns to the variable of the lookup: if !ok { v = f(k); c.Put(k, v)
// }. The function uses v afterwards, on a hit and on a miss. computes is the call whose result v
// gets; nil if it gets something else, such as an address.
func InPlace(p *gocode.Place) (s Shape, computes *ast.CallExpr, ok bool) {
	s, ok = find(p, func(s *Shape, a *ast.AssignStmt, v *types.Var) bool {
		computes = nil
		sets := false
		miss := missed(p, a, v, s.Store)
		if miss == nil {
			return false
		}
		for _, stmt := range miss.Body.List {
			set, ok := stmt.(*ast.AssignStmt)
			if ok && set.Tok == token.ASSIGN && len(set.Rhs) == 1 && syntax.Named(p, set.Lhs[0]) == v {
				computes, _ = ast.Unparen(set.Rhs[0]).(*ast.CallExpr)
				sets = true
			}
		}
		used := slices.ContainsFunc(syntax.Reads(p, v), func(id *ast.Ident) bool { return id.Pos() > miss.End() })
		return sets && used
	})
	return s, computes, ok
}

// missed returns the statement that runs if a lookup finds nothing, and stores a value: if !ok, if
// v == nil.
func missed(p *gocode.Place, lookup *ast.AssignStmt, v *types.Var, store ast.Node) *ast.IfStmt {
	for _, n := range p.Enclosing(store) {
		c, ok := n.(*ast.IfStmt)
		if !ok || c.Else != nil || c.Pos() < lookup.End() {
			continue
		}
		if misses(p, lookup, v, c.Cond) {
			return c
		}
	}
	return nil
}

// find returns the first lookup that is followed by a store with the same key, if a function
// accepts it.
func find(p *gocode.Place, accepts func(s *Shape, lookup *ast.AssignStmt, v *types.Var) bool) (Shape, bool) {
	body := syntax.Body(p)
	if body == nil {
		return Shape{}, false
	}
	var found Shape
	ok := false
	ast.Inspect(body, func(n ast.Node) bool {
		a, isAssign := n.(*ast.AssignStmt)
		if ok || !isAssign || len(a.Rhs) != 1 || len(a.Lhs) == 0 {
			return !ok
		}
		s := Shape{Lookup: a}
		if !s.asks(p, a) {
			return true
		}
		v, _ := syntax.Var(p, a.Lhs[0])
		if v == nil || !s.filled(p, body, a.End()) || !accepts(&s, a, v) {
			return true
		}
		found, ok = s, true
		return false
	})
	return found, ok
}

// asks reports whether an assignment is a lookup: v, ok := m[k]; v := m[k]; v, ok := c.Get(k); v :=
// c.Get(k).
func (s *Shape) asks(p *gocode.Place, a *ast.AssignStmt) bool {
	switch x := ast.Unparen(a.Rhs[0]).(type) {
	case *ast.IndexExpr:
		t := p.TypeOf(x.X)
		if t == nil {
			return false
		}
		m, isMap := t.Underlying().(*types.Map)
		if !isMap || isSet(m) || len(a.Lhs) != 2 && !refers(m.Elem()) {
			return false
		}
		s.Cache, s.Key = x.X, x.Index
		return true
	case *ast.CallExpr:
		sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		if !ok || len(x.Args) == 0 || !named(sel, "Get", "Load", "Lookup", "Peek", "Find", "GetIfPresent", "Cached") {
			return false
		}
		s.Cache, s.Key = sel.X, x.Args[len(x.Args)-1]
		return true
	}
	return false
}

// named reports whether a method has one of some names, exported or not.
func named(sel *ast.SelectorExpr, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, sel.Sel.Name) })
}

// refers reports whether the zero value of a type says that there is no entry: v := m[k]; if v !=
// nil.
func refers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface, *types.Signature:
		return true
	case *types.Basic:
		return u.Info()&types.IsString != 0
	}
	return false
}

// tested reports whether the function returns at once if a variable is not the zero value: if v !=
// nil { return v }.
func tested(p *gocode.Place, body ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		c, ok := n.(*ast.IfStmt)
		if !ok || found || len(c.Body.List) == 0 {
			return !found
		}
		b, ok := ast.Unparen(c.Cond).(*ast.BinaryExpr)
		if ok && b.Op == token.NEQ && syntax.Named(p, b.X) == v && zero(p, b.Y) {
			_, found = c.Body.List[len(c.Body.List)-1].(*ast.ReturnStmt)
		}
		return !found
	})
	return found
}

func zero(p *gocode.Place, e ast.Expr) bool {
	text, ok := syntax.ConstString(p, e)
	return p.Info.Types[e].IsNil() || ok && text == ""
}

// same reports whether two expressions denote the same key: the same variable, or the same call
// with the same arguments, such as keyOf(id).
func same(p *gocode.Place, a, b ast.Expr) bool {
	x, ok := ast.Unparen(a).(*ast.CallExpr)
	y, also := ast.Unparen(b).(*ast.CallExpr)
	if !ok || !also {
		return syntax.Same(p, a, b)
	}
	return types.ExprString(x) == types.ExprString(y) && slices.EqualFunc(x.Args, y.Args, func(a, b ast.Expr) bool {
		_, constant := p.Const(a)
		return constant || same(p, a, b)
	})
}

func isSet(m *types.Map) bool {
	switch t := m.Elem().Underlying().(type) {
	case *types.Struct:
		return t.NumFields() == 0
	case *types.Basic:
		return t.Kind() == types.Bool
	}
	return false
}

// filled reports whether the same key is stored after a position.
func (s *Shape) filled(p *gocode.Place, body ast.Node, after token.Pos) bool {
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil || s.Store != nil {
			return false
		}
		if n.End() <= after {
			return false
		}
		switch x := n.(type) {
		case *ast.AssignStmt:
			if len(x.Lhs) == 1 && x.Tok == token.ASSIGN {
				if i, ok := ast.Unparen(x.Lhs[0]).(*ast.IndexExpr); ok && x.Pos() >= after && syntax.Same(p, i.X, s.Cache) && same(p, i.Index, s.Key) {
					s.Store = x
				}
			}
		case *ast.CallExpr:
			if x.Pos() >= after && (s.stores(p, x, s.Cache, s.Key) || s.storesBelow(p, x)) {
				s.Store = x
			}
		}
		return s.Store == nil
	})
	return s.Store != nil
}

// stores reports whether a call is of a method of the cache that stores a value for a key.
func (s *Shape) stores(p *gocode.Place, call *ast.CallExpr, cache, key ast.Expr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && named(sel, "Add", "Set", "Put", "Store", "Insert", "SetDefault", "SetWithTTL", "LoadOrStore", "PutIfAbsent", "Save", "Keep", "Remember", "Cache") &&
		len(call.Args) >= 2 && syntax.Same(p, sel.X, cache) && slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return same(p, e, key) })
}

// storesBelow reports whether a call is of a function of the package that gets the key and stores a
// value for it in the same field or variable.
func (s *Shape) storesBelow(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	i := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return same(p, e, s.Key) })
	cache := syntax.Named(p, s.Cache)
	if decl == nil || decl.Body == nil || i < 0 || len(call.Args) < 2 || fn.Signature().Variadic() || decl == p.Decl || cache == nil {
		return false
	}
	in, key := p.Entry(decl), fn.Signature().Params().At(i)
	found := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if found || n == nil {
			return false
		}
		switch x := n.(type) {
		case *ast.AssignStmt:
			if e, ok := ast.Unparen(x.Lhs[0]).(*ast.IndexExpr); ok && len(x.Lhs) == 1 && x.Tok == token.ASSIGN {
				found = syntax.Named(in, e.X) == cache && syntax.Named(in, e.Index) == key
			}
		case *ast.CallExpr:
			sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
			if ok && syntax.Named(in, sel.X) == cache && len(x.Args) > 0 && syntax.Named(in, x.Args[0]) == key {
				found = s.stores(in, x, sel.X, x.Args[0])
			}
		}
		if found {
			s.StoredAt = n.Pos()
		}
		return !found
	})
	return found
}

// returned reports whether a function returns a variable, or an expression that uses it. The result
// of a call that stores it, return c.Put(key, v), is another value.
func returned(p *gocode.Place, body ast.Node, v *types.Var, store ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		if !ok {
			return !found
		}
		ast.Inspect(r, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && call == store && errorOnly(p, call) {
				return false
			}
			if id, ok := n.(*ast.Ident); ok && p.Object(id) == v {
				found = true
			}
			return !found
		})
		return false
	})
	return found
}

// errorOnly reports whether a call returns an error and nothing else.
func errorOnly(p *gocode.Place, call *ast.CallExpr) bool {
	t := p.TypeOf(call)
	return t != nil && types.Identical(t, types.Universe.Lookup("error").Type())
}

// Computes reports whether a line is one of those that run on a miss, before the value is stored.
func (s Shape) Computes(p *gocode.Place) bool {
	return p.Line > syntax.Line(p, s.Lookup.Pos()) && p.Line <= syntax.Line(p, s.Store.End())
}

// Creates reports whether a miss stores an empty object, and computes nothing: a state for each
// key, such as a group of elements, is not a cache: its first lookup always finds nothing.
func (s Shape) Creates(p *gocode.Place) bool {
	empty := true
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < s.Lookup.End() || call.End() > s.Store.End() || call == s.Store {
			return empty
		}
		if _, conversion := p.Conversion(call); conversion {
			return empty
		}
		switch p.CalleeName(call) {
		case "new", "len", "cap":
		case "make":
			empty = empty && len(call.Args) == 1
		default:
			empty = false
		}
		return empty
	})
	return empty
}
