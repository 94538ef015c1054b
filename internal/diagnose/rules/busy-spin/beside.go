package busyspin

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// handles reports whether a statement of the loop itself handles the error of its attempt: counts
// it, logs it, tells others. It does so that often only because it does not pause.
func (t *trying) handles(i *ast.IfStmt) bool {
	if t.depth > 0 || !t.of.all || i.Else != nil || len(i.Body.List) == 0 {
		return false
	}
	b, ok := ast.Unparen(i.Cond).(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ || !t.p.Info.Types[b.Y].IsNil() || !syntax.IsError(t.p.TypeOf(b.X)) {
		return false
	}
	last, ok := i.Body.List[len(i.Body.List)-1].(*ast.BranchStmt)
	again := ok && last.Tok == token.CONTINUE
	body := t.of.loop.Body.List
	return (again || body[len(body)-1] == ast.Stmt(i)) && !pauses(t.p, i.Body, mostCallees)
}

// pauses reports whether a node waits for something, itself or in functions of the package that it
// calls to a depth.
func pauses(p *gocode.Place, n ast.Node, depth int) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.SelectStmt:
			found = found || !slices.ContainsFunc(n.Body.List, func(s ast.Stmt) bool { return s.(*ast.CommClause).Comm == nil })
		case *ast.SendStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.CallExpr:
			found = found || waits(p, n, depth)
		}
		return !found
	})
	return found
}

// waits reports whether a call pauses, by the name of the function or by what it does.
func waits(p *gocode.Place, call *ast.CallExpr, depth int) bool {
	fn := p.Callee(call)
	if fn == nil {
		_, conversion := p.Conversion(call)
		return !conversion && p.CalleeName(call) == "" // a function value may do anything
	}
	if slices.ContainsFunc(awaited.Words(fn.Name()), func(w string) bool {
		return slices.Contains([]string{"sleep", "wait", "pause", "backoff", "delay", "after", "retry", "throttle", "acquire"}, w)
	}) {
		return true
	}
	decl := p.Declaration(fn)
	return decl != nil && decl.Body != nil && depth > 0 && pauses(p.Entry(decl), decl.Body, depth-1)
}
