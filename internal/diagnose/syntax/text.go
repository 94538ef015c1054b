package syntax

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// Short shortens source text that is too long for a sentence.
func Short(code string) string {
	const longest = 80
	runes := []rune(code)
	if len(runes) <= longest {
		return code
	}
	return string(runes[:longest-1]) + "…"
}

// TypeText returns a type for a sentence: types of other packages have the package's name, not its
// path.
func TypeText(p *gocode.Place, t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == p.Pkg {
			return ""
		}
		return other.Name()
	})
}

// Text returns an expression as in the source, shortened for a sentence.
func Text(e ast.Expr) string { return Short(types.ExprString(ast.Unparen(e))) }

// FuncName returns the function around a place for a sentence: "Send", "a function in Send".
func FuncName(p *gocode.Place) string {
	if p.Decl == nil {
		return "a package variable's initialiser"
	}
	if p.Func != p.Decl {
		return "a function in " + p.Decl.Name.Name
	}
	return p.Decl.Name.Name
}

// ProfileName returns the name in profiles of the declared function around a place; "" outside of
// any.
func ProfileName(p *gocode.Place) string {
	if p.Decl == nil {
		return ""
	}
	pkg := p.Pkg.Path()
	if p.Pkg.Name() == "main" {
		pkg = "main"
	}
	fn, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok || fn.Signature().Recv() == nil {
		return pkg + "." + p.Decl.Name.Name
	}
	recv, pointer := fn.Signature().Recv().Type(), false
	if ptr, ok := recv.(*types.Pointer); ok {
		recv, pointer = ptr.Elem(), true
	}
	named, ok := recv.(*types.Named)
	if !ok {
		return ""
	}
	if pointer {
		return fmt.Sprintf("%s.(*%s).%s", pkg, named.Obj().Name(), fn.Name())
	}
	return fmt.Sprintf("%s.%s.%s", pkg, named.Obj().Name(), fn.Name())
}
