package copyonheap

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// written reports whether what gets the address of a variable, where it is used, may set the
// variable: a function that is not known to only read it. What stores the address may do so later,
// which the advice says.
func written(p *gocode.Place, id *ast.Ident) bool {
	var child ast.Node = id
	for _, n := range p.Enclosing(id) {
		switch n := n.(type) {
		case *ast.ParenExpr, *ast.IndexExpr:
		case *ast.SelectorExpr:
			if s := p.Info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
				fn, ok := s.Obj().(*types.Func)
				return !ok || !reads(p, fn, fn.Signature().Recv())
			}
		case *ast.UnaryExpr:
			if n.Op != token.AND {
				return false
			}
		case *ast.CallExpr:
			return n.Fun != child && !onlyReads(p, n, child)
		case *ast.SliceExpr:
			return true
		default:
			return false
		}
		child = n
	}
	return false
}

// onlyReads reports whether a call does not set what an argument of it refers to, or only stores
// the argument.
func onlyReads(p *gocode.Place, call *ast.CallExpr, arg ast.Node) bool {
	fn := p.Callee(call)
	if fn == nil {
		return p.CalleeName(call) == "append"
	}
	for _, verb := range []string{"Marshal", "Encode", "Append", "Write", "Print", "Fprint", "Sprint", "Format", "Execute"} {
		if strings.HasPrefix(fn.Name(), verb) {
			return true
		}
	}
	for i, a := range call.Args {
		if a == arg && i < fn.Signature().Params().Len() {
			return reads(p, fn, fn.Signature().Params().At(i))
		}
	}
	return false
}

// reads reports whether a function of the module does not set what a parameter of it refers to.
func reads(p *gocode.Place, fn *types.Func, param *types.Var) bool {
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || param == nil {
		return false
	}
	in := p.Entry(decl)
	return !syntax.Changes(in, decl.Body, param)
}
