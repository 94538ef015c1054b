package walkperroot

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// overlaps reports whether the walks visit the same nodes: they look all nodes up in one list or
// map, which has fewer elements than the walks visit nodes.
func (s *search) overlaps(w *walk) bool {
	found := false
	ast.Inspect(w.region, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			found = found || s.looked(w, w.in, n, nil)
		case *ast.CallExpr:
			found = found || s.inCallee(w, n)
		}
		return !found
	})
	return found
}

// inCallee is [search.looked] for a method that only looks a node up.
func (s *search) inCallee(w *walk, call *ast.CallExpr) (found bool) {
	to := syntax.Receiver(call)
	fn := w.in.Callee(call)
	if to == nil || fn == nil || w.varies(to) {
		return false
	}
	q, ok := s.pass.Syntax.Declared(fn)
	if !ok || q.Decl == nil || len(q.Decl.Body.List) > 3 {
		return false
	}
	ast.Inspect(q.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return false
		case *ast.IndexExpr:
			found = found || s.looked(w, q, n, call)
		}
		return !found
	})
	return found
}

// varies reports whether the object of an expression is another one for each node.
func (w *walk) varies(e ast.Expr) bool {
	v, _ := syntax.Var(w.in, e)
	return v == nil || syntax.Inside(w.region, v.Pos()) || w.isNode(v.Type())
}

// looked reports whether an expression looks a node up in a list or map that all walks share, and
// notes how many elements that has. through is the call of the method that does; nil for none.
func (s *search) looked(w *walk, p *gocode.Place, ix *ast.IndexExpr, through *ast.CallExpr) bool {
	if _, constant := p.Const(ix.Index); constant || !container(p.TypeOf(ix.X)) {
		return false
	}
	v, _ := syntax.Var(p, ix.X)
	if v == nil || v == w.set || through == nil && w.varies(ix.X) {
		return false
	}
	if through == nil && syntax.Param(p, v) && syntax.LocalVar(p, ix.X) == v {
		return s.given(w, v)
	}
	field := kept.Field(p, ix.X)
	if field == nil {
		return false
	}
	return w.counts(s.length(field), field.Name())
}

func container(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Map, *types.Slice:
		return true
	}
	return false
}

// counts notes the number of nodes, if walks visit them often enough.
func (w *walk) counts(n float64, list string) bool {
	if n <= 0 || n < w.visits || w.roots.Items*w.visits < leastVisits*n {
		return false
	}
	w.list, w.nodes = list, n
	return true
}

// given is [search.looked] for a list or map that is a parameter.
func (s *search) given(w *walk, v *types.Var) bool {
	if w.in.Decl != w.start.Decl {
		for _, arg := range flow.Passed(s.pass.Syntax, w.in, v) {
			if arg.Decl == w.start.Decl {
				v = syntax.LocalVar(arg.Place, arg.Value)
			}
		}
	}
	call, ok := w.roots.Node.(*ast.CallExpr)
	if !ok || v == nil || w.roots.Place.Decl == w.start.Decl {
		return false
	}
	p := w.roots.Place
	arg := flow.ArgumentFor(w.start, call, v)
	if arg == nil {
		return false
	}
	if r, ok := w.roots.Loop.(*ast.RangeStmt); ok && syntax.Same(p, r.X, arg) {
		if l, ok := s.pass.Counts.Loop(p.Pkg.Path(), p.Fset.Position(r.Pos()).Filename, syntax.Line(p, r.Pos())); ok {
			return w.counts(l.Iterations, syntax.Text(arg))
		}
	}
	field := kept.Field(p, arg)
	return field != nil && w.counts(s.length(field), field.Name())
}

// length returns the largest mean number of iterations of loops over a field or package variable; 0
// if none was counted.
func (s *search) length(v *types.Var) (n float64) {
	p, ok := s.pass.Syntax.Package(v.Pkg().Path())
	if !ok {
		return 0
	}
	for _, file := range p.Files() {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				n = max(n, longest(s.pass, p.Entry(fn), v))
			}
		}
	}
	return n
}

// longest returns the largest mean number of iterations of a function's loops over a variable.
func longest(pass *rule.Pass, p *gocode.Place, v *types.Var) (n float64) {
	ast.Inspect(p.Decl.Body, func(node ast.Node) bool {
		r, ok := node.(*ast.RangeStmt)
		if !ok || !over(p, r.X, v) {
			return true
		}
		if l, ok := pass.Counts.Loop(p.Pkg.Path(), p.Fset.Position(r.Pos()).Filename, syntax.Line(p, r.Pos())); ok {
			n = max(n, l.Iterations)
		}
		return true
	})
	return n
}

// over reports whether an expression is a variable, or what a method returns that does nothing but
// return it.
func over(p *gocode.Place, e ast.Expr, v *types.Var) bool {
	e = syntax.Origin(p, e)
	if call, ok := e.(*ast.CallExpr); ok {
		if q, result := syntax.Returned(p, call); q != nil {
			return kept.Field(q, result) == v
		}
	}
	return kept.Field(p, e) == v
}
