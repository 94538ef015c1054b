package growinglistwalked

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// link is the field of a node that has the next node.
type link struct{ field *types.Var }

// linkOf returns the field by which each iteration of a loop steps to another node: n = n.next,
// also where the node is a field of something (c.node = c.node.next). Loops that step by one of
// several fields, as in a search tree, have none.
func linkOf(p *gocode.Place, loop *ast.ForStmt) (found link, ok bool) {
	stmts := []ast.Stmt{loop.Post}
	stmts = append(stmts, loop.Body.List...)
	for _, stmt := range stmts {
		a, is := stmt.(*ast.AssignStmt)
		if !is || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		if v := linkIn(p, a.Rhs[0]); v != nil && a.Tok == token.ASSIGN && types.Identical(p.TypeOf(a.Lhs[0]), v.Type()) {
			found, ok = link{v}, true
		}
	}
	return found, ok && !steps(p, loop, found)
}

// steps reports whether a loop follows another field than a link, from node to node.
func steps(p *gocode.Place, loop *ast.ForStmt, by link) (other bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && len(a.Rhs) == 1 {
			v := linkIn(p, a.Rhs[0])
			other = other || v != nil && v != by.field && linkIn(p, a.Lhs[0]) == nil
		}
		return !other
	})
	return other
}

// linkIn returns the field of an expression x.f that is a pointer to the struct that has it; nil
// for others.
func linkIn(p *gocode.Place, e ast.Expr) *types.Var {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v, ok := p.Object(sel.Sel).(*types.Var)
	if !ok || !v.IsField() || p.TypeOf(sel.X) == nil || !types.Identical(p.TypeOf(sel.X), v.Type()) {
		return nil
	}
	if _, ok := v.Type().Underlying().(*types.Pointer); !ok {
		return nil
	}
	return v
}

// set is a place that sets a link to a node, or takes one out: x.next = y.next, x.prev.next = nil.
type set struct {
	at      ast.Node
	unlinks bool
}

// sets returns where the package of a place sets a link.
func (l link) sets(p *gocode.Place) (all []set) {
	add := func(at ast.Node, node, value ast.Expr) {
		none := p.Info.Types[value].IsNil()
		if _, part := ast.Unparen(node).(*ast.SelectorExpr); part || !none {
			all = append(all, set{at, none || linkIn(p, value) == l.field})
		}
	}
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					sel, ok := ast.Unparen(to).(*ast.SelectorExpr)
					if ok && p.Object(sel.Sel) == l.field && len(n.Lhs) == len(n.Rhs) {
						add(n, sel.X, n.Rhs[i])
					}
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && p.Object(key) == l.field {
					add(n, key, n.Value)
				}
			}
			return true
		})
	}
	return all
}
