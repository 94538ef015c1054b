package loops

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Deferred returns the first accepted defer statement in a loop around a call; nil if there is
// none. The loop has more than two iterations and declares the variable v of the call's result.
// Defers of function literals in the loop run when those return, and do not count.
func Deferred(p *gocode.Place, call ast.Node, v *types.Var, accept func(*ast.DeferStmt) bool) *ast.DeferStmt {
	var found *ast.DeferStmt
	for _, loop := range Around(p, call) {
		if !syntax.Inside(loop, v.Pos()) || AtMost(p, loop, call, 2) {
			continue
		}
		ast.Inspect(loop, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.DeferStmt:
				if found == nil && accept(n) {
					found = n
				}
				return false
			case *ast.FuncLit:
				return false
			}
			return found == nil
		})
		if found != nil {
			return found
		}
	}
	return nil
}
