package scanperlookup

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// state is what a test of an element's own state depends on: the element, constants, what the
// receiver or the package keeps, and the clock. Nothing that the function was asked for: which
// elements pass is known before the loop.
type state struct {
	p       *gocode.Place
	vars    elements
	element bool
	clock   bool
	fields  []*types.Var // of the element
	depth   int
}

// tests reports whether a condition is such a test.
func (s *state) tests(cond ast.Expr) bool { return s.operand(cond) && s.element }

func (s *state) operand(e ast.Expr) bool {
	if v, ok := s.p.Const(e); ok {
		return v.Kind() != constant.Unknown
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		return s.variable(x)
	case *ast.SelectorExpr:
		return s.field(x)
	case *ast.UnaryExpr:
		return x.Op == token.NOT && s.operand(x.X)
	case *ast.StarExpr:
		return s.operand(x.X)
	case *ast.TypeAssertExpr:
		return x.Type != nil && s.operand(x.X)
	case *ast.IndexExpr:
		return s.operand(x.X) && s.operand(x.Index)
	case *ast.BinaryExpr:
		return s.binary(x)
	case *ast.CallExpr:
		return s.call(x)
	}
	return false
}

// variable judges a variable: the element, one that the package keeps, a time, or a local variable
// that is defined by the same.
func (s *state) variable(id *ast.Ident) bool {
	if _, null := s.p.Object(id).(*types.Nil); null {
		return true
	}
	v, ok := s.p.Object(id).(*types.Var)
	switch {
	case !ok:
		return false
	case s.vars[v]:
		s.element = true
		return true
	case v.Parent() == s.p.Pkg.Scope():
		return true
	case syntax.Param(s.p, v):
		s.clock = s.clock || isTime(v.Type())
		return isTime(v.Type()) && v.Type().String() == "time.Time"
	}
	_, value := syntax.Declared(s.p, v)
	s.depth++
	return value != nil && s.depth < 8 && s.operand(value)
}

// field judges a field of the element, of the receiver or of a package variable.
func (s *state) field(x *ast.SelectorExpr) bool {
	v, ok := s.p.Object(x.Sel).(*types.Var)
	if !ok {
		return false
	}
	if !v.IsField() { // package.Var
		return true
	}
	if s.vars.in(s.p, x.X) {
		s.element = true
		s.fields = append(s.fields, v.Origin())
		return true
	}
	root, _ := syntax.Var(s.p, x)
	return root != nil && (root.Parent() == s.p.Pkg.Scope() || s.receiver(root))
}

func (s *state) receiver(v *types.Var) bool {
	return s.p.Decl != nil && s.p.Decl.Recv != nil && syntax.Inside(s.p.Decl.Recv, v.Pos())
}

// binary judges a comparison, a connection of conditions or a calculation. Numbers are in a state
// when they are compared with a constant, or with the clock: other limits may differ from visit to
// visit. Positions and weights, which are floating-point numbers, mostly all change.
func (s *state) binary(x *ast.BinaryExpr) bool {
	before := s.clock
	s.clock = false
	ok := s.operand(x.X) && s.operand(x.Y)
	clock := s.clock
	s.clock = s.clock || before
	if !ok {
		return false
	}
	switch x.Op {
	case token.LAND, token.LOR:
		return true
	case token.EQL, token.NEQ:
		return !failure(s.p, x.X) && !s.number(x.X) && !s.number(x.Y)
	case token.LSS, token.GTR, token.LEQ, token.GEQ:
		return clock || small(s.p, x.X) || small(s.p, x.Y)
	case token.ADD, token.SUB: // also the position of the last part of the element
		return clock || !s.element || small(s.p, x.Y)
	}
	return false
}

// number reports whether an expression is an element that is itself a number or a text, or a
// floating-point number.
func (s *state) number(e ast.Expr) bool {
	t := s.p.TypeOf(e)
	if t == nil {
		return true
	}
	b, basic := t.Underlying().(*types.Basic)
	if !basic {
		return false
	}
	id, plain := ast.Unparen(e).(*ast.Ident)
	return b.Info()&types.IsFloat != 0 || plain && s.vars[s.p.Object(id)] && b.Info()&types.IsBoolean == 0
}

// small reports whether an expression is 0 or 1, of integers: how many there are of something.
func small(p *gocode.Place, e ast.Expr) bool {
	n, ok := syntax.ConstInt(p, e)
	t, typed := p.TypeOf(e).(*types.Basic)
	return ok && (n == 0 || n == 1) && (!typed || t.Info()&types.IsFloat == 0)
}

// call judges a call: of a method of the element, of package time, or len.
func (s *state) call(x *ast.CallExpr) bool {
	if _, conversion := s.p.Conversion(x); conversion {
		return len(x.Args) == 1 && s.operand(x.Args[0])
	}
	name := s.p.CalleeName(x)
	if name == "" {
		return false // a function value
	}
	for _, arg := range x.Args {
		if !s.operand(arg) {
			return false
		}
	}
	if strings.HasPrefix(name, "time.") || isTime(s.p.TypeOf(x)) {
		s.clock = true
	}
	sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	if ok && s.p.Info.Selections[sel] != nil {
		return s.operand(sel.X)
	}
	return true
}
