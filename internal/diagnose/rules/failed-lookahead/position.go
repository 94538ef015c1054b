package failedlookahead

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// restores reports whether a function sets a position back before it returns nothing.
func restores(p *gocode.Place) bool { return len(restoring(p)) > 0 }

// restoring returns the statements of a function that return nothing after it set a position back:
// it gave a method, or assigned, what it got from the same value before.
//
//	line, pos := r.Position(); …; r.SetPosition(line, pos); return nil
//	start := l.pos; …; l.pos = start; return nil
func restoring(p *gocode.Place) (found []*ast.ReturnStmt) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		for i, stmt := range block.List {
			if resets(p, stmt) {
				found = append(found, emptyHanded(p, block.List[i+1:])...)
				return false
			}
		}
		return true
	})
	return found
}

// emptyHanded returns the statements that return nothing, among others and below them.
func emptyHanded(p *gocode.Place, stmts []ast.Stmt) (found []*ast.ReturnStmt) {
	for _, stmt := range stmts {
		ast.Inspect(stmt, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ReturnStmt:
				if nothing(p, n) {
					found = append(found, n)
				}
			}
			return true
		})
	}
	return found
}

// resets reports whether a statement sets a position to a value that was saved.
func resets(p *gocode.Place, stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok || syntax.Receiver(call) == nil {
			return false
		}
		for _, arg := range call.Args {
			from, ok := saved(p, arg).(*ast.CallExpr)
			if ok && syntax.Receiver(from) != nil && syntax.Same(p, syntax.Receiver(from), syntax.Receiver(call)) {
				return true
			}
			if part, ok := saved(p, arg).(*ast.SelectorExpr); ok && syntax.Same(p, part.X, syntax.Receiver(call)) {
				return true
			}
		}
	case *ast.AssignStmt:
		for i, lhs := range s.Lhs {
			if len(s.Lhs) != len(s.Rhs) {
				break
			}
			switch lhs.(type) {
			case *ast.SelectorExpr, *ast.StarExpr:
				if from := saved(p, s.Rhs[i]); from != nil && syntax.Same(p, from, lhs) {
					return true
				}
			}
		}
	}
	return false
}

// saved returns what a local variable was declared with; nil for other expressions.
func saved(p *gocode.Place, e ast.Expr) ast.Expr {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := p.Object(id).(*types.Var)
	if !ok || !syntax.Local(p, v) {
		return nil
	}
	stmt, value := syntax.Declared(p, v)
	if a, ok := stmt.(*ast.AssignStmt); ok && value == nil && len(a.Rhs) == 1 {
		value = a.Rhs[0]
	}
	if value == nil {
		return nil
	}
	return ast.Unparen(value)
}
