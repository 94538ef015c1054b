package effects

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// AddsToSets reports whether all that a function without results does is to add to sets, by itself or
// by calling itself: it sets elements of maps to constants. A second call with the same arguments
// changes nothing. It reports false for what it cannot analyze.
func AddsToSets(p *gocode.Place) bool {
	decl, ok := p.Func.(*ast.FuncDecl)
	if !ok || decl.Body == nil || decl.Type.Results.NumFields() > 0 {
		return false
	}
	s := setAdder{Place: p, self: p.Info.Defs[decl.Name], only: true}
	ast.Inspect(decl.Body, s.visit)
	return s.only && s.adds
}

// setAdder follows what a function does.
type setAdder struct {
	*gocode.Place
	self types.Object
	adds bool // to a set
	only bool // nothing else was seen
}

func (s *setAdder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			s.assign(n, i, ast.Unparen(to))
		}
	case *ast.IncDecStmt:
		_, local := ast.Unparen(n.X).(*ast.Ident)
		s.only = s.only && local && s.declares(n.X.(*ast.Ident))
	case *ast.CallExpr:
		s.only = s.only && s.harmless(n)
	case *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt, *ast.FuncLit:
		s.only = false
	case *ast.UnaryExpr:
		s.only = s.only && n.Op != token.ARROW && n.Op != token.AND
	}
	return s.only
}

// assign judges the assignment to the i-th of an assignment's operands.
func (s *setAdder) assign(n *ast.AssignStmt, i int, to ast.Expr) {
	switch to := to.(type) {
	case *ast.Ident:
		s.only = s.only && (to.Name == "_" || n.Tok == token.DEFINE || s.declares(to))
	case *ast.IndexExpr:
		_, isMap := s.TypeOf(to.X).Underlying().(*types.Map)
		s.only = s.only && isMap && n.Tok == token.ASSIGN && len(n.Rhs) == len(n.Lhs) && s.constant(n.Rhs[i])
		s.adds = true
	default:
		s.only = false
	}
}

// declares reports whether a name is a variable of the function, not of the package.
func (s *setAdder) declares(id *ast.Ident) bool {
	obj := s.Object(id)
	return obj != nil && obj.Pos() >= s.Func.Pos() && obj.Pos() < s.Func.End()
}

// constant reports whether a value is the same each time: a constant, or a composite literal without elements.
func (s *setAdder) constant(e ast.Expr) bool {
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	return s.Info.Types[e].Value != nil
}

// harmless reports whether a call is a conversion, a built-in that changes nothing, or the function itself.
func (s *setAdder) harmless(call *ast.CallExpr) bool {
	if s.Info.Types[call.Fun].IsType() {
		return true
	}
	var id *ast.Ident
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return false
	}
	obj := s.Info.Uses[id]
	if b, ok := obj.(*types.Builtin); ok {
		return b.Name() == "len" || b.Name() == "cap" || b.Name() == "min" || b.Name() == "max"
	}
	return obj != nil && obj == s.self
}
