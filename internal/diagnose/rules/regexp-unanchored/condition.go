package regexpunanchored

import (
	"go/ast"
	"go/printer"
	"go/token"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// implies reports whether a condition has a value only for a match at the start of the text.
func (m *match) implies(cond ast.Expr, value bool) bool {
	cond = ast.Unparen(cond)
	if at, ok := m.starts[cond]; ok {
		return at == value
	}
	switch x := cond.(type) {
	case *ast.UnaryExpr:
		return x.Op == token.NOT && m.implies(x.X, !value)
	case *ast.BinaryExpr:
		if x.Op != token.LAND && x.Op != token.LOR {
			return false
		}
		if value == (x.Op == token.LAND) {
			return m.implies(x.X, value) || m.implies(x.Y, value)
		}
		return m.implies(x.X, value) && m.implies(x.Y, value)
	}
	return false
}

// outcome is what a condition yields.
type outcome int

const (
	unknown outcome = iota
	yes
	no
)

func outcomeOf(b bool) outcome {
	if b {
		return yes
	}
	return no
}

// yields returns the value of a condition if there is no match, or if it is not at the start.
func (m *match) yields(cond ast.Expr, none bool) outcome {
	cond = ast.Unparen(cond)
	if at, ok := m.starts[cond]; ok {
		return outcomeOf(!at)
	}
	if absent, ok := m.absent[cond]; ok {
		return outcomeOf(absent == none)
	}
	switch x := cond.(type) {
	case *ast.UnaryExpr:
		switch v := m.yields(x.X, none); {
		case x.Op != token.NOT || v == unknown:
		default:
			return outcomeOf(v == no)
		}
	case *ast.BinaryExpr:
		if x.Op != token.LAND && x.Op != token.LOR {
			return unknown
		}
		a, b := m.yields(x.X, none), m.yields(x.Y, none)
		decides := outcomeOf(x.Op == token.LOR)
		if a == decides || b == decides {
			return decides
		}
		if a != unknown && b != unknown {
			return a
		}
	}
	return unknown
}

// alike reports whether the code around a test for a match does the same without one as with one
// that is not at the start: only then may an anchor turn the one into the other.
func (m *match) alike(leaf ast.Expr) bool {
	cond := leaf
	var around ast.Node
	for _, up := range m.place.Enclosing(leaf) {
		x, ok := up.(ast.Expr)
		if _, call := up.(*ast.CallExpr); !ok || call {
			around = up
			break
		}
		cond = x
	}
	if v := m.yields(cond, true); v != unknown && v == m.yields(cond, false) {
		return true
	}
	outer, ok := around.(*ast.IfStmt)
	if !ok || outer.Cond != cond || outer.Else != nil {
		return m.guarded(leaf)
	}
	if m.yields(cond, true) == no && len(outer.Body.List) == 1 {
		inner, ok := outer.Body.List[0].(*ast.IfStmt)
		return ok && inner.Else == nil && m.implies(inner.Cond, true)
	}
	return m.yields(cond, true) == yes && m.sameBody(outer)
}

// sameBody reports whether another if of the same list does the same for a match elsewhere.
func (m *match) sameBody(first *ast.IfStmt) bool {
	var list []ast.Stmt
	switch up := syntax.Parent(m.place, first).(type) {
	case *ast.BlockStmt:
		list = up.List
	case *ast.CaseClause:
		list = up.Body
	}
	for _, s := range list {
		other, ok := s.(*ast.IfStmt)
		if ok && other != first && other.Else == nil && m.implies(other.Cond, false) && code(m.place, other.Body) == code(m.place, first.Body) {
			return true
		}
	}
	return false
}

// code returns the source of a node, formatted.
func code(p *gocode.Place, n ast.Node) string {
	var b strings.Builder
	if printer.Fprint(&b, p.Fset, n) != nil {
		return ""
	}
	return b.String()
}
