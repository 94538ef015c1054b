package effects

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// AddsToSets reports whether a function without results only adds to sets, itself or by recursion:
// it sets elements of maps to constants, and does not read those maps. A second call with the same
// arguments changes nothing. It returns false for what it cannot analyze.
func AddsToSets(p *gocode.Place) bool {
	decl, ok := p.Func.(*ast.FuncDecl)
	if !ok || decl.Body == nil || decl.Type.Results.NumFields() > 0 {
		return false
	}
	s := setAdder{Place: p, self: p.Info.Defs[decl.Name], sets: map[types.Object]bool{}, adding: map[*ast.Ident]bool{}, only: true}
	ast.Inspect(decl.Body, s.visit)
	ast.Inspect(decl.Body, s.read)
	return s.only && len(s.sets) > 0
}

// setAdder follows what a function does.
type setAdder struct {
	*gocode.Place
	self   types.Object
	sets   map[types.Object]bool // variables and fields that hold maps to which it adds
	adding map[*ast.Ident]bool   // uses of them that do not read them
	only   bool                  // nothing else was seen
}

func (s *setAdder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			s.assign(n, i, ast.Unparen(to))
		}
	case *ast.IncDecStmt:
		id, ok := ast.Unparen(n.X).(*ast.Ident)
		s.only = s.only && ok && s.declares(id)
	case *ast.RangeStmt:
		s.only = s.only && n.Tok != token.ASSIGN && s.elements(n.X)
	case *ast.CallExpr:
		s.only = s.only && s.harmless(n)
	case *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt, *ast.FuncLit:
		s.only = false
	case *ast.UnaryExpr:
		s.only = s.only && n.Op != token.ARROW && n.Op != token.AND
	}
	return s.only
}

// read looks for other uses of the sets. What a function does with an element that is there already
// could differ in a second call.
func (s *setAdder) read(n ast.Node) bool {
	if id, ok := n.(*ast.Ident); ok && s.sets[s.Object(id)] && !s.adding[id] {
		s.only = false
	}
	return s.only
}

// assign judges the assignment to the i-th of an assignment's operands.
func (s *setAdder) assign(n *ast.AssignStmt, i int, to ast.Expr) {
	switch to := to.(type) {
	case *ast.Ident:
		s.only = s.only && (to.Name == "_" || n.Tok == token.DEFINE || s.declares(to))
	case *ast.IndexExpr:
		id := named(to.X)
		t := s.TypeOf(to.X)
		if id == nil || t == nil || n.Tok != token.ASSIGN || len(n.Rhs) != len(n.Lhs) || !s.constant(n.Rhs[i]) {
			s.only = false
			return
		}
		_, isMap := t.Underlying().(*types.Map)
		s.only = s.only && isMap
		s.sets[s.Object(id)], s.adding[id] = true, true
	default:
		s.only = false
	}
}

// named returns the name of a variable or field; nil for another expression.
func named(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

// declares reports whether a name is a variable of the function, not of the package.
func (s *setAdder) declares(id *ast.Ident) bool {
	obj := s.Object(id)
	return obj != nil && obj.Pos() >= s.Func.Pos() && obj.Pos() < s.Func.End()
}

// elements reports whether a range over an expression only reads: not a channel, and not a
// function.
func (s *setAdder) elements(e ast.Expr) bool {
	t := s.TypeOf(e)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Array, *types.Pointer, *types.Map, *types.Basic:
		return true
	}
	return false
}

// constant reports whether a value is the same each time: a constant, or a composite literal
// without elements.
func (s *setAdder) constant(e ast.Expr) bool {
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	_, ok := s.Const(e)
	return ok
}

// harmless reports whether a call is a conversion, a built-in that changes nothing, or the function
// itself.
func (s *setAdder) harmless(call *ast.CallExpr) bool {
	if _, ok := s.Conversion(call); ok {
		return true
	}
	id := named(call.Fun)
	if id == nil {
		return false
	}
	obj := s.Object(id)
	if b, ok := obj.(*types.Builtin); ok {
		return b.Name() == "len" || b.Name() == "cap" || b.Name() == "min" || b.Name() == "max"
	}
	if obj == nil || obj != s.self {
		return false
	}
	for _, arg := range call.Args {
		if id := named(arg); id != nil {
			s.adding[id] = true // the set is passed on
		}
	}
	return true
}
