package wholeperitem

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// option names the exported field that decides, through a parameter, whether the function of a line
// calls another: "SkipStatus of AddWithOptions"; "" for none.
func option(p *rule.Pass, at *site.Frame, called string) string {
	if at == nil {
		return ""
	}
	place, ok := p.Syntax.At(at.File, at.Line)
	if !ok || place.Decl == nil {
		return ""
	}
	sig := syntax.SignatureOf(place)
	call := loops.CallTo(place, called)
	if sig == nil || call == nil {
		return ""
	}
	for _, n := range place.Enclosing(call) {
		cond, ok := n.(*ast.IfStmt)
		if !ok || !syntax.Within(cond.Body, call) {
			continue
		}
		found := ""
		ast.Inspect(cond.Cond, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && found == "" {
				v, _ := place.Object(id).(*types.Var)
				if i := syntax.ParamIndex(sig, v); i >= 0 && types.Identical(v.Type(), types.Typ[types.Bool]) {
					found = fieldFor(place, i)
				}
			}
			return found == ""
		})
		if found != "" {
			return found
		}
	}
	return ""
}

// fieldFor returns the exported field that an exported function of a package passes for a parameter
// of the function around a place, with the name of that function; "" for none.
func fieldFor(p *gocode.Place, index int) (found string) {
	self := p.Info.Defs[p.Decl.Name]
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || !decl.Name.IsExported() || decl.Body == nil {
				continue
			}
			ast.Inspect(decl.Body, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || found != "" || self == nil || p.Callee(call) != self || index >= len(call.Args) {
					return found == ""
				}
				if sel, ok := ast.Unparen(call.Args[index]).(*ast.SelectorExpr); ok && sel.Sel.IsExported() {
					found = fmt.Sprintf("%s of %s", sel.Sel.Name, decl.Name.Name)
				}
				return found == ""
			})
		}
	}
	return found
}
