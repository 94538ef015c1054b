package recountperchange

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// unchanging returns the loop in which a call gets the same list of the function each time: the
// loop only reads its elements otherwise. nil for none.
func unchanging(p *gocode.Place, call *ast.CallExpr, list ast.Expr) ast.Node {
	v := syntax.LocalVar(p, list)
	loop := loops.Repeating(p, call)
	if v == nil || loop == nil || !loops.FromOutside(p, loop, list) || syntax.Changes(p, loop, v) || !values(v.Type()) {
		return nil
	}
	for _, id := range syntax.Uses(p, v) {
		if syntax.Within(loop, id) && !reads(p, id, call) {
			return nil
		}
	}
	return loop
}

// values reports whether a list has its elements itself, which nothing else refers to.
func values(t types.Type) bool {
	elem := syntax.Elem(t)
	return elem != nil && !types.IsInterface(elem) && !pointer(elem)
}

func pointer(t types.Type) bool {
	_, is := t.Underlying().(*types.Pointer)
	return is
}

// reads reports whether a use of a list does not change it: an argument of the call, of len, the
// list of a range clause, or an element, except one whose method is called.
func reads(p *gocode.Place, id *ast.Ident, call *ast.CallExpr) bool {
	switch up := syntax.Parent(p, id).(type) {
	case *ast.CallExpr:
		return up == call || p.CalleeName(up) == "len"
	case *ast.RangeStmt:
		return ast.Unparen(up.X) == ast.Expr(id)
	case *ast.IndexExpr:
		sel, ok := syntax.Parent(p, up).(*ast.SelectorExpr)
		if !ok {
			return ast.Unparen(up.X) == ast.Expr(id)
		}
		s := p.Info.Selections[sel]
		return s != nil && s.Kind() == types.FieldVal
	}
	return false
}
