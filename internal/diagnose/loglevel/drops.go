package loglevel

import (
	"context"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/gocode"
)

// rare is the minimum number of calls for each one that uses its arguments.
const rare = 100

// drops reports whether counted executions show that a function does not use its parameters: the
// code that mentions them ran in hardly any call, or passes them to such a function.
func (s *Search) drops(ctx context.Context, p *gocode.Place, depth int) bool {
	list := p.Decl.Body.List
	if s.pass.Counts == nil || len(list) == 0 {
		return false
	}
	first, ok := evidence.ExecutionsAt(s.pass, p, list[0].Pos())
	if !ok || first.Calls <= 0 {
		return false
	}
	params := s.parameters(p)
	seen, used := false, false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && passes(p, call, params) && !s.rare(p, call, first.Calls) {
			if s.level(ctx, p, call, depth+1) {
				seen = true
				return false
			}
		}
		id, ok := n.(*ast.Ident)
		if ok && params[p.Object(id)] {
			seen = true
			used = used || !s.rare(p, id, first.Calls)
		}
		return !used
	})
	return seen && !used
}

// rare reports whether a node runs in hardly any call.
func (s *Search) rare(p *gocode.Place, n ast.Node, calls float64) bool {
	runs, ok := evidence.ReachedAt(s.pass, p, n.Pos())
	return ok && runs*rare <= calls
}
