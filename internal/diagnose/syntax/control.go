package syntax

import (
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/gocode"
)

// Inside reports whether a position is in a node.
func Inside(n ast.Node, pos token.Pos) bool { return n.Pos() <= pos && pos < n.End() }

// Within reports whether a node is in another.
func Within(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// Exclusive reports whether at most one of two nodes of a function runs in one execution of it:
// they are in different branches of an if, switch or select, or the block of the earlier one always
// leaves before the later one.
func Exclusive(p *gocode.Place, a, b ast.Node) bool {
	if a.Pos() > b.Pos() {
		a, b = b, a
	}
	path := append([]ast.Node{a}, p.Enclosing(a)...)
	for i, n := range path {
		if Within(n, b) { // the innermost node around both
			return i > 0 && branches(n, path[i-1], b)
		}
		if block, ok := n.(*ast.BlockStmt); ok && always(block.List) {
			return true
		}
		if clause, ok := n.(*ast.CaseClause); ok && always(clause.Body) {
			return true
		}
	}
	return false
}

// always reports whether a list of statements ends by leaving the function.
func always(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	return Departs(list[len(list)-1], false)
}

// branches reports whether a child of a node and another part of it are alternatives.
func branches(n, child, other ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return child == n.Body && n.Else != nil && Within(n.Else, other)
	case *ast.BlockStmt: // of a switch or select, whose clauses are the alternatives
		switch child.(type) {
		case *ast.CaseClause, *ast.CommClause:
			return !Within(child, other)
		}
	}
	return false
}

// Parent returns the node around n without parentheses.
func Parent(p *gocode.Place, n ast.Node) ast.Node {
	for _, x := range p.Enclosing(n) {
		if _, paren := x.(*ast.ParenExpr); !paren {
			return x
		}
	}
	return nil
}

// Block returns the innermost block or clause around a node; nil for none.
func Block(p *gocode.Place, n ast.Node) ast.Node {
	for _, x := range p.Enclosing(n) {
		switch x.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			return x
		}
	}
	return nil
}

// FuncAround returns the function literal or declaration around a node.
func FuncAround(p *gocode.Place, n ast.Node) ast.Node {
	for _, x := range p.Enclosing(n) {
		switch x.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return x
		}
	}
	return nil
}

// BreakTarget returns the statement that an unlabelled break leaves, given the nodes around it.
func BreakTarget(path []ast.Node) ast.Node {
	for _, x := range path {
		switch x.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			return x
		}
	}
	return nil
}

// Leaves reports whether what follows a block in its list does not run after it.
func Leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	last := b.List[len(b.List)-1]
	if jump, ok := last.(*ast.BranchStmt); ok {
		return jump.Tok != token.FALLTHROUGH
	}
	return Departs(last, true)
}

// Departs reports whether a statement leaves the function, or the loop if the target of break is
// that loop.
func Departs(s ast.Stmt, breaks bool) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK && s.Label == nil && breaks
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok {
			id, ok := call.Fun.(*ast.Ident)
			return ok && id.Name == "panic"
		}
	}
	return false
}
