package costlytestfirst

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// cheap reports whether a condition only compares fields and variables, also in functions of the
// package that do nothing else.
func cheap(p *gocode.Place, e ast.Expr, depth int) bool {
	fine, fields := true, false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := p.CalleeName(n)
			_, conversion := p.Conversion(n)
			if name == "len" || name == "cap" || conversion && !syntax.StringOrBytes(p.TypeOf(n)) {
				return true
			}
			fine = fine && depth > 0 && trivial(p, n, depth-1)
			fields = true
		case *ast.SelectorExpr:
			fields = true
		case *ast.FuncLit, *ast.CompositeLit, *ast.IndexExpr, *ast.SliceExpr, *ast.TypeAssertExpr:
			fine = false
		case *ast.UnaryExpr:
			fine = fine && n.Op != token.ARROW && n.Op != token.AND
		case *ast.BinaryExpr:
			fine = fine && n.Op != token.QUO && n.Op != token.REM // by zero
			fine = fine && (n.Op != token.ADD || !syntax.IsString(p, n))
			if p.Info.Types[n.Y].IsNil() || p.Info.Types[n.X].IsNil() {
				fine = false // what is tested for nil may be needed before
			}
		}
		return fine
	})
	return fine && fields
}

// trivial reports whether a function of the package only returns a cheap condition or a field.
func trivial(p *gocode.Place, call *ast.CallExpr, depth int) bool {
	in, result := syntax.Returned(p, call)
	return in != nil && cheap(in, result, depth)
}

// independent reports whether a condition uses nothing that a call sets.
func (s *search) independent(p *gocode.Place, call *ast.CallExpr, cond ast.Expr) bool {
	set := map[*types.Var]bool{}
	for _, arg := range call.Args {
		if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
			if v, _ := syntax.Var(p, u.X); v != nil {
				set[v] = true
			}
		}
	}
	fine := !testsNil(p, call)
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, _ := p.Object(n).(*types.Var)
			fine = fine && !set[v]
		case *ast.SelectorExpr:
			fine = fine && !follows(p, call, n.X)
		}
		return fine
	})
	return fine
}

// follows reports whether an expression is a pointer or an interface in what a call gets: the call
// may find out whether it is nil.
func follows(p *gocode.Place, call *ast.CallExpr, e ast.Expr) bool {
	e = ast.Unparen(e)
	if _, name := e.(*ast.Ident); name || p.TypeOf(e) == nil {
		return false
	}
	switch p.TypeOf(e).Underlying().(type) {
	case *types.Pointer, *types.Interface:
	default:
		return false
	}
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if v := local(p, n); v != nil {
			found = found || uses(p, call, v)
		}
		return !found
	})
	return found
}

func local(p *gocode.Place, n ast.Node) *types.Var {
	id, ok := n.(*ast.Ident)
	if !ok {
		return nil
	}
	return syntax.LocalVar(p, id)
}

// uses reports whether a node uses a local variable.
func uses(p *gocode.Place, root ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		found = found || local(p, n) == v
		return !found
	})
	return found
}

// testsNil reports whether the function that is called compares what it gets with nil.
func testsNil(p *gocode.Place, call *ast.CallExpr) bool {
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil {
		return false
	}
	found, in := false, p.Entry(decl)
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && p.Info.Types[b.Y].IsNil() {
			v := local(in, ast.Unparen(b.X))
			found = found || v != nil && !syntax.Inside(decl.Body, v.Pos())
		}
		return !found
	})
	return found
}
