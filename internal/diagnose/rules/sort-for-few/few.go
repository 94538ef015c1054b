package sortforfew

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// mostBelow is the number of nested calls that a list is followed through.
const mostBelow = 3

// page reports whether a slice expression takes a page of the list: x[i:i+k], or x[i:end] where end
// is i+k unless the list ends before.
func page(p *gocode.Place, v *types.Var, n *ast.SliceExpr) (count, bool) {
	ends := []ast.Expr{n.High}
	if end := syntax.LocalVar(p, n.High); end != nil {
		ends = syntax.Assigned(p, end)
	}
	for _, end := range ends {
		if call, ok := ast.Unparen(end).(*ast.CallExpr); ok && p.CalleeName(call) == "min" {
			ends = append(slices.Clone(ends), call.Args...)
		}
	}
	for _, end := range ends {
		b, ok := ast.Unparen(end).(*ast.BinaryExpr)
		if !ok || b.Op != token.ADD {
			continue
		}
		for _, side := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
			if !syntax.Same(p, side[0], n.Low) {
				continue
			}
			if k, ok := fewOf(p, v, side[1]); ok {
				return count{by: syntax.Text(n.Low) + "+" + named(k, side[1])}, true
			}
		}
	}
	return count{}, false
}

// named returns how the source names a number.
func named(k count, e ast.Expr) string {
	if k.by != "" {
		return k.by
	}
	return syntax.Text(e)
}

// passed reports whether a function of the package that gets the list reads only a few elements of
// it.
func (u *uses) passed(call *ast.CallExpr, list ast.Expr) bool {
	p := u.place
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	i := slices.IndexFunc(call.Args, func(arg ast.Expr) bool { return ast.Unparen(arg) == list })
	if decl == nil || decl.Body == nil || i < 0 || u.below >= mostBelow || fn.Signature().Variadic() || i >= fn.Signature().Params().Len() {
		return false
	}
	in := uses{pass: u.pass, frame: u.frame, place: p.Entry(decl), v: fn.Signature().Params().At(i), below: u.below + 1}
	in.copied = u.copied || u.v != nil && keptCopy(p, u.v)
	if len(syntax.Assigned(in.place, in.v)) > 0 || !in.all(syntax.Reads(in.place, in.v)) {
		return false
	}
	if in.first != nil && (u.first == nil || u.first.count > 0 && in.first.count == 0) {
		u.first = in.first
	}
	return true
}

// shorter reports whether the list is used only where it has at most the number of elements to
// take: if len(list) <= k { return list }.
func (u *uses) shorter(list ast.Expr) bool {
	for _, n := range u.place.Enclosing(list) {
		test, ok := n.(*ast.IfStmt)
		if !ok || !syntax.Within(test.Body, list) {
			continue
		}
		b, ok := ast.Unparen(test.Cond).(*ast.BinaryExpr)
		if !ok {
			continue
		}
		length, k := b.X, b.Y
		switch b.Op {
		case token.LSS, token.LEQ:
		case token.GTR, token.GEQ:
			length, k = b.Y, b.X
		default:
			continue
		}
		if isLen(u.place, u.v, length) {
			if _, ok := fewOf(u.place, u.v, k); ok {
				return true
			}
		}
	}
	return false
}

// passes reports whether a loop over the list looks for the first element that passes a test, and
// does nothing else: a scan finds the best of those that pass.
func (u *uses) passes(loop *ast.RangeStmt) bool {
	if key, ok := loop.Key.(*ast.Ident); loop.Key != nil && (!ok || key.Name != "_") || len(loop.Body.List) != 1 {
		return false // the place in the order may matter
	}
	test, ok := loop.Body.List[0].(*ast.IfStmt)
	if !ok || test.Init != nil || test.Else != nil || len(test.Body.List) == 0 || !u.tests(test.Cond) {
		return false
	}
	last := test.Body.List[len(test.Body.List)-1]
	if b, ok := last.(*ast.BranchStmt); ok && b.Tok != token.BREAK || !syntax.Departs(last, true) {
		return false
	}
	u.take(loop, count{by: "one"})
	if u.first.node == loop {
		u.first.passing, u.first.text = true, "the first element that passes the test"
	}
	return true
}

// tests reports whether a condition only looks at an element: calls in it change nothing.
func (u *uses) tests(cond ast.Expr) bool {
	p, fine := u.place, true
	ast.Inspect(cond, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !fine {
			return fine
		}
		fn := p.Callee(call)
		switch decl := p.Declaration(fn); {
		case fn == nil: // a builtin, a conversion, or a test that the caller chose
		case decl != nil && decl.Body != nil:
			fine = effects.LooksPure(p.Entry(decl))
		default:
			fine = !effects.Impure(fn)
		}
		return fine
	})
	return fine
}

// trimmed finds the statement after a sort that cuts the list, a field, to a few elements:
// x.top = x.top[:k].
func (u *uses) trimmed(call *ast.CallExpr, list ast.Expr) {
	p := u.place
	var stmt ast.Stmt
	for _, n := range p.Enclosing(call) {
		if s, ok := n.(ast.Stmt); ok && stmt == nil {
			stmt = s
			continue
		}
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			continue
		}
		i := slices.Index(block.List, stmt)
		if i < 0 || i+1 >= len(block.List) {
			return
		}
		next := block.List[i+1]
		if test, ok := next.(*ast.IfStmt); ok && len(test.Body.List) == 1 {
			next = test.Body.List[0]
		}
		a, ok := next.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || !syntax.Same(p, a.Lhs[0], list) {
			return
		}
		cut, ok := ast.Unparen(a.Rhs[0]).(*ast.SliceExpr)
		if !ok || !syntax.Same(p, cut.X, list) {
			return
		}
		if k, ok := fewIn(p, nil, cut); ok && cut.Low == nil {
			u.take(cut, k)
		}
		return
	}
}
