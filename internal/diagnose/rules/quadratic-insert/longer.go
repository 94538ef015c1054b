package quadraticinsert

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// longerCopy is a slice with all elements of another, and a few more.
type longerCopy struct {
	xs  ast.Expr
	how way
	// replaces says that the function sets xs to the copy: a field or a package variable. Otherwise
	// it returns the copy of a parameter.
	replaces bool
}

// longer returns the copy that the line of a place makes or fills: next := make([]T, len(xs)+1) and
// copy(next, xs), or a loop that appends the elements; or a result append([]T{x}, xs...). nil for
// none.
func longer(p *gocode.Place) (found *longerCopy) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if found == nil && len(n.Lhs) == 1 && len(n.Rhs) == 1 {
				found = created(p, n)
			}
		case *ast.ReturnStmt:
			if found == nil && len(n.Results) > 0 {
				found = returned(p, n.Results[0])
			}
		}
		return found == nil
	})
	return found
}

// created returns the copy for which a statement makes room.
func created(p *gocode.Place, stmt *ast.AssignStmt) *longerCopy {
	to := syntax.LocalVar(p, stmt.Lhs[0])
	create, ok := ast.Unparen(stmt.Rhs[0]).(*ast.CallExpr)
	if !ok || to == nil || p.CalleeName(create) != "make" || len(create.Args) < 2 {
		return nil
	}
	xs := plus(p, create.Args[len(create.Args)-1])
	if xs == nil || elemOf(p, xs) == nil {
		return nil
	}
	f := &filling{Place: p, to: to, xs: xs}
	ast.Inspect(syntax.Body(p), f.visit)
	if f.at == 0 || f.at != p.Line && syntax.Line(p, create.Lparen) != p.Line {
		return nil
	}
	how := copies
	if f.after {
		how = prepends
	}
	if v := syntax.LocalVar(p, xs); v != nil && syntax.Param(p, v) {
		return &longerCopy{xs: xs, how: copies}
	}
	if f.replaces && persists(p, xs) {
		return &longerCopy{xs, how, true}
	}
	return nil
}

// filling is how a slice gets the elements of another.
type filling struct {
	*gocode.Place
	to       *types.Var
	xs       ast.Expr
	at       int  // the line that copies; 0 for none
	after    bool // behind other elements
	set      bool // to something else, before
	replaces bool
}

func (f *filling) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.RangeStmt:
		if syntax.Same(f.Place, n.X, f.xs) && f.at == 0 {
			f.each(n)
			return false
		}
	case *ast.AssignStmt:
		for i, lhs := range n.Lhs {
			if syntax.Same(f.Place, lhs, f.xs) && len(n.Rhs) == len(n.Lhs) && syntax.LocalVar(f.Place, n.Rhs[i]) == f.to {
				f.replaces = true
			}
			at, element := ast.Unparen(lhs).(*ast.IndexExpr)
			f.set = f.set || element && f.is(at.X)
		}
	case *ast.CallExpr:
		f.call(n)
	}
	return true
}

// call examines a call that may copy the elements.
func (f *filling) call(call *ast.CallExpr) {
	if len(call.Args) < 2 {
		return
	}
	to := ast.Unparen(call.Args[0])
	switch f.CalleeName(call) {
	case "copy":
		part, cut := to.(*ast.SliceExpr)
		if cut {
			to = part.X
		}
		if f.is(to) && syntax.Same(f.Place, call.Args[1], f.xs) {
			f.at, f.after = syntax.Line(f.Place, call.Lparen), cut && part.Low != nil
		}
	case "append":
		if !f.is(to) || f.at != 0 {
			return
		}
		if call.Ellipsis.IsValid() && syntax.Same(f.Place, call.Args[1], f.xs) {
			f.at, f.after = syntax.Line(f.Place, call.Lparen), f.set
		}
		f.set = true
	}
}

// each examines a loop over the elements that adds each to the slice.
func (f *filling) each(loop *ast.RangeStmt) {
	if len(loop.Body.List) != 1 {
		return
	}
	a, ok := loop.Body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
		return
	}
	if at, element := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr); element && f.is(at.X) {
		f.at = syntax.Line(f.Place, a.Pos())
	}
	if call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr); ok && f.CalleeName(call) == "append" && f.is(a.Lhs[0]) && f.is(call.Args[0]) {
		f.at, f.after = syntax.Line(f.Place, a.Pos()), f.set
	}
}

func (f *filling) is(e ast.Expr) bool { return syntax.LocalVar(f.Place, e) == f.to }

// plus returns xs of a length len(xs) plus a little: not of a doubling, which later additions pay
// for.
func plus(p *gocode.Place, e ast.Expr) ast.Expr {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD {
		return nil
	}
	for _, x := range []ast.Expr{b.X, b.Y} {
		if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && p.CalleeName(call) == "len" {
			return call.Args[0]
		}
	}
	return nil
}

// returned returns the copy of a parameter that a function returns on the line of a place.
func returned(p *gocode.Place, e ast.Expr) *longerCopy {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || syntax.Line(p, call.Lparen) != p.Line || len(loops.Around(p, call)) > 0 {
		return nil
	}
	sig := syntax.SignatureOf(p)
	if sig == nil {
		return nil
	}
	for _, arg := range call.Args {
		if copied, ok := ast.Unparen(arg).(*ast.CallExpr); ok && len(copied.Args) > 0 { // append(slices.Clone(xs), x)
			arg = copied.Args[len(copied.Args)-1]
		}
		v := syntax.LocalVar(p, arg)
		if v == nil || syntax.ParamIndex(sig, v) < 0 && sig.Recv() != v {
			continue
		}
		if how := kind(p, call, arg); how == prepends || how == copies {
			return &longerCopy{xs: arg, how: how}
		}
	}
	return nil
}
