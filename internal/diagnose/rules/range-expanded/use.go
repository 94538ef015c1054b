package rangeexpanded

import (
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// searched reports whether all that the package does with the list or map, other than to fill it,
// is to search it, and notes where.
func (e *expansion) searched(p *gocode.Place) bool {
	ok := true
	for _, f := range p.Files() {
		for _, d := range f.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is || fn.Body == nil {
				continue
			}
			in := p.Entry(fn)
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				id, is := n.(*ast.Ident)
				if !is || !ok || in.Object(id) != e.v {
					return ok
				}
				ok = e.use(in, id)
				return ok
			})
		}
	}
	return ok && e.search.IsValid()
}

// use reports whether a use of the list or map fills or searches it, or takes its length.
func (e *expansion) use(p *gocode.Place, id *ast.Ident) bool {
	var x ast.Expr = id
	if sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr); ok && sel.Sel == id {
		x = sel
	}
	switch n := syntax.Parent(p, x).(type) {
	case *ast.AssignStmt:
		return slices.Contains(n.Lhs, x) && len(n.Rhs) == 1 && filling(p, n.Rhs[0])
	case *ast.ValueSpec, *ast.Field:
		return true
	case *ast.KeyValueExpr:
		return n.Key == x
	case *ast.IndexExpr:
		if n.X != x || !syntax.IsMap(p.TypeOf(x)) {
			return false
		}
		if syntax.Defines(p, n) {
			return syntax.Within(e.loop, n) // others may take members out
		}
		e.found(n)
		return true
	case *ast.CallExpr:
		switch name := p.CalleeName(n); name {
		case "append":
			return n.Args[0] == x && !n.Ellipsis.IsValid()
		case "len", "cap", "clear":
			return true
		case "slices.Contains", "slices.Index", "slices.BinarySearch", "sort.SearchInts":
			e.found(n)
			return n.Args[0] == x
		case "slices.Sort", "sort.Ints":
			return true
		}
	}
	return false
}

// filling reports whether a value is what a list or map starts with, or gets by append.
func filling(p *gocode.Place, value ast.Expr) bool {
	switch v := ast.Unparen(value).(type) {
	case *ast.CallExpr:
		name := p.CalleeName(v)
		return name == "append" || name == "make"
	case *ast.CompositeLit:
		return len(v.Elts) == 0
	case *ast.Ident:
		return v.Name == "nil"
	}
	return false
}

// found notes a search.
func (e *expansion) found(n ast.Node) {
	if !e.search.IsValid() {
		e.search = n.Pos()
	}
}
