package awaited

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// HandsOver reports whether requests give something to the goroutine that they queue for: they send
// it, or a channel for the answer, or store it. Those that only wait for news get them when there
// are any.
func HandsOver(p *rule.Pass, t *traced.Queue) bool {
	place := p.Place(t.Site)
	if place == nil || place.Decl == nil || t.Site.Owner.Kind != gocode.Main {
		return place != nil
	}
	if hands(place, place.Decl) {
		return true
	}
	given := false
	ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || given {
			return !given
		}
		fn := place.Callee(call)
		if decl := place.Declaration(fn); decl != nil && decl.Body != nil && !listens(fn.Name()) {
			given = hands(place.Entry(decl), decl)
		}
		return !given
	})
	return given
}

// listens reports whether the name of a function says that its caller only gets news.
func listens(name string) bool {
	return slices.ContainsFunc(Words(name), func(w string) bool {
		return slices.Contains([]string{"subscribe", "watch", "listen", "join", "follow", "observe", "register", "attach", "notify"}, w)
	})
}

// hands reports whether a function sends something, makes a channel for an answer, or adds
// something to a list or a map that is kept.
func hands(place *gocode.Place, decl *ast.FuncDecl) bool {
	found := false
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SendStmt:
			found = found || !news(place, decl, n.Value)
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "make" {
				_, ch := place.TypeOf(n).Underlying().(*types.Chan)
				found = found || ch
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				sel, field := to.(*ast.SelectorExpr)
				found = found || field && n.Tok == token.ASSIGN && i < len(n.Rhs) && place.TypeOf(sel) != nil && grows(n.Rhs[i])
			}
		}
		return !found
	})
	return found
}

// news reports whether a function got a value from a channel: it only passes on news.
func news(place *gocode.Place, decl *ast.FuncDecl, value ast.Expr) bool {
	v := syntax.LocalVar(place, value)
	found := false
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			from, ok := ast.Unparen(n.Rhs[0]).(*ast.UnaryExpr)
			found = found || ok && from.Op == token.ARROW && syntax.LocalVar(place, n.Lhs[0]) == v
		case *ast.RangeStmt:
			if n.Key != nil && syntax.LocalVar(place, n.Key) == v {
				_, ch := place.TypeOf(n.X).Underlying().(*types.Chan)
				found = found || ch
			}
		}
		return !found
	})
	return v != nil && found
}

// grows reports whether an expression is a list with an element more.
func grows(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := call.Fun.(*ast.Ident)
	return ok && id.Name == "append"
}
