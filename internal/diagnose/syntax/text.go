package syntax

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// Short cuts source text that is too long for a sentence.
func Short(code string) string {
	const longest = 80
	runes := []rune(code)
	if len(runes) <= longest {
		return code
	}
	return string(runes[:longest-1]) + "…"
}

// TypeText is a type as a sentence has it: types of other packages with the package's name, not its path.
func TypeText(p *gocode.Place, t types.Type) string {
	return types.TypeString(t, func(other *types.Package) string {
		if other == p.Pkg {
			return ""
		}
		return other.Name()
	})
}

// Text is an expression as the source has it, cut to fit a sentence.
func Text(e ast.Expr) string { return Short(types.ExprString(ast.Unparen(e))) }

// FuncName is how a sentence names the function around a place: "Send", "a function in Send".
func FuncName(p *gocode.Place) string {
	if p.Decl == nil {
		return "a package variable's initialiser"
	}
	if p.Func != p.Decl {
		return "a function in " + p.Decl.Name.Name
	}
	return p.Decl.Name.Name
}
