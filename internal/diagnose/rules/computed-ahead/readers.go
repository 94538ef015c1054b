package computedahead

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// readers is how often code reads a field, for each unit of work.
type readers struct {
	runs  float64
	where string // the one that reads it most often
	known bool
}

// readsOf returns how often the loaded packages read a field, or a value that has it as a whole.
func (s *search) readsOf(p *gocode.Place, field *types.Var, keyed bool) readers {
	if r, ok := s.readers[field]; ok {
		return r
	}
	r := readers{known: !field.Exported() || p.Pkg.Name() == "main"}
	most := 0.0
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			in := p.Entry(decl)
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				if n == nil || !reads(in, n, field) {
					return true
				}
				if e, ok := n.(ast.Expr); ok && (keyed && named(e) && !element(in, e) || addressed(in, e)) {
					r.known = false // all elements, or it gets another name
				}
				runs, ok := evidence.ReachedAt(s.pass, in, n.Pos())
				if !ok {
					e, counted := evidence.ExecutionsAt(s.pass, in, n.Pos())
					runs, r.known = e.PerUnit, r.known && counted
				}
				if r.runs += runs; runs >= most {
					most, r.where = runs, syntax.Where(in, n.Pos())
				}
				return true
			})
		}
	}
	r.known = r.known && r.where != "" // else it is read in a way that is not seen
	s.readers[field] = r
	return r
}

// reads reports whether a node reads a field, or passes a value with it to a function of another
// package. Setting it, its elements or its length does not count.
func reads(p *gocode.Place, n ast.Node, field *types.Var) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		return p.Object(n.Sel) == field && !sets(p, n)
	case *ast.Ident:
		return !field.IsField() && p.Object(n) == field && !sets(p, n)
	case *ast.CallExpr:
		if boxed(p, n, field) {
			return true
		}
		fn := p.Callee(n)
		if fn == nil || fn.Pkg() == p.Pkg || fn.Pkg() == nil || fn.Pkg().Path() == "sync/atomic" {
			return false
		}
		return slices.ContainsFunc(n.Args, func(arg ast.Expr) bool { return holds(p.TypeOf(arg), field, deepest) })
	}
	return false
}

// sets reports whether an expression stands where it is set: it, an element of it, or with a method
// that stores; or where it is created or asked for its length.
func sets(p *gocode.Place, e ast.Expr) bool {
	n, indexed := ast.Node(e), false
	for {
		switch up := syntax.Parent(p, n).(type) {
		case *ast.IndexExpr:
			if up.X != n || indexed {
				return false
			}
			n, indexed = up, true
		case *ast.AssignStmt:
			return slices.ContainsFunc(up.Lhs, func(lhs ast.Expr) bool { return ast.Node(lhs) == n }) && up.Tok == token.ASSIGN
		case *ast.KeyValueExpr:
			return up.Key == n
		case *ast.SelectorExpr:
			return up.X == n && (slices.Contains([]string{"Store", "Set", "Add", "Put", "Delete", "Clear"}, up.Sel.Name) || up.Sel.Name == "Swap" && dropped(p, up))
		case *ast.CallExpr:
			name := p.CalleeName(up)
			return name == "delete" || name == "clear" || (name == "len" || name == "cap") && !indexed && syntax.IsMap(p.TypeOf(e))
		default:
			return false
		}
	}
}

// holds reports whether values of a type have a field, in any depth.
func holds(t types.Type, v *types.Var, depth int) bool {
	if depth == 0 || t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return holds(u.Elem(), v, depth-1)
	case *types.Slice:
		return holds(u.Elem(), v, depth-1)
	case *types.Array:
		return holds(u.Elem(), v, depth-1)
	case *types.Map:
		return holds(u.Elem(), v, depth-1)
	case *types.Struct:
		for f := range u.Fields() {
			if f == v || holds(f.Type(), v, depth-1) {
				return true
			}
		}
	}
	return false
}

// dropped reports whether the result of the method call that a selector is of is not used.
func dropped(p *gocode.Place, method *ast.SelectorExpr) bool {
	_, ok := syntax.Parent(p, syntax.Parent(p, method)).(*ast.ExprStmt)
	return ok
}

func named(e ast.Expr) bool {
	_, call := e.(*ast.CallExpr)
	return !call
}

// element reports whether an expression stands where one of its elements is read: m[k], m.Load(k).
func element(p *gocode.Place, e ast.Expr) bool {
	switch up := syntax.Parent(p, e).(type) {
	case *ast.IndexExpr:
		return up.X == e
	case *ast.SelectorExpr:
		call, ok := syntax.Parent(p, up).(*ast.CallExpr)
		return ok && call.Fun == ast.Expr(up) && len(call.Args) > 0 && up.Sel.Name != "Range"
	case *ast.BinaryExpr:
		return p.Info.Types[up.Y].IsNil()
	}
	return false
}

// addressed reports whether the address of an expression is taken.
func addressed(p *gocode.Place, e ast.Expr) bool {
	up, ok := syntax.Parent(p, e).(*ast.UnaryExpr)
	return ok && up.Op == token.AND
}

// boxed reports whether a call passes a value with a field as an interface, whose code may read it
// by reflection: writeJSON(w, x.status).
func boxed(p *gocode.Place, call *ast.CallExpr, field *types.Var) bool {
	sig, ok := p.TypeOf(call.Fun).(*types.Signature)
	if !ok {
		return false
	}
	for i, arg := range call.Args {
		n := min(i, sig.Params().Len()-1)
		if n < 0 {
			return false
		}
		t := sig.Params().At(n).Type()
		if list, ok := t.(*types.Slice); ok && sig.Variadic() && n == sig.Params().Len()-1 && !call.Ellipsis.IsValid() {
			t = list.Elem()
		}
		if types.IsInterface(t) && has(p, arg, field) {
			return true
		}
	}
	return false
}

// has reports whether an expression, or a value in it, has a field: also map[string]any{"x": v}.
func has(p *gocode.Place, e ast.Expr, field *types.Var) bool {
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		return slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			return has(p, e, field)
		})
	}
	return holds(p.TypeOf(e), field, deepest)
}
