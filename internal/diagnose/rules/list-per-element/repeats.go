package listperelement

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// repeats reports whether the inner loop, of which body may be nil if it is in another function,
// does the same in each iteration of the outer one, but for an element that both are at.
func repeats(p *gocode.Place, n *nest, outer, body *ast.BlockStmt) bool {
	r := &repetition{Place: p, nest: n, body: body, wrote: map[*types.Var]bool{}}
	ast.Inspect(outer, r.writes)
	ast.Inspect(outer, r.follow)
	list := syntax.Named(p, n.again.List)
	return !r.differs && (list == nil || !r.wrote[list.Origin()])
}

// repetition follows what the outer loop changes and the inner one reads.
type repetition struct {
	*gocode.Place
	nest  *nest
	body  *ast.BlockStmt      // of the inner loop
	wrote map[*types.Var]bool // variables and fields from outside that the outer loop sets
	// differs says that the inner loop may do something else the next time.
	differs bool
}

// writes records what a node in the outer loop sets that outlives its iteration.
func (r *repetition) writes(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			r.set(lhs)
		}
	case *ast.IncDecStmt:
		r.set(n.X)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			r.set(n.X)
		}
	}
	return true
}

func (r *repetition) set(e ast.Expr) {
	if v := r.target(e); v != nil && !r.iteration(v) {
		r.wrote[v.Origin()] = true
		r.differs = r.differs || r.elements(e)
	}
}

// target returns the variable or field that an assignment changes, also by an element of it.
func (r *repetition) target(e ast.Expr) *types.Var {
	for {
		at, ok := ast.Unparen(e).(*ast.IndexExpr)
		if !ok {
			return syntax.Named(r.Place, e)
		}
		e = at.X
	}
}

// elements reports whether an assigned expression is a part of an element of a loop: the next
// iterations see it.
func (r *repetition) elements(e ast.Expr) bool {
	for {
		if r.nest.all.Is(r.Place, e) || r.nest.again.Is(r.Place, e) {
			return true
		}
		switch x := ast.Unparen(e).(type) {
		case *ast.SelectorExpr:
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

// iteration reports whether a variable is one of an iteration of the outer loop.
func (r *repetition) iteration(v *types.Var) bool { return syntax.Inside(r.nest.outer, v.Pos()) }

// follow looks for what makes a run of the inner loop different from the one before.
func (r *repetition) follow(n ast.Node) bool {
	inside := n != nil && r.body != nil && syntax.Within(r.body, n)
	switch n := n.(type) {
	case *ast.GoStmt, *ast.SendStmt, *ast.DeferStmt, *ast.SelectStmt:
		r.differs = true
	case *ast.FuncLit:
		r.differs = r.differs || inside
	case *ast.ExprStmt:
		if !inside && r.elsewhere(n.X) {
			return false
		}
		r.differs = true // a call for its effect
	case *ast.AssignStmt:
		r.differs = r.differs || inside && r.collects(n)
	case *ast.CallExpr:
		r.differs = r.differs || !r.harmless(n)
	case *ast.BinaryExpr:
		if inside && (r.position(n) || r.decided(n)) {
			return false
		}
	case *ast.Ident:
		r.differs = r.differs || inside && r.varies(n)
	}
	return !r.differs
}

// elsewhere reports whether a call is of the standard library and does not get the list: it writes,
// or prints, but does not change what the inner loop reads.
func (r *repetition) elsewhere(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := r.Callee(call)
	if fn == nil || fn.Pkg() == nil || !symbol.Standard(fn.Pkg().Path()) {
		return false
	}
	list, _ := syntax.Var(r.Place, r.nest.again.List)
	return !slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
		v, _ := syntax.Var(r.Place, arg)
		return v != nil && v == list
	})
}

// decided reports whether a comparison is one of the outer loop's element alone, so that it has the
// same result in all iterations of a run of the inner loop. The two cases are computed once each.
func (r *repetition) decided(b *ast.BinaryExpr) bool {
	if t := r.TypeOf(b); t == nil || !flag(t) {
		return false
	}
	outer := true
	ast.Inspect(b, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, isVar := r.Object(id).(*types.Var)
			outer = outer && (!isVar || !r.wrote[v.Origin()] && (v.IsField() || !syntax.Inside(r.nest.inner, v.Pos())))
		}
		return outer
	})
	return outer
}

// collects reports whether a statement of the inner loop makes a list of what it finds, which is as
// long as the work takes, or sets something for good.
func (r *repetition) collects(a *ast.AssignStmt) bool {
	for i, lhs := range a.Lhs {
		if _, element := ast.Unparen(lhs).(*ast.IndexExpr); element {
			return true
		}
		if len(a.Lhs) != len(a.Rhs) {
			continue
		}
		call, ok := ast.Unparen(a.Rhs[i]).(*ast.CallExpr)
		if ok && r.CalleeName(call) == "append" {
			return true
		}
	}
	return false
}

