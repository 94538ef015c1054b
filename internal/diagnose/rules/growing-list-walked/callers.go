package growinglistwalked

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// levels is how many callers above a walk may have the loop that links nodes.
	levels = 8
	// depth is how many functions below that loop may link them.
	depth = 2
)

// growsBetween reports whether a row's walk is below a loop that links nodes between two walks.
func (s *search) growsBetween(w *walk, r *site.Row) bool {
	for i := r.Owner + 1; i < len(r.Stack) && i <= r.Owner+levels; i++ {
		if k := r.Stack[i].Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			return false
		}
		if w.callers.At(r.Stack[i], r.Stack[i-1]) != nil {
			return true
		}
	}
	return false
}

// between returns a call in the innermost loop around the call of a function, for what is reached
// from the same variable, which links nodes; nil for none.
func (s *search) between(w *walk, f, below *site.Frame) (found *ast.CallExpr) {
	p, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok {
		return nil
	}
	call := loops.CallTo(p, below.Function)
	if call == nil {
		return nil
	}
	around := loops.Around(p, call)
	if len(around) == 0 {
		return nil
	}
	walked := roots(p, call)
	ast.Inspect(loops.Body(around[0]), func(n ast.Node) bool {
		other, ok := n.(*ast.CallExpr)
		if !ok || found != nil || other == call {
			return found == nil
		}
		shared := slices.ContainsFunc(roots(p, other), func(v *types.Var) bool { return slices.Contains(walked, v) })
		if shared && s.links(w, p.Callee(other), depth) {
			found = other
		}
		return found == nil
	})
	return found
}

// links reports whether a function links nodes, itself or in functions that it calls.
func (s *search) links(w *walk, fn *types.Func, depth int) (found bool) {
	p, ok := s.pass.Syntax.Declared(fn)
	if !ok || p.Decl == nil || p.Decl.Body == nil {
		return false
	}
	if slices.ContainsFunc(w.sets, func(n set) bool { return !n.unlinks && syntax.Within(p.Decl, n.at) }) {
		return true
	}
	if depth == 0 {
		return false
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !found {
			found = s.links(w, p.Callee(call), depth-1)
		}
		return !found
	})
	return found
}

// roots returns the variables from which a call reaches its receiver and arguments, or what those
// are made of.
func roots(p *gocode.Place, call *ast.CallExpr) (all []*types.Var) {
	of := slices.Clone(call.Args)
	if to := syntax.Receiver(call); to != nil {
		of = append(of, to)
	}
	for _, e := range of {
		for _, from := range []ast.Expr{e, syntax.Origin(p, e)} {
			ast.Inspect(from, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if v, ok := p.Object(id).(*types.Var); ok && !v.IsField() && syntax.HoldsPointers(v.Type()) {
						all = append(all, v)
					}
				}
				return true
			})
		}
	}
	return all
}
