package flow

import (
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Pattern returns the constant pattern of the expression whose method a call calls: that of a
// variable, of a field that all values have, or of a parameter for which all callers pass it.
func Pattern(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) (pattern string, ok bool) {
	receiver := syntax.Receiver(call)
	if receiver == nil {
		return "", false
	}
	for i, source := range Sources(s, p, receiver) {
		made, is := source.Value.(*ast.CallExpr)
		if !is || len(made.Args) != 1 || !funcname.Match(source.CalleeName(made), "regexp.MustCompile", "regexp.Compile") {
			return "", false
		}
		expr, constant := syntax.ConstString(source.Place, made.Args[0])
		if !constant || i > 0 && expr != pattern {
			return "", false
		}
		pattern, ok = expr, true
	}
	return pattern, ok
}
