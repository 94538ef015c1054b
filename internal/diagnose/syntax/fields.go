package syntax

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/gocode"
)

// NewField returns the local variable of an expression x.f if the function creates the struct that
// x has, as T{…}, &T{…}, new(T) or the zero value, and the value that the field gets there; nil for
// the zero value. It reports false if the struct comes from somewhere else.
func NewField(p *gocode.Place, e ast.Expr) (x *types.Var, initial ast.Expr, ok bool) {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok || p.Info.Selections[sel] == nil {
		return nil, nil, false
	}
	v := LocalVar(p, sel.X)
	if v == nil {
		return nil, nil, false
	}
	stmt, value := Declared(p, v)
	if spec, ok := stmt.(*ast.ValueSpec); ok && len(spec.Values) == 0 {
		return v, nil, true
	}
	initial, ok = fieldIn(p, value, sel.Sel.Name)
	return v, initial, ok
}

// fieldIn returns the value of a field in an expression that creates a struct.
func fieldIn(p *gocode.Place, e ast.Expr, field string) (ast.Expr, bool) {
	switch x := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return fieldIn(p, x.X, field)
		}
	case *ast.CallExpr:
		return nil, p.CalleeName(x) == "new"
	case *ast.CompositeLit:
		for i, elt := range x.Elts {
			kv, keyed := elt.(*ast.KeyValueExpr)
			if !keyed {
				s, ok := p.TypeOf(x).Underlying().(*types.Struct)
				if ok && i < s.NumFields() && s.Field(i).Name() == field {
					return elt, true
				}
				continue
			}
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == field {
				return kv.Value, true
			}
		}
		return nil, true
	}
	return nil, false
}

// SetsOf returns how often the function assigns to an expression such as x.f.
func SetsOf(p *gocode.Place, e ast.Expr) (sets int) {
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			for _, lhs := range a.Lhs {
				if Same(p, lhs, e) {
					sets++
				}
			}
		}
		return true
	})
	return sets
}
