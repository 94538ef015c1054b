package writebeforeanswer

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// levels is how many functions below a call are searched for a pause.
const levels = 3

// sleeps reports whether requests wait below a call because of a pause of fixed length: then the
// pause is the mistake, and a queue would only hide it.
func sleeps(pass *rule.Pass, p *gocode.Place, call *ast.CallExpr, pauses []*site.Site, depth int) bool {
	fn := p.Callee(call)
	if fn == nil || len(pauses) == 0 {
		return false
	}
	if slices.ContainsFunc(pauses, func(s *site.Site) bool { return declares(pass, s, fn) }) {
		return true
	}
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || depth == 0 {
		return false
	}
	in, found := p.Entry(decl), false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.CallExpr:
			found = found || sleeps(pass, in, n, pauses, depth-1)
		}
		return !found
	})
	return found
}

// declares reports whether a line is in a function, or in a method that a call of an interface's
// method may run.
func declares(pass *rule.Pass, s *site.Site, fn *types.Func) bool {
	place := pass.Place(s)
	if place == nil || place.Decl == nil {
		return false
	}
	in, ok := place.Object(place.Decl.Name).(*types.Func)
	return ok && (in == fn.Origin() || awaited.Implements(in, fn.Origin()))
}
