package syntax

import (
	"go/ast"

	"github.com/hone-go/hone/internal/gocode"
)

// MadeAs returns the one call of make whose result the package assigns to a channel's variable or
// field; nil when there is none, or more than one.
func MadeAs(p *gocode.Place, x ast.Expr) *ast.CallExpr {
	obj := Named(p, x)
	if obj == nil {
		return nil
	}
	var made *ast.CallExpr
	times := 0
	give := func(to, value ast.Expr) {
		if to == nil || Named(p, to) != obj {
			return
		}
		if call, ok := ast.Unparen(value).(*ast.CallExpr); ok && p.CalleeName(call) == "make" {
			made = call
			times++
		}
	}
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, lhs := range n.Lhs {
					if len(n.Lhs) == len(n.Rhs) {
						give(lhs, n.Rhs[i])
					}
				}
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if len(n.Names) == len(n.Values) {
						give(id, n.Values[i])
					}
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok {
					give(id, n.Value)
				}
			}
			return true
		})
	}
	if times != 1 {
		return nil
	}
	return made
}
