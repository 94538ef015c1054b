package fewworkers

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// owns returns what the function of a worker changes without a lock although it belongs to more
// than one call of it, a field of its receiver or a map that it has made before its loop; "" for
// nothing. Another goroutine with that function would need a lock, or have other data.
func (w *workers) owns(t *traced.Queue) string {
	p := w.pass.Place(t.Site)
	if p == nil {
		return ""
	}
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			if in := p.Entry(decl); syntax.ProfileName(in) == w.Function {
				return owned(in)
			}
		}
	}
	return ""
}

// owned is owns for the function declared around a place.
func owned(p *gocode.Place) (name string) {
	locked := false
	visit := func(to ast.Expr, loop ast.Node) {
		root, _ := syntax.Var(p, to)
		if root == nil || name != "" {
			return
		}
		_, field := ast.Unparen(to).(*ast.SelectorExpr)
		x, element := ast.Unparen(to).(*ast.IndexExpr)
		switch {
		case root.Kind() == types.RecvVar && (field || element):
			name = syntax.Text(to)
			if element {
				name = syntax.Text(x.X)
			}
		case element && syntax.IsMap(p.TypeOf(x.X)) && root.Kind() == types.LocalVar && !syntax.Inside(loop, root.Pos()):
			name = syntax.Text(x.X)
		}
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if n == nil {
			return false
		}
		loop := p.LoopAround(n)
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.CallExpr:
			locked = locked || syntax.OnMutex(p, n)
			if p.CalleeName(n) == "delete" && loop != nil {
				visit(&ast.IndexExpr{X: n.Args[0], Index: n.Args[1]}, loop)
			}
		case *ast.IncDecStmt:
			if loop != nil {
				visit(n.X, loop)
			}
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if loop != nil {
					visit(lhs, loop)
				}
			}
		}
		return true
	})
	if locked {
		return ""
	}
	return name
}
