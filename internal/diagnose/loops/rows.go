package loops

import (
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
)

// OverRows reports whether a loop goes through the rows of a query, and returns what its condition
// calls: for rows.Next() { … }.
func OverRows(p *gocode.Place, loop *ast.ForStmt) (next *ast.CallExpr, ok bool) {
	call, ok := loop.Cond.(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	name := p.CalleeName(call)
	return call, strings.HasSuffix(name, "Rows).Next") || strings.HasSuffix(name, ".Cursor).Next")
}
