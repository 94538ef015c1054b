package formattedmapkey

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// passed reports whether a call passes a text to a function of the package, such as the get of a
// cache, that uses it only as a key, and that gets a formatted text from all of its callers.
func (u *uses) passed(p *gocode.Place, call *ast.CallExpr, text ast.Expr) bool {
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	i := slices.Index(call.Args, text)
	if u.within || decl == nil || decl.Body == nil || i < 0 || fn.Signature().Variadic() || fn.Exported() && p.Pkg.Name() != "main" {
		return false
	}
	in := p.Entry(decl)
	reads := syntax.Reads(in, fn.Signature().Params().At(i))
	u.within = true
	defer func() { u.within = false }()
	for _, id := range reads {
		if !u.keys(in, id) {
			return false
		}
	}
	return len(reads) > 0 && allFormat(p, fn, i)
}

// allFormat reports whether all uses of a function in the package are calls that pass a formatted
// text as argument i.
func allFormat(p *gocode.Place, fn *types.Func, i int) bool {
	uses, calls := 0, 0
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if used, ok := p.Info.Uses[n].(*types.Func); ok && used.Origin() == fn {
					uses++
				}
			case *ast.CallExpr:
				if p.Callee(n) == fn && i < len(n.Args) && formats(p, n.Args[i]) {
					calls++
				}
			}
			return true
		})
	}
	return calls > 0 && calls == uses
}

// formats reports whether an expression builds a text, or is a variable that got one.
func formats(p *gocode.Place, e ast.Expr) bool {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		e = assigned(p, id)
	}
	switch e := e.(type) {
	case *ast.CallExpr:
		return funcname.Match(p.CalleeName(e), funcname.TypedAll(builders())...)
	case *ast.BinaryExpr:
		return e.Op == token.ADD && syntax.IsString(p, e)
	}
	return false
}

// assigned returns the only expression that the package assigns to a variable; nil for none.
func assigned(p *gocode.Place, id *ast.Ident) (value ast.Expr) {
	obj := p.Object(id)
	values := 0
	for _, file := range p.Files() {
		if !syntax.Inside(file, id.Pos()) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
				for i, lhs := range a.Lhs {
					if to, ok := lhs.(*ast.Ident); ok && p.Object(to) == obj {
						value = a.Rhs[i]
						values++
					}
				}
			}
			return true
		})
	}
	if values != 1 {
		return nil
	}
	return value
}
