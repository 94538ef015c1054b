package finder

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

// Derived returns the rows of calls on the line whose only changing argument is what the given
// function returns there: if that is the same as before, so is what they compute from it. The
// function is named as in profiles.
func (c *Case) Derived(function string) (u rule.Uncertain) {
	outer := map[*ast.CallExpr]bool{}
	for _, call := range syntax.CallsTo(c.Place, function) {
		for {
			of, ok := syntax.Parent(c.Place, call).(*ast.CallExpr)
			if !ok || !c.only(of, call) {
				break
			}
			outer[of], call = true, of
		}
	}
	if len(outer) == 0 {
		return u
	}
	known := map[string]bool{}
	in := func(r *site.Row) bool {
		for i := max(1, r.Owner); i < len(r.Stack); i++ {
			if f := r.Stack[i]; f.Line != c.Site.Line || f.File != c.Site.File || f.Function != c.Site.Function {
				continue
			}
			below := r.Stack[i-1].Function
			is, seen := known[below]
			if !seen {
				for _, call := range syntax.CallsTo(c.Place, below) {
					is = is || outer[call]
				}
				known[below] = is
			}
			return is
		}
		return false
	}
	c.Pass.EachRow(func(r *site.Row) {
		if in(r) {
			u.CPU = append(u.CPU, r)
		}
	})
	for _, s := range c.Pass.Table.Sites {
		u.Allocs = append(u.Allocs, stacks.Select(s.Allocs, in)...)
	}
	return u
}

// only reports whether an argument is the only one of a call of a function, not of a method, that
// may differ from call to call: the others are constants and functions. A call for its effects
// alone returns nothing, or an error.
func (c *Case) only(call *ast.CallExpr, changing ast.Expr) bool {
	fn := c.Place.Callee(call)
	if fn == nil || fn.Signature().Recv() != nil || fn.Signature().Results().Len() == 0 ||
		types.TypeString(fn.Signature().Results().At(0).Type(), nil) == "error" {
		return false
	}
	if _, dropped := syntax.Parent(c.Place, call).(*ast.ExprStmt); dropped {
		return false
	}
	for _, arg := range call.Args {
		if _, constant := c.Place.Const(arg); ast.Unparen(arg) != changing && !constant && !c.function(arg) {
			return false
		}
	}
	return true
}

// function reports whether an expression names a declared function.
func (c *Case) function(e ast.Expr) bool {
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel
	default:
		return false
	}
	fn, ok := c.Place.Info.Uses[id].(*types.Func)
	return ok && fn.Signature().Recv() == nil
}
