package loops

import (
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Each returns the function literal of a place if it is the body of a loop in another function: an
// argument of a function that calls it for each element, by its name, such as Range of a sync.Map,
// WalkDir, ForEach of a bucket or Ascend of a tree. It returns nil for other places.
func Each(p *gocode.Place) ast.Node {
	lit, ok := p.Func.(*ast.FuncLit)
	if !ok || p.Decl == nil {
		return nil
	}
	call, ok := syntax.Parent(p.Outer(), lit).(*ast.CallExpr)
	if !ok || call.Fun == ast.Expr(lit) {
		return nil
	}
	fn := p.Callee(call)
	if fn == nil {
		return nil
	}
	for _, name := range []string{"Range", "Walk", "ForEach", "Each", "Visit", "Ascend", "Descend", "Iterate"} {
		if strings.HasPrefix(strings.ToUpper(fn.Name()[:1])+fn.Name()[1:], name) {
			return lit
		}
	}
	return nil
}
