package copiedperpiece

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// shape is a function that returns a new slice with all elements of two others.
type shape struct {
	made        ast.Expr // creates the slice
	joins       bool     // it also copies both operands
	operands    [2]operand
	from, until int // lines
}

// operand is a slice that is copied as a whole.
type operand struct {
	of    ast.Expr
	param *types.Var // the parameter that it is, or is a field of
	loop  ast.Stmt   // that copies it; nil for a call
}

// shapeOf recognizes
//
//	out := make([]T, 0, len(a)+len(b))  or  make([]T, len(a)+len(b))
//
// for two parameters or fields of them, which calls of append or copy, or loops over them, put into
// out, and which the function returns, also as part of a literal.
func shapeOf(p *gocode.Place) *shape {
	if p.Decl == nil || p.Decl != p.Func || p.Decl.Body == nil {
		return nil
	}
	var sh *shape
	var out *types.Var
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && sh == nil && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
			if sh = madeFor(p, a.Rhs[0]); sh != nil {
				out = syntax.LocalVar(p, a.Lhs[0])
			}
		}
		return sh == nil
	})
	if sh == nil || out == nil || sh.operands[0].param == sh.operands[1].param {
		return nil
	}
	sh.from, sh.until = syntax.Line(p, sh.made.Pos()), syntax.Line(p, p.Decl.End())
	for i := range sh.operands {
		if !sh.operands[i].copied(p, out) {
			return nil
		}
	}
	if !returned(p, out) {
		return nil
	}
	return sh
}

// madeFor returns the operands for which a call of make has room.
func madeFor(p *gocode.Place, e ast.Expr) *shape {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "make" || len(call.Args) < 2 {
		return nil
	}
	sum, ok := ast.Unparen(call.Args[len(call.Args)-1]).(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD {
		return nil
	}
	sh := &shape{made: call}
	for i, e := range []ast.Expr{sum.X, sum.Y} {
		length, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || p.CalleeName(length) != "len" || len(length.Args) != 1 {
			return nil
		}
		v, _ := syntax.Var(p, length.Args[0])
		if v == nil || !syntax.Param(p, v) {
			return nil
		}
		sh.operands[i] = operand{of: length.Args[0], param: v}
	}
	return sh
}

// copied reports whether the function copies all of an operand to a variable, and records the loop.
func (o *operand) copied(p *gocode.Place, out *types.Var) (found bool) {
	to := func(e ast.Expr) bool {
		if s, ok := ast.Unparen(e).(*ast.SliceExpr); ok {
			e = s.X
		}
		return syntax.LocalVar(p, e) == out
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if syntax.Same(p, n.X, o.of) && len(n.Body.List) == 1 && puts(p, n, out) {
				o.loop, found = n, true
			}
		case *ast.CallExpr:
			name := p.CalleeName(n)
			if (name == "copy" || name == "append" && n.Ellipsis.IsValid()) && len(n.Args) == 2 && to(n.Args[0]) && syntax.Same(p, n.Args[1], o.of) {
				found = true
			}
		}
		return true
	})
	return found
}

// puts reports whether each iteration of a loop puts its element into a slice.
func puts(p *gocode.Place, r *ast.RangeStmt, out *types.Var) bool {
	a, ok := r.Body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || r.Value == nil {
		return false
	}
	elem, value := syntax.LocalVar(p, r.Value), a.Rhs[0]
	if at, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr); ok {
		return syntax.LocalVar(p, at.X) == out && elem != nil && syntax.LocalVar(p, value) == elem
	}
	call, ok := ast.Unparen(value).(*ast.CallExpr)
	return ok && p.CalleeName(call) == "append" && len(call.Args) == 2 && syntax.LocalVar(p, a.Lhs[0]) == out &&
		syntax.LocalVar(p, call.Args[0]) == out && elem != nil && syntax.LocalVar(p, call.Args[1]) == elem
}

// returned reports whether the last statement returns a variable, or a literal or call that has it.
func returned(p *gocode.Place, out *types.Var) (found bool) {
	list := p.Decl.Body.List
	if ret, ok := list[len(list)-1].(*ast.ReturnStmt); ok {
		ast.Inspect(ret, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && syntax.LocalVar(p, e) == out {
				found = true
			}
			return !found
		})
	}
	return found
}
