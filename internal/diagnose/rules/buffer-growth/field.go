package buffergrowth

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// fieldOf returns the only field that is a buffer in a struct of the place's package, given by its
// type or that of a pointer to it; nil for other types.
func fieldOf(p *gocode.Place, t types.Type) (found *types.Var) {
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() != p.Pkg {
		return nil
	}
	s, ok := named.Origin().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for f := range s.Fields() {
		if name := f.Type().String(); name == "bytes.Buffer" || name == "strings.Builder" {
			if found != nil {
				return nil
			}
			found = f
		}
	}
	return found
}

// kept reports whether the package grows the buffer in a field, or uses it again.
func kept(p *gocode.Place, field *types.Var) bool {
	found := false
	for _, file := range p.Files() {
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || found {
				return !found
			}
			switch sel.Sel.Name {
			case "Grow", "Reset", "Truncate":
				found = syntax.Named(p, sel.X) == field
			}
			return !found
		})
	}
	return found
}

// unset reports whether a literal of a struct, or a new one, leaves a field empty.
func unset(p *gocode.Place, value ast.Expr, field *types.Var) bool {
	switch e := ast.Unparen(value).(type) {
	case *ast.UnaryExpr:
		return e.Op == token.AND && unset(p, e.X, field)
	case *ast.CompositeLit:
		for _, elt := range e.Elts {
			kv, ok := elt.(*ast.KeyValueExpr)
			if !ok {
				return false
			}
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == field.Name() {
				return false
			}
		}
		return true
	case *ast.CallExpr:
		return p.CalleeName(e) == "new"
	}
	return false
}
