package resultonlytested

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// allocatesResult reports whether what a line allocates only becomes part of the result of its
// function.
func allocatesResult(p *gocode.Place) bool {
	if p.Decl == nil || p.Func != ast.Node(p.Decl) {
		return false
	}
	nodes := syntax.Allocating(p)
	for _, n := range nodes {
		e, ok := n.(ast.Expr)
		if !ok || !newResult(p).takes(e) {
			return false
		}
	}
	return len(nodes) > 0
}

// mayReturnNil reports whether a function has one result, which it may set to nil: a pointer, a
// slice or a map, and no error.
func mayReturnNil(p *gocode.Place) (found bool) {
	if p.Decl == nil || p.Func != ast.Node(p.Decl) || p.Decl.Body == nil {
		return false
	}
	fn, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if !ok || fn.Signature().Results().Len() != 1 {
		return false
	}
	t := fn.Signature().Results().At(0).Type()
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
	default:
		return false
	}
	if failure, ok := types.Universe.Lookup("error").Type().Underlying().(*types.Interface); ok && types.Implements(t, failure) {
		return false
	}
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = found || len(n.Results) == 1 && p.Info.Types[n.Results[0]].IsNil()
		}
		return !found
	})
	return found
}

// result follows values to the result of a function.
type result struct {
	place *gocode.Place
	seen  map[*types.Var]bool
}

func newResult(p *gocode.Place) *result {
	return &result{place: p.Outer(), seen: map[*types.Var]bool{}}
}

// takes reports whether the value of an expression becomes part of the result, and nothing else.
func (r *result) takes(e ast.Expr) bool {
	switch n := syntax.Parent(r.place, e).(type) {
	case *ast.ReturnStmt:
		return len(n.Results) == 1
	case *ast.UnaryExpr:
		return n.Op == token.AND && r.takes(n)
	case *ast.CompositeLit:
		return n.Type != e && r.takes(n)
	case *ast.KeyValueExpr:
		lit, ok := syntax.Parent(r.place, n).(*ast.CompositeLit)
		return ok && n.Value == e && r.takes(lit)
	case *ast.AssignStmt, *ast.ValueSpec:
		to := syntax.AssignedTo(r.place, e)
		if to == nil {
			return false
		}
		v, _ := syntax.Var(r.place, to)
		return v != nil && r.builds(v)
	case *ast.CallExpr:
		return r.place.CalleeName(n) == "append" && r.takes(n)
	}
	return false
}

// builds reports whether a local variable is only filled and returned.
func (r *result) builds(v *types.Var) bool {
	if r.seen[v] {
		return true
	}
	r.seen[v] = true
	if v.IsField() || !syntax.Local(r.place, v) || syntax.Param(r.place, v) {
		return false
	}
	for _, id := range syntax.Reads(r.place, v) {
		if syntax.Capturing(r.place, v, id) != nil || !r.fills(id) {
			return false
		}
	}
	return true
}

// fills reports whether a use of a variable sets a part of it, asks for its length, or makes it a
// part of the result.
func (r *result) fills(id ast.Expr) bool {
	part := id
	for {
		n, ok := syntax.Parent(r.place, part).(ast.Expr)
		if !ok || !selects(n, part) {
			break
		}
		part = n
	}
	if syntax.Defines(r.place, part) {
		return true
	}
	switch n := syntax.Parent(r.place, part).(type) {
	case *ast.RangeStmt:
		return n.X == part && n.Value == nil
	case *ast.CallExpr:
		switch r.place.CalleeName(n) {
		case "len", "cap":
			return true
		case "copy":
			return n.Args[0] == part
		}
	}
	return r.takes(part)
}

// selects reports whether an expression is a part of another.
func selects(n, of ast.Expr) bool {
	switch n := n.(type) {
	case *ast.ParenExpr:
		return true
	case *ast.SelectorExpr:
		return n.X == of
	case *ast.IndexExpr:
		return n.X == of
	case *ast.StarExpr:
		return true
	}
	return false
}
