package recountperchange

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// asks reports whether a call is of a function that the loop's function gets, for an element, as in
// SumBy(list, func(x T) int { … }).
func (t *adder) asks(call *ast.CallExpr) bool {
	v := syntax.LocalVar(t.p, call.Fun)
	if v == nil || !syntax.Param(t.p, v) || t.by != nil && t.by != v || len(call.Args) == 0 || !t.ofElement(call.Args[0]) {
		return false
	}
	t.by = v
	return true
}

// given returns the fields of elements from which a caller's function literal computes what is
// added. It reports false if that also depends on something else.
func (t *total) given(p *gocode.Place, call *ast.CallExpr) (fields []*types.Var, ok bool) {
	p = p.Outer()
	lit, ok := syntax.Origin(p, syntax.OrBad(flow.ArgumentFor(t.p, call, t.by))).(*ast.FuncLit)
	if !ok || len(lit.Body.List) != 1 {
		return nil, false
	}
	ret, ok := lit.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return nil, false
	}
	ast.Inspect(ret.Results[0], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, variable := p.Object(n).(*types.Var)
			switch {
			case !variable:
			case v.IsField():
				fields = append(fields, v.Origin())
			default:
				ok = ok && syntax.Inside(lit, v.Pos())
			}
		case *ast.CallExpr:
			_, conversion := p.Conversion(n)
			name := p.CalleeName(n)
			ok = ok && (conversion || name == "len" || name == "min" || name == "max" || strings.HasPrefix(name, "math."))
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.ARROW
		case *ast.FuncLit:
			ok = false
		}
		return ok
	})
	return fields, ok
}
