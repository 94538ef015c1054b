package countforexistence

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// tested says how a list or a number is used.
type tested struct {
	ok    bool // only to learn whether there is an element
	first bool // the first element is read as well
	line  int  // of the first use
}

// result returns how the first result of a call is used.
func result(p *gocode.Place, call *ast.CallExpr) tested {
	if ok, first := use(p, call); ok {
		return tested{true, first, syntax.Line(p, call.Pos())}
	}
	v := syntax.LocalVar(p, syntax.AssignedTo(p, call))
	if v == nil || syntax.IsResult(p, v) {
		return tested{}
	}
	sets := 0
	for _, id := range syntax.Uses(p, v) {
		if p.Info.Defs[id] != nil || syntax.Defines(p, id) {
			sets++
		}
	}
	if sets != 1 {
		return tested{}
	}
	return tests(p, syntax.Reads(p, v), call)
}

// tests returns how a variable is used, by all expressions that read it after a call.
func tests(p *gocode.Place, reads []*ast.Ident, call *ast.CallExpr) (t tested) {
	for _, id := range reads {
		if syntax.Inside(call, id.Pos()) {
			continue
		}
		ok, first := use(p, id)
		if !ok {
			return tested{}
		}
		t.ok, t.first = true, t.first || first
		if line := syntax.Line(p, id.Pos()); t.line == 0 || line < t.line {
			t.line = line
		}
	}
	return t
}

// use reports whether an expression is only compared to learn whether there is an element, or
// whether the first one is taken.
func use(p *gocode.Place, e ast.Expr) (ok, first bool) {
	t := p.TypeOf(e)
	if tuple, is := t.(*types.Tuple); is && tuple.Len() > 0 {
		t = tuple.At(0).Type()
	}
	if t == nil {
		return false, false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsInteger != 0 && empty(p, e), false
	case *types.Slice, *types.Map:
		switch n := syntax.Parent(p, e).(type) {
		case *ast.CallExpr:
			return p.CalleeName(n) == "len" && empty(p, n), false
		case *ast.IndexExpr:
			i, constant := syntax.ConstInt(p, n.Index)
			_, list := u.(*types.Slice)
			return list && constant && i == 0 && ast.Unparen(n.X) == e, true
		}
	}
	return false, false
}

// empty reports whether a number is compared to tell zero from more.
func empty(p *gocode.Place, e ast.Expr) bool {
	b, ok := syntax.Parent(p, e).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	op, other := b.Op, b.Y
	if ast.Unparen(b.Y) == e {
		other = b.X
		switch op {
		case token.LSS:
			op = token.GTR
		case token.GTR:
			op = token.LSS
		case token.LEQ:
			op = token.GEQ
		case token.GEQ:
			op = token.LEQ
		}
	}
	n, constant := syntax.ConstInt(p, other)
	if !constant {
		return false
	}
	switch op {
	case token.EQL, token.NEQ, token.GTR, token.LEQ:
		return n == 0
	case token.LSS, token.GEQ:
		return n == 1
	}
	return false
}
