package cloneforpart

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// copier returns the frame that calls a function of the program which copies all elements of a list
// or a map and returns the copy, in a row of the copying; -1 for other rows.
func (s *search) copier(r *site.Row) int {
	i := r.Owner
	if i < 0 || i+1 >= len(r.Stack) || r.Stack[i].Owner.Kind != gocode.Main || r.Stack[i+1].Owner.Kind != gocode.Main {
		return -1
	}
	pos := gocode.Pos{File: r.Stack[i].File, Line: r.Stack[i].Line}
	copies, seen := s.copies[pos]
	if !seen {
		p, ok := s.pass.Syntax.At(pos.File, pos.Line)
		copies = ok && p.Decl != nil && p.Func == ast.Node(p.Decl) && copiesAll(p)
		s.copies[pos] = copies
	}
	if !copies {
		return -1
	}
	return i + 1
}

// copiesAll reports whether a line is part of a copy of a collection that the function does not
// own, and does nothing with but return it.
func copiesAll(p *gocode.Place) bool {
	for _, n := range p.Decl.Body.List {
		to, from := copyIn(p, n)
		if to == nil || !kept(p, from) {
			continue
		}
		near, uses := syntax.Line(p, n.Pos()) <= p.Line && p.Line <= syntax.Line(p, n.End()), 0
		for _, id := range syntax.Uses(p, to) {
			if id.Pos() < n.End() {
				near = near || syntax.Line(p, id.Pos()) == p.Line
				continue
			}
			if ret, ok := syntax.Parent(p, id).(*ast.ReturnStmt); !ok || len(ret.Results) != 1 {
				return false
			}
			uses++
		}
		return near && uses > 0
	}
	return false
}

// copyIn returns the variable that a statement copies all elements of a collection to:
//
//	for k, v := range from { to[k] = v }
//	for _, v := range from { to = append(to, v) }
//	copy(to, from), maps.Copy(to, from), to := append([]T(nil), from...)
func copyIn(p *gocode.Place, n ast.Stmt) (to *types.Var, from ast.Expr) {
	switch n := n.(type) {
	case *ast.RangeStmt:
		if len(n.Body.List) != 1 || n.Value == nil {
			return nil, nil
		}
		a, ok := n.Body.List[0].(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return nil, nil
		}
		if at, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr); ok && syntax.Same(p, at.Index, n.Key) && syntax.Same(p, a.Rhs[0], n.Value) {
			return syntax.LocalVar(p, at.X), n.X
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if ok && p.CalleeName(call) == "append" && len(call.Args) == 2 && syntax.Same(p, call.Args[0], a.Lhs[0]) && syntax.Same(p, call.Args[1], n.Value) {
			return syntax.LocalVar(p, a.Lhs[0]), n.X
		}
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return nil, nil
		}
		if name := p.CalleeName(call); name == "copy" || name == "maps.Copy" {
			return syntax.LocalVar(p, call.Args[0]), call.Args[1]
		}
	case *ast.AssignStmt:
		if len(n.Lhs) != 1 || len(n.Rhs) != 1 || n.Tok != token.DEFINE {
			return nil, nil
		}
		call, ok := ast.Unparen(n.Rhs[0]).(*ast.CallExpr)
		if ok && p.CalleeName(call) == "append" && len(call.Args) == 2 && call.Ellipsis.IsValid() && empty(p, call.Args[0]) {
			return syntax.LocalVar(p, n.Lhs[0]), call.Args[1]
		}
	}
	return nil, nil
}

// empty reports whether an expression is a new slice without elements.
func empty(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		_, conversion := p.Conversion(e)
		return conversion && len(e.Args) == 1 && p.Info.Types[e.Args[0]].IsNil()
	}
	return false
}

// kept reports whether a collection is a field or a variable of the package.
func kept(p *gocode.Place, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		v, ok := p.Object(e.Sel).(*types.Var)
		return ok && v.IsField()
	case *ast.Ident:
		v, ok := p.Object(e).(*types.Var)
		return ok && v.Parent() == p.Pkg.Scope()
	}
	return false
}

// shallow reports whether a call copies the elements of a list or a map only.
func shallow(p *gocode.Place, call *ast.CallExpr) bool {
	name := p.CalleeName(call)
	return name == "maps.Clone" || name == "slices.Clone"
}

// once reports whether each use of the variable that gets a copy runs as often as the copy: a loop
// over it may use all elements.
func once(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.LocalVar(p, syntax.AssignedTo(p, result(p, call)))
	if v == nil {
		return true
	}
	for _, id := range syntax.Reads(p, v) {
		if len(loops.Around(p.Outer(), id)) != len(loops.Around(p.Outer(), call)) {
			return false
		}
	}
	return true
}
