package cachestampede

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// refills returns the owner of a shared cache that the function around a call looks into before it,
// with the same key, and fills after it; nil for none.
func refills(p *gocode.Place, call *ast.CallExpr, kept []store) *owner {
	o := p.Outer()
	looks := newUses(o)
	for _, cond := range guards(p, call) {
		looks.depends(cond, call, map[types.Object]bool{})
	}
	before := usesOf(o, statementOf(p, call), 2)
	looked := func(obj types.Object) bool { return looks.read[obj] && !before.set[obj] }
	for _, s := range kept {
		if by := s.owner(o); by != nil && s.found(o, looks, looked, call) {
			return by
		}
	}
	return refreshes(p, call, looked)
}

// statementOf returns the position of the assignment around a call, or of the call.
func statementOf(p *gocode.Place, call *ast.CallExpr) token.Pos {
	for _, n := range p.Enclosing(call) {
		if a, ok := n.(*ast.AssignStmt); ok {
			return a.Pos()
		}
		if n == p.Func {
			break
		}
	}
	return call.Pos()
}

// found reports whether the conditions above a call look for what a store keeps, or at a mark that
// is set with it, such as its time, if the function returns what is kept.
func (s store) found(p *gocode.Place, looks *uses, looked func(types.Object) bool, call *ast.CallExpr) bool {
	own, marks := s.objects(p)
	if slices.ContainsFunc(own, looked) && s.sameKey(p, looks) {
		return true
	}
	if slices.ContainsFunc(marks, looked) && slices.ContainsFunc(own, returned(p, call)) {
		return true
	}
	return s.call != nil && s.to != nil && slices.ContainsFunc(looks.asked, func(ask *ast.CallExpr) bool {
		return syntax.Same(p, syntax.Receiver(ask), s.to) && (len(s.call.Args) < 2 || slices.ContainsFunc(ask.Args, func(key ast.Expr) bool {
			return slices.ContainsFunc(s.call.Args, func(arg ast.Expr) bool { return types.ExprString(key) == types.ExprString(arg) })
		}))
	})
}

// sameKey reports whether an element of a map is stored with a key that was looked up.
func (s store) sameKey(p *gocode.Place, looks *uses) bool {
	if s.call == nil {
		at, ok := ast.Unparen(s.to).(*ast.IndexExpr)
		return !ok || looks.keys[types.ExprString(at.Index)]
	}
	return len(s.call.Args) < 2 || len(looks.keys) == 0 ||
		slices.ContainsFunc(s.call.Args, func(arg ast.Expr) bool { return looks.keys[types.ExprString(arg)] })
}

// owner returns the owner of what a store changes, nil if that is not shared.
func (s store) owner(p *gocode.Place) *owner {
	if s.to != nil || s.call == nil {
		return shared(p, s.to)
	}
	if own, _ := s.objects(p); slices.ContainsFunc(own, global) {
		return &owner{}
	}
	for _, arg := range s.call.Args {
		if by := shared(p, arg); by != nil {
			return by
		}
	}
	return nil
}

// returned returns a function that reports whether the function of a place returns a field or a
// package variable, apart from what a call returns.
func returned(p *gocode.Place, call *ast.CallExpr) func(types.Object) bool {
	u := newUses(p)
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				u.depends(e, call, map[types.Object]bool{})
			}
		}
		return true
	})
	return func(obj types.Object) bool { return u.read[obj] }
}

// refreshes returns the owner of what the called function stores, if the conditions above the call
// look for it, or for a mark of it and the function around the call returns it; nil if not.
func refreshes(p *gocode.Place, call *ast.CallExpr, looked func(types.Object) bool) *owner {
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil || p.LoopAround(call) != nil {
		return nil // the next of many, not a miss
	}
	o := p.Outer()
	inside, own, returned := usesOf(o.Entry(decl), token.NoPos, 2), usesOf(o, token.NoPos, 1), returned(o, call)
	var by *owner
	value, answer := false, false
	for obj := range inside.set {
		if looked(obj) && !own.set[obj] { // what it sets itself it uses up
			value = value || holdsValue(obj.Type())
			if by == nil && global(obj) {
				by = &owner{}
			} else if to := syntax.Receiver(call); by == nil && to != nil {
				by = shared(o, to)
			}
		}
		answer = answer || holdsValue(obj.Type()) && returned(obj)
	}
	if !value && !answer {
		return nil
	}
	return by
}

// depends adds what an expression reads, also through local variables and functions of the package,
// apart from a call.
func (u *uses) depends(e ast.Expr, without *ast.CallExpr, seen map[types.Object]bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.IndexExpr:
			u.keys[types.ExprString(n.Index)] = true
		case *ast.CallExpr:
			if n == without {
				return false
			}
			for _, arg := range n.Args {
				u.keys[types.ExprString(arg)] = true
			}
			u.called(n, 2)
		case *ast.Ident:
			obj := u.place.Object(n)
			if outlasts(obj) {
				u.read[obj] = true
			} else if v := syntax.LocalVar(u.place, n); v != nil && !seen[v] {
				seen[v] = true
				for _, from := range given(u.place, v) {
					u.depends(from, without, seen)
				}
			}
		}
		return true
	})
}

// given returns the expressions that a function assigns to a variable, also as one of several
// results, and those that it ranges over.
func given(p *gocode.Place, v *types.Var) (all []ast.Expr) {
	is := func(e ast.Expr) bool { return e != nil && syntax.LocalVar(p, e) == v }
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if is(lhs) {
					all = append(all, n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if is(name) && len(n.Values) > 0 {
					all = append(all, n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			if is(n.Key) || is(n.Value) {
				all = append(all, n.X)
			}
		}
		return true
	})
	return all
}
