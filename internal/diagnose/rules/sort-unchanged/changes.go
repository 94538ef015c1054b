package sortunchanged

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// source returns the origin of a sorted list: itself or, for a local variable, the list that it is
// a copy of or the map whose keys it holds. nil when that is not known.
func source(p *gocode.Place, list ast.Expr) ast.Expr {
	v := syntax.LocalVar(p, list)
	if v == nil {
		return list
	}
	if syntax.Param(p, v) {
		return nil
	}
	var from ast.Expr
	for _, value := range syntax.Assigned(p, v) {
		call, ok := ast.Unparen(value).(*ast.CallExpr)
		if !ok {
			if lit, ok := ast.Unparen(value).(*ast.CompositeLit); ok && len(lit.Elts) == 0 {
				continue
			}
			return nil
		}
		switch p.CalleeName(call) {
		case "make":
			continue
		case "slices.Clone":
			from = call.Args[0]
		case "append":
			switch {
			case call.Ellipsis.IsValid() && len(call.Args) == 2:
				from = call.Args[1]
			case len(call.Args) == 2:
				from = ranged(p, call.Args[1]) // names = append(names, name)
			}
		}
		if from == nil {
			return nil
		}
	}
	return from
}

// ranged returns the list or map of the range statement whose variable, or a field of it, an
// expression is.
func ranged(p *gocode.Place, e ast.Expr) ast.Expr {
	v, _ := syntax.Var(p, e)
	if v == nil {
		return nil
	}
	for _, n := range p.Enclosing(e) {
		loop, ok := n.(*ast.RangeStmt)
		if !ok {
			continue
		}
		if syntax.LocalVar(p, loop.Key) == v || loop.Value != nil && syntax.LocalVar(p, loop.Value) == v {
			if plain(loop.Body) {
				return loop.X
			}
		}
		return nil
	}
	return nil
}

// plain reports whether a loop's body takes every element, without conditions.
func plain(body *ast.BlockStmt) bool {
	fine := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.IfStmt, *ast.SwitchStmt, *ast.BranchStmt, *ast.ReturnStmt:
			fine = false
		}
		return fine
	})
	return fine
}

// orderOf returns the fields that the order of a sort depends on; false when it also depends on
// arguments of the call, or is not known.
func orderOf(p *gocode.Place, call *ast.CallExpr, list ast.Expr) (keys []*types.Var, ok bool) {
	if len(call.Args) < 2 {
		t, ok := p.TypeOf(list).Underlying().(*types.Slice)
		if !ok {
			return nil, false
		}
		_, basic := t.Elem().Underlying().(*types.Basic)
		return nil, basic
	}
	less := call.Args[len(call.Args)-1]
	lit, ok := ast.Unparen(less).(*ast.FuncLit)
	if !ok {
		// A function of a package, such as cmp.Compare or strings.Compare, has no state.
		switch f := ast.Unparen(less).(type) {
		case *ast.Ident:
			_, ok = p.Object(f).(*types.Func)
		case *ast.SelectorExpr:
			var fn *types.Func
			fn, ok = p.Object(f.Sel).(*types.Func)
			ok = ok && fn.Signature().Recv() == nil
		}
		return nil, ok && basicElements(p, list)
	}
	sorted, _ := syntax.Var(p, list)
	fine := true
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return fine
		}
		v, ok := p.Object(id).(*types.Var)
		switch {
		case !ok:
		case v.IsField():
			keys = append(keys, v)
		case v == sorted || syntax.Inside(lit, v.Pos()):
		default:
			fine = false
		}
		return fine
	})
	return keys, fine
}

func basicElements(p *gocode.Place, list ast.Expr) bool {
	t, ok := p.TypeOf(list).Underlying().(*types.Slice)
	if !ok {
		return false
	}
	_, basic := t.Elem().Underlying().(*types.Basic)
	return basic
}

// sorting counts how often a list is sorted.
type sorting struct {
	kept.Changes
}

// sorts returns how often the list is sorted for each unit of work: how often its function is
// called. The sort's own line may hold the comparison, which runs more often. It reports false if
// the sort does not run once in each call.
func (c *sorting) sorts() (float64, bool) {
	p := c.Place
	var whole ast.Stmt
	for _, stmt := range p.Decl.Body.List {
		if syntax.Within(stmt, c.Skip) {
			whole = stmt
		}
	}
	if _, straight := whole.(*ast.ExprStmt); !straight {
		return 0, false
	}
	for _, stmt := range p.Decl.Body.List {
		if stmt == whole || holdsFunc(stmt) {
			continue
		}
		if n, ok := c.Ran(stmt); ok {
			return n, true
		}
	}
	return 0, false
}

func holdsFunc(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit, *ast.ForStmt, *ast.RangeStmt:
			found = true
		}
		return !found
	})
	return found
}
