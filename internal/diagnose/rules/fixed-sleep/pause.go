package fixedsleep

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// fixed reports whether the length of a pause is a constant, or what a setting says: a field or a
// variable of the package.
func fixed(pass *rule.Pass, p *gocode.Place, d ast.Expr) bool {
	if values := flow.Constants(pass.Syntax, p, d); len(values) > 0 {
		return true
	}
	for _, from := range flow.Sources(pass.Syntax, p, d) {
		v := syntax.Named(from.Place, from.Value)
		if v == nil || !v.IsField() && v.Parent() != v.Pkg().Scope() || types.TypeString(v.Type(), nil) != "time.Duration" {
			return false
		}
	}
	return true
}

// passed returns the call of a function that only pauses, for as long as the caller says: a method
// of a clock, say. call is nil for other pauses, and where several calls ran.
func passed(pass *rule.Pass, p *gocode.Place, pause *awaited.Pause) (above *gocode.Place, call *ast.CallExpr, length ast.Expr) {
	in := p.Outer()
	v := syntax.LocalVar(in, pause.Length)
	if v == nil || !syntax.Param(in, v) || in.Decl == nil || !only(in, pause.Node) {
		return nil, nil, nil
	}
	above, call = flow.RunningCall(pass, in)
	if call == nil {
		return nil, nil, nil
	}
	if length = flow.ArgumentFor(in, call, v); length == nil {
		return nil, nil, nil
	}
	return above, call, length
}

// callSite returns the site of a call.
func callSite(pass *rule.Pass, p *gocode.Place, call *ast.CallExpr) *site.Site {
	at := p.Fset.Position(call.Pos())
	function := syntax.ProfileName(p)
	return pass.Site(&site.Frame{Function: function, File: at.Filename, Line: at.Line, Owner: pass.Code.Owner(function, at.Filename)})
}
