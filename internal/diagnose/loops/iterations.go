package loops

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Iterations returns how often a loop runs, as an expression that can be evaluated before the loop:
// "len(xs)", "n". It reports false for loops that stop on a condition, and for loops over channels
// and functions.
func Iterations(p *gocode.Place, loop ast.Node) (string, bool) {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		t := p.TypeOf(l.X)
		if t == nil {
			return "", false
		}
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		text := syntax.Short(types.ExprString(ast.Unparen(l.X)))
		switch u := t.Underlying().(type) {
		case *types.Slice, *types.Array, *types.Map:
			return "len(" + text + ")", true
		case *types.Basic:
			if u.Info()&types.IsString != 0 {
				return "len(" + text + ")", true
			}
			return text, u.Info()&types.IsInteger != 0
		}
	case *ast.ForStmt:
		return countedIterations(p, l)
	}
	return "", false
}

// Evaluates reports whether the number of a loop's iterations comes from a call of the program,
// which may return another number the next time, or take long: advice must not repeat it.
func Evaluates(p *gocode.Place, loop ast.Node) bool {
	var bound ast.Expr
	switch l := loop.(type) {
	case *ast.RangeStmt:
		bound = l.X
	case *ast.ForStmt:
		bound = l.Cond
	}
	if bound == nil {
		return false
	}
	found := false
	ast.Inspect(bound, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			_, conversion := p.Conversion(call)
			found = found || !conversion && p.Callee(call) != nil
		}
		return !found
	})
	return found
}

// countedIterations is Iterations for i := a; i < b; i++, with a and b that the loop does not
// change.
func countedIterations(p *gocode.Place, l *ast.ForStmt) (string, bool) {
	init, ok := l.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 || len(init.Rhs) != 1 {
		return "", false
	}
	post, ok := l.Post.(*ast.IncDecStmt)
	if !ok || post.Tok != token.INC || !syntax.Same(p, post.X, init.Lhs[0]) {
		return "", false
	}
	cond, ok := l.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.LSS && cond.Op != token.LEQ || !syntax.Same(p, cond.X, init.Lhs[0]) || !Invariant(p, l, cond.Y) {
		return "", false
	}
	if id, ok := init.Lhs[0].(*ast.Ident); ok {
		if v, _ := p.Object(id).(*types.Var); v != nil && syntax.Changes(p, l.Body, v) {
			return "", false
		}
	}
	text := syntax.Short(types.ExprString(cond.Y))
	if from, ok := syntax.ConstInt(p, init.Rhs[0]); !ok || from != 0 {
		text += " - " + types.ExprString(init.Rhs[0])
	}
	if cond.Op == token.LEQ {
		text += " + 1"
	}
	return text, true
}

// EveryIteration reports whether n runs in each iteration of a loop that does not end the function:
// no condition is around it, and nothing in the loop skips it or ends the loop early, other than a
// return.
func EveryIteration(p *gocode.Place, loop, n ast.Node) bool {
	reached := false
	for _, x := range p.Enclosing(n) {
		if x == loop {
			reached = true
			break
		}
		switch x.(type) {
		case *ast.BlockStmt, *ast.ExprStmt, *ast.AssignStmt, *ast.CallExpr, *ast.DeclStmt, *ast.GenDecl, *ast.ValueSpec,
			*ast.ParenExpr, *ast.UnaryExpr, *ast.KeyValueExpr, *ast.CompositeLit, *ast.IndexExpr, *ast.SelectorExpr, *ast.StarExpr:
		default:
			return false
		}
	}
	return reached && !skips(Body(loop))
}

// skips reports whether a statement of the block leaves an iteration or the loop before its end.
func skips(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			found = found || n.Tok != token.FALLTHROUGH
		}
		return !found
	})
	return found
}

// Returns reports whether a return inside the loop returns v: the loop may end early with part of
// the result. v may be a named result of p's function.
func Returns(p *gocode.Place, loop ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(Body(loop), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = found || len(n.Results) == 0 && syntax.IsResult(p, v)
			for _, e := range n.Results {
				ast.Inspect(e, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && p.Object(id) == v {
						found = true
					}
					return !found
				})
			}
		}
		return !found
	})
	return found
}
