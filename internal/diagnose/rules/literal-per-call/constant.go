package literalpercall

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepestCalls is how many calls within each other make an entry.
const deepestCalls = 3

// fixed knows what has the same value on every call of a function.
type fixed struct {
	syntax *gocode.Syntax
	place  *gocode.Place
	// depth is the number of calls around; the parameters of a called function are the same if its
	// arguments are.
	depth int
}

// constant reports whether all entries of a literal are the same on every call: constants,
// functions, and what functions make of such values that only compute their results.
func constant(s *gocode.Syntax, p *gocode.Place, lit *ast.CompositeLit) bool {
	return fixed{syntax: s, place: p}.literal(lit)
}

func (f fixed) literal(lit *ast.CompositeLit) bool {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if _, structure := f.place.TypeOf(lit).Underlying().(*types.Struct); !structure && !f.same(kv.Key) {
				return false
			}
			e = kv.Value
		}
		if !f.same(e) {
			return false
		}
	}
	return true
}

// same reports whether an expression has the same value on every call.
func (f fixed) same(e ast.Expr) bool {
	p := f.place
	if _, ok := p.Const(e); ok {
		return true
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return f.literal(x)
	case *ast.FuncLit:
		return f.depth > 0 && !counts(p) || !captures(p, x)
	case *ast.CallExpr:
		return f.made(x)
	case *ast.BinaryExpr:
		return f.same(x.X) && f.same(x.Y)
	case *ast.UnaryExpr:
		return x.Op != token.AND && x.Op != token.ARROW && f.same(x.X)
	case *ast.Ident:
		if v := syntax.LocalVar(p, x); v != nil && f.depth > 0 {
			return syntax.Param(p, v) && len(syntax.Assigned(p, v)) == 0
		}
	}
	tv, ok := p.Info.Types[e]
	return ok && tv.IsNil() || declared(p, e)
}

// made reports whether a call makes the same of its arguments on every call.
func (f fixed) made(call *ast.CallExpr) bool {
	p := f.place
	if f.depth == deepestCalls || call.Ellipsis.IsValid() || slices.ContainsFunc(call.Args, func(arg ast.Expr) bool { return !f.same(arg) }) {
		return false
	}
	if _, conversion := p.Conversion(call); conversion {
		return len(call.Args) == 1
	}
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Recv() != nil || !flat(p.TypeOf(call)) {
		return false
	}
	in, ok := f.syntax.Declared(fn)
	if !ok || in.Decl == nil || in.Decl.Body == nil {
		return slices.Contains(effects.PureFuncs(), fn.FullName())
	}
	if list := in.Decl.Body.List; len(list) == 1 {
		if ret, ok := list[0].(*ast.ReturnStmt); ok && len(ret.Results) == 1 {
			return fixed{f.syntax, in, f.depth + 1}.same(ret.Results[0])
		}
	}
	return effects.Pure(in) && !counts(in)
}

// declared reports whether an expression names a function, or a package variable that nothing sets.
func declared(p *gocode.Place, e ast.Expr) bool {
	var id *ast.Ident
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr: // package.Func; a method value has its receiver bound
		if p.Info.Selections[x] == nil {
			id = x.Sel
		}
	}
	if id == nil {
		return false
	}
	if v, ok := p.Object(id).(*types.Var); ok {
		return p.Initial(v) != nil
	}
	_, function := p.Object(id).(*types.Func)
	return function
}

// captures reports whether a function literal uses a variable of the function around it.
func captures(p *gocode.Place, lit *ast.FuncLit) (found bool) {
	ast.Inspect(lit, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || found {
			return !found
		}
		v, ok := p.Object(id).(*types.Var)
		found = ok && !v.IsField() && v.Parent() != v.Pkg().Scope() && !syntax.Inside(lit, v.Pos())
		return !found
	})
	return found
}

// counts reports whether a function returns function literals that change variables of it: each
// call then makes another state.
func counts(p *gocode.Place) (found bool) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return !found
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || found {
				return !found
			}
			v, ok := p.Object(id).(*types.Var)
			found = ok && !v.IsField() && v.Pkg() != nil && !syntax.Inside(lit, v.Pos()) && syntax.Changes(p, lit.Body, v)
			return !found
		})
		return !found
	})
	return found
}