// harmless reports whether a call visibly changes nothing, and returns the same each time.
func (r *repetition) harmless(call *ast.CallExpr) bool {
	if _, conversion := r.Conversion(call); conversion {
		return true
	}
	fn := r.Callee(call)
	if fn == nil {
		return funcname.Match(r.CalleeName(call), "len", "cap", "min", "max", "append", "make", "new")
	}
	if effects.Impure(fn) || effects.Changes(fn) || funcname.Match(fn.Name(), "Pop*", "Take*", "Read*", "Write*", "Add*", "Set*", "Remove*") {
		return false
	}
	if decl := r.Declaration(fn); decl != nil && decl.Body != nil {
		in := r.Entry(decl)
		return effects.ChangesNothing(in) && !r.reads(in, 3)
	}
	return true
}

// reads reports whether a function reads what the outer loop sets, or one of its package that it
// calls.
func (r *repetition) reads(in *gocode.Place, depth int) (found bool) {
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, ok := in.Object(n).(*types.Var)
			found = found || ok && r.wrote[v.Origin()]
		case *ast.CallExpr:
			if decl := in.Declaration(in.Callee(n)); depth > 1 && decl != nil && decl.Body != nil {
				found = found || r.reads(in.Entry(decl), depth-1)
			}
		}
		return !found
	})
	return found
}

// position reports whether a comparison asks whether both loops are at the same element, or whether
// one is at a certain place: i == j, x != y for pointers.
func (r *repetition) position(b *ast.BinaryExpr) bool {
	if b.Op != token.EQL && b.Op != token.NEQ {
		return false
	}
	all, again := r.nest.all, r.nest.again
	at := func(e ast.Expr, v *types.Var) bool { return v != nil && syntax.LocalVar(r.Place, e) == v }
	if at(b.X, all.Index) && at(b.Y, again.Index) || at(b.Y, all.Index) && at(b.X, again.Index) {
		return true
	}
	return (all.Is(r.Place, b.X) && again.Is(r.Place, b.Y) || all.Is(r.Place, b.Y) && again.Is(r.Place, b.X)) && identity(r.TypeOf(b.X))
}

// identity reports whether values of a type are equal only if they are the same object.
func identity(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return true
	}
	return false
}

// varies reports whether an identifier in the inner loop has another value in another iteration of
// the outer one: its element or index, what it computes from that, or what it changes. Flags, and
// variables of an iteration that the inner loop only computes, do not count.
func (r *repetition) varies(id *ast.Ident) bool {
	v, ok := r.Object(id).(*types.Var)
	if !ok || syntax.Inside(r.nest.inner, v.Pos()) && !v.IsField() {
		return false
	}
	if !v.IsField() && (v == r.nest.all.Index || v == r.nest.all.Value) {
		return true
	}
	if r.assigned(id) {
		return false
	}
	if v.IsField() || !r.iteration(v) {
		return r.wrote[v.Origin()]
	}
	return !r.listLike(v) && !flag(v.Type()) && !r.fresh(v)
}

// assigned reports whether an identifier is what a statement assigns to, alone or as the field x.f.
func (r *repetition) assigned(id *ast.Ident) bool {
	e := ast.Expr(id)
	if sel, ok := syntax.Parent(r.Place, id).(*ast.SelectorExpr); ok && sel.Sel == id {
		e = sel
	}
	switch up := syntax.Parent(r.Place, e).(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		for _, lhs := range up.Lhs {
			if ast.Unparen(lhs) == e {
				return true
			}
		}
	}
	return false
}

// listLike reports whether a variable is the list of the inner loop.
func (r *repetition) listLike(v *types.Var) bool {
	return syntax.LocalVar(r.Place, r.nest.again.List) == v
}

// flag reports whether a type is bool: of the two cases, each can be computed once.
func flag(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// fresh reports whether a variable starts with the same value in each iteration of the outer loop:
// a constant, nothing, or the length of the list.
func (r *repetition) fresh(v *types.Var) bool {
	stmt, value := syntax.Declared(r.Place, v)
	if stmt == nil {
		return syntax.IsResult(r.Place, v) // of a function that the outer loop calls
	}
	if value == nil {
		spec, ok := stmt.(*ast.ValueSpec)
		return ok && len(spec.Values) == 0
	}
	same := true
	ast.Inspect(value, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			w, isVar := r.Object(id).(*types.Var)
			same = same && (!isVar || r.listLike(w) || !w.IsField() && !r.iteration(w) && !r.wrote[w.Origin()])
		}
		return same
	})
	return same
}
