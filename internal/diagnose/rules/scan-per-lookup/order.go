package scanperlookup

import (
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// cheaperFirst says which comparison of a test to make first: one without calls that comes after a
// call of a function of the package. The test is a condition, or a call of a function of the
// package that returns one. "" if there is none.
func cheaperFirst(p *gocode.Place, cond ast.Expr) string {
	where := ""
	if call, ok := ast.Unparen(cond).(*ast.CallExpr); ok {
		decl := p.Declaration(p.Callee(call))
		if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
			return ""
		}
		ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
		if !ok || len(ret.Results) != 1 {
			return ""
		}
		p, cond, where = p.Entry(decl), ret.Results[0], " in "+decl.Name.Name
	}
	var costly ast.Expr
	for _, e := range syntax.Conjuncts(cond) {
		if costly == nil && callsOwn(p, e) {
			costly = e
		}
		b, ok := ast.Unparen(e).(*ast.BinaryExpr)
		if costly != nil && ok && b.Op == token.EQL && !calls(e) && !failure(p, b.X) && !failure(p, b.Y) {
			return fmt.Sprintf(" Test %s before %s%s: it costs next to nothing, and && evaluates the other only for the elements that pass.", syntax.Text(e), syntax.Text(costly), where)
		}
	}
	return ""
}

// callsOwn reports whether an expression calls a function of the package that has a loop or calls
// others.
func callsOwn(p *gocode.Place, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		if decl := p.Declaration(p.Callee(call)); decl != nil && decl.Body != nil {
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.ForStmt, *ast.RangeStmt, *ast.CallExpr:
					found = true
				}
				return !found
			})
		}
		return !found
	})
	return found
}

func calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		found = found || call
		return !found
	})
	return found
}
