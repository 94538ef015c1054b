package discardederror

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// unread reports whether the error that a call returns is dropped, or only compared with nil or, by
// errors.Is, with another error. test is the if statement whose condition is that comparison, when
// there is one. Code that errors do not reach for which errors.Is holds may read the others.
func unread(p *gocode.Place, call *ast.CallExpr) (test *ast.IfStmt, ok bool) {
	a, ok := syntax.Parent(p, call).(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || len(a.Lhs) == 0 {
		return nil, false
	}
	id, ok := a.Lhs[len(a.Lhs)-1].(*ast.Ident)
	if !ok {
		return nil, false
	}
	if id.Name == "_" {
		return nil, true
	}
	v := syntax.LocalVar(p, id)
	if v == nil || syntax.IsResult(p, v) {
		return nil, false
	}
	until := reassigned(p, v, a)
	var is *ast.IfStmt // whose condition is errors.Is
	for _, read := range syntax.Reads(p, v) {
		if read.Pos() < a.End() || until.IsValid() && read.Pos() > until {
			continue
		}
		if in := comparesTo(p, read); in != nil {
			if is == nil {
				is, test = in, in
			}
			continue
		}
		if is != nil && leavesOut(is, read) {
			continue
		}
		cond, compared := syntax.Parent(p, read).(*ast.BinaryExpr)
		if !compared || cond.Op != token.EQL && cond.Op != token.NEQ || !isNil(cond.X) && !isNil(cond.Y) {
			return nil, false
		}
		if in, ok := syntax.Parent(p, cond).(*ast.IfStmt); ok && in.Cond == cond && test == nil {
			test = in
		}
	}
	return test, true
}

// comparesTo returns the if statement whose condition is errors.Is of an error; nil for another use
// of the error.
func comparesTo(p *gocode.Place, read *ast.Ident) *ast.IfStmt {
	call, ok := syntax.Parent(p, read).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "errors.Is" || ast.Unparen(call.Args[0]) != ast.Expr(read) {
		return nil
	}
	in, ok := syntax.Parent(p, call).(*ast.IfStmt)
	if !ok || in.Cond != ast.Expr(call) {
		return nil
	}
	return in
}

// leavesOut reports whether a use of an error is not reached when the condition of an if statement
// holds.
func leavesOut(in *ast.IfStmt, read *ast.Ident) bool {
	if in.Else != nil && syntax.Inside(in.Else, read.Pos()) {
		return true
	}
	last := len(in.Body.List) - 1
	if last < 0 || read.Pos() < in.End() {
		return false
	}
	branch, ok := in.Body.List[last].(*ast.BranchStmt)
	return syntax.Departs(in.Body.List[last], true) || ok && branch.Tok == token.CONTINUE
}

// reassigned returns the position where a variable gets its next value after an assignment, in the
// order of the source.
func reassigned(p *gocode.Place, v *types.Var, after *ast.AssignStmt) (next token.Pos) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Pos() < after.End() {
			return true
		}
		for _, lhs := range a.Lhs {
			if syntax.LocalVar(p, lhs) == v && (!next.IsValid() || a.Pos() < next) {
				next = a.Pos()
			}
		}
		return true
	})
	return next
}

// succeeds reports whether a condition holds when there is no error.
func succeeds(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && b.Op == token.EQL
}

func isNil(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "nil"
}
