package parsedperuse

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepestDecoder is the number of functions of a package through which a pointer is followed to the
// one that fills what it points to.
const deepestDecoder = 3

// fills reports whether a call passes one of some arguments to a function that may fill it by
// reflection: one that gets it as an interface or a type parameter, and does not just show it, or a
// function of the package that passes it on to another that may.
func fills(p *gocode.Place, call *ast.CallExpr, depth int, is func(ast.Expr) bool) bool {
	fn := p.Callee(call)
	if fn == nil || depth == 0 || shows(fn) {
		return false
	}
	sig := fn.Signature()
	for i, arg := range call.Args {
		if sig.Params().Len() == 0 || !is(arg) {
			continue
		}
		if at := min(i, sig.Params().Len()-1); filled(sig, at) && passesOn(p, fn, sig.Params().At(at).Name(), depth) {
			return true
		}
	}
	return false
}

// passesOn reports whether a function may fill what one of its parameters points to. That is
// assumed of functions of other packages.
func passesOn(p *gocode.Place, fn *types.Func, param string, depth int) bool {
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil {
		return true
	}
	in, found := p.Entry(decl), false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && fills(in, call, depth-1, func(arg ast.Expr) bool {
			v := syntax.LocalVar(in, arg)
			return v != nil && v.Name() == param
		})
		return !found
	})
	return found
}

// generic reports whether values of a type have those of a type parameter.
func generic(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Pointer:
		return generic(t.Elem())
	case *types.Slice:
		return generic(t.Elem())
	case *types.Map:
		return generic(t.Elem())
	}
	return false
}

// shows reports whether a function encodes or prints its arguments.
func shows(fn *types.Func) bool {
	if fn.Pkg() == nil {
		return false
	}
	switch fn.Pkg().Path() {
	case "fmt":
		return fn.Name()[0] != 'S' || len(fn.Name()) < 5 || fn.Name()[:5] != "Sscan"
	case "log", "log/slog":
		return true
	}
	return len(fn.Name()) >= 6 && (fn.Name()[:6] == "Encode" || fn.Name()[:6] == "Marsha")
}

// filled reports whether a parameter is an interface or a type parameter, also of a variadic list.
func filled(sig *types.Signature, i int) bool {
	t := sig.Params().At(i).Type()
	if list, ok := t.(*types.Slice); ok && sig.Variadic() && i == sig.Params().Len()-1 {
		t = list.Elem()
	}
	return types.IsInterface(t)
}
