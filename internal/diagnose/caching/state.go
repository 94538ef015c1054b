package caching

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// state reports whether a function also stores a value for the key when its lookup has found one,
// and computes it from the one that it found: n := m[k]; n += by; m[k] = n. That is a count or
// another state for each key, which is new for each new key, and no cache.
func (s *Shape) state(p *gocode.Place, lookup *ast.AssignStmt, v *types.Var) (found bool) {
	changed := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			return syntax.LocalVar(p, n.X) == v
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if syntax.LocalVar(p, lhs) == v && (n.Tok != token.ASSIGN || syntax.Mentions(p, n.Rhs[min(i, len(n.Rhs)-1)], v)) {
					return true
				}
			}
		}
		return false
	}
	changes := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if n == nil || n.Pos() < lookup.End() {
			return true
		}
		changes = changes || changed(n) && onHit(p, lookup, v, n)
		if value := s.stored(p, n); value != nil && onHit(p, lookup, v, n) {
			found = found || syntax.Mentions(p, value, v) && (changes || syntax.LocalVar(p, value) != v)
		}
		return !found
	})
	return found
}

// stored returns the value that an assignment puts into the cache for the key; nil for others.
func (s *Shape) stored(p *gocode.Place, n ast.Node) ast.Expr {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	at, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
	if !ok || !syntax.Same(p, at.X, s.Cache) || !same(p, at.Index, s.Key) {
		return nil
	}
	return a.Rhs[0]
}

// onHit reports whether a node after a lookup runs when the lookup finds a value, as far as
// conditions on its results show.
func onHit(p *gocode.Place, lookup *ast.AssignStmt, v *types.Var, n ast.Node) bool {
	hit := true
	ast.Inspect(syntax.Body(p), func(m ast.Node) bool {
		c, ok := m.(*ast.IfStmt)
		if !ok || c.Pos() < lookup.End() || c.Pos() > n.Pos() {
			return hit
		}
		about := false
		for _, lhs := range lookup.Lhs {
			if r := syntax.LocalVar(p, lhs); r != nil {
				about = about || syntax.Mentions(p, c.Cond, r)
			}
		}
		if !about {
			return hit
		}
		miss := misses(p, lookup, v, c.Cond)
		switch {
		case syntax.Inside(c.Body, n.Pos()), c.End() <= n.Pos() && syntax.Leaves(c.Body):
			hit = hit && syntax.Inside(c.Body, n.Pos()) != miss
		case c.Else != nil && syntax.Inside(c.Else, n.Pos()):
			hit = hit && miss
		}
		return hit
	})
	return hit
}

// misses reports whether a condition holds exactly if a lookup finds nothing: !ok, v == nil.
func misses(p *gocode.Place, lookup *ast.AssignStmt, v *types.Var, cond ast.Expr) bool {
	switch x := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		return x.Op == token.NOT && len(lookup.Lhs) == 2 && syntax.Named(p, x.X) != nil && syntax.Named(p, x.X) == syntax.Named(p, lookup.Lhs[1])
	case *ast.BinaryExpr:
		return x.Op == token.EQL && syntax.Named(p, x.X) == v && zero(p, x.Y)
	}
	return false
}
