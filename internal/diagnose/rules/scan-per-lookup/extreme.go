package scanperlookup

import (
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// ordered reports whether a statement only keeps the element that is first in an order so far: it
// compares the element with the variable that it assigns it to. The list has to exist between
// searches: in one that is created for the search, all elements have to be examined once.
func (sh *shape) ordered(p *gocode.Place, s *ast.IfStmt, vars elements) bool {
	best := elements{}
	for _, stmt := range s.Body.List {
		a, ok := stmt.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN {
			return false
		}
		for _, lhs := range a.Lhs {
			id, ok := lhs.(*ast.Ident)
			if !ok || p.Object(id) == nil || vars[p.Object(id)] {
				return false
			}
			best[p.Object(id)] = true
		}
		if !vars.in(p, a.Rhs...) && !constants(p, a.Rhs) { // found = true
			return false
		}
	}
	var order ast.Expr
	ast.Inspect(s.Cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LSS, token.GTR, token.LEQ, token.GEQ:
				if vars.in(p, n.X) && best.in(p, n.Y) || vars.in(p, n.Y) && best.in(p, n.X) {
					order = n
				}
			}
		case *ast.CallExpr:
			if vars.in(p, n) && best.in(p, n) {
				order = n
			}
		}
		return order == nil
	})
	if order == nil || !sh.kept(p, sh.over) || sh.asks(p, s.Cond, vars, best) {
		return false
	}
	sh.cond = order
	return true
}

// largest reports whether a statement is best = max(best, x), or min, for a part x of the element.
func (sh *shape) largest(p *gocode.Place, a *ast.AssignStmt, vars elements) bool {
	if a.Tok != token.ASSIGN || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	v := syntax.LocalVar(p, a.Lhs[0])
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || v == nil || vars[v] || len(call.Args) != 2 {
		return false
	}
	if name := p.CalleeName(call); name != "max" && name != "min" {
		return false
	}
	best := elements{v: true}
	if !best.in(p, call.Args...) || !vars.in(p, call.Args...) || !sh.kept(p, sh.over) || sh.asks(p, call, vars, best) {
		return false
	}
	sh.cond, sh.always = call, true
	return true
}

// largestIf is largest for the only statement of a branch.
func (sh *shape) largestIf(p *gocode.Place, s *ast.IfStmt, vars elements) bool {
	if len(s.Body.List) != 1 {
		return false
	}
	a, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || sh.asks(p, s.Cond, vars, nil) || !sh.largest(p, a, vars) {
		return false
	}
	sh.until = syntax.Line(p, s.End())
	return true
}

// skips reports whether a statement only goes on to the next element.
func skips(s *ast.IfStmt) bool {
	if s.Init != nil || s.Else != nil || len(s.Body.List) != 1 {
		return false
	}
	b, ok := s.Body.List[0].(*ast.BranchStmt)
	return ok && b.Tok == token.CONTINUE && b.Label == nil
}

// constants reports whether all expressions are constants.
func constants(p *gocode.Place, list []ast.Expr) bool {
	for _, e := range list {
		if _, ok := p.Const(e); !ok {
			return false
		}
	}
	return true
}
