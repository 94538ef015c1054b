package cachemiss

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// bound describes the field of a cache's type that its methods compare its length with, if only
// functions of the package set it: it is zero until one of them is called; "" if there is none.
func bound(p *gocode.Place, cache ast.Expr) (words, setter string) {
	field := limit(p, p.TypeOf(cache))
	if field == nil {
		return "", ""
	}
	var names []string
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			fn, _ := d.(*ast.FuncDecl)
			if !sets(p, d, field) {
				continue
			}
			if fn == nil || !fn.Name.IsExported() {
				return "", "" // a constructor may set it
			}
			names = append(names, fn.Name.Name)
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf(" Its methods limit it to %s elements, which nothing sets.", field.Name()), ""
	}
	return fmt.Sprintf(" Its methods limit it to %s elements, which is 0 until %s sets it.", field.Name(), funcname.List(names)), names[0]
}

// limit returns the integer field that a method of a type compares a length with.
func limit(p *gocode.Place, t types.Type) (found *types.Var) {
	if t == nil {
		return nil
	}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || fn.Recv == nil || len(fn.Recv.List) == 0 || !types.Identical(value(p.TypeOf(fn.Recv.List[0].Type)), value(t)) {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				b, ok := n.(*ast.BinaryExpr)
				if ok && slices.Contains([]token.Token{token.GTR, token.GEQ, token.LSS, token.LEQ}, b.Op) {
					for _, pair := range [][2]ast.Expr{{b.X, b.Y}, {b.Y, b.X}} {
						if v := syntax.Named(p, pair[1]); length(p, pair[0]) && v != nil && v.IsField() {
							found = v
						}
					}
				}
				return found == nil
			})
		}
	}
	return found
}

// length reports whether an expression is len(x) or x.Len().
func length(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, method := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return p.CalleeName(call) == "len" || method && sel.Sel.Name == "Len"
}

func value(t types.Type) types.Type {
	if t == nil {
		return types.Typ[types.Invalid]
	}
	if ptr, ok := t.(*types.Pointer); ok {
		return ptr.Elem()
	}
	return t
}

// sets reports whether a declaration sets a field, also in a literal.
func sets(p *gocode.Place, d ast.Decl, field *types.Var) (found bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return syntax.Named(p, e) == field })
		case *ast.CompositeLit:
			t := p.TypeOf(n)
			if t == nil {
				return true
			}
			s, ok := t.Underlying().(*types.Struct)
			if !ok || len(n.Elts) == 0 {
				return true
			}
			for _, elt := range n.Elts {
				if kv, ok := elt.(*ast.KeyValueExpr); ok {
					id, ok := kv.Key.(*ast.Ident)
					found = found || ok && p.Object(id) == field
				} else {
					found = found || has(s, field)
				}
			}
		}
		return !found
	})
	return found
}

func has(s *types.Struct, field *types.Var) bool {
	for f := range s.Fields() {
		if f == field {
			return true
		}
	}
	return false
}
