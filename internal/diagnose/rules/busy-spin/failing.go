package busyspin

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// says reports whether a function makes an error, examines one, or writes it to a log: a loop does
// so beside its attempts.
func says(name string) bool {
	return funcname.Match(name, "fmt.Errorf", "fmt.Sprint*", "errors.*", "(error).*", "log.*", "(*log.Logger).*", "log/slog.*", "(*log/slog.Logger).*")
}

// fails reports whether a call in the loop itself is one that the loop repeats until it succeeds,
// and notes it: the loop goes on when the call returns an error.
func (t *trying) fails(call *ast.CallExpr) bool {
	if t.depth > 0 {
		return false
	}
	err := errorOf(t, call)
	if err == nil || !t.goesOn(err) {
		return false
	}
	t.attempts(call, failing)
	t.of.all = true
	return true
}

// errorOf returns the variable with the error that a call returns; nil for none.
func errorOf(t *trying, call *ast.CallExpr) types.Object {
	a, ok := syntax.Parent(t.p, call).(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return nil
	}
	id, ok := a.Lhs[len(a.Lhs)-1].(*ast.Ident)
	if !ok || id.Name == "_" {
		return nil
	}
	v := t.p.Object(id)
	if v == nil || !types.Identical(v.Type(), types.Universe.Lookup("error").Type()) {
		return nil
	}
	return v
}

// goesOn reports whether most iterations go on with an error: what is done without one runs seldom,
// or what is done with one in most of them.
func (t *trying) goesOn(err types.Object) bool {
	if op := compared(t, t.of.loop.Cond, err); op != token.ILLEGAL {
		return op == token.NEQ
	}
	found := false
	ast.Inspect(t.of.loop.Body, func(n ast.Node) bool {
		i, ok := n.(*ast.IfStmt)
		if !ok || len(i.Body.List) == 0 || found {
			return !found
		}
		often := t.runs(t.p, i, syntax.Line(t.p, i.Body.List[0].Pos())) >= hot*t.of.iterations
		switch compared(t, i.Cond, err) {
		case token.EQL:
			found = !often
		case token.NEQ:
			found = often
		}
		return !found
	})
	return found
}

// compared returns the operator by which a condition compares an error with nil.
func compared(t *trying, cond ast.Expr, err types.Object) token.Token {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || !t.p.Info.Types[b.Y].IsNil() {
		return token.ILLEGAL
	}
	id, ok := ast.Unparen(b.X).(*ast.Ident)
	if !ok || t.p.Object(id) != err {
		return token.ILLEGAL
	}
	return b.Op
}
