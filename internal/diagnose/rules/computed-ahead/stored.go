package computedahead

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepest is the number of variables and calls that are followed.
const deepest = 6

// stored returns the field or package variable into which the result of the call is stored, itself
// or as an element, and the node that stores it; nil for none.
func (a *ahead) stored(p *gocode.Place) (*types.Var, ast.Node) {
	switch up := syntax.Parent(p, a.call).(type) {
	case *ast.AssignStmt:
		if len(up.Lhs) != 1 || len(up.Rhs) != 1 {
			return nil, nil
		}
		if v := a.into(p, up.Lhs[0]); v != nil {
			return v, up
		}
		if v := a.within(p, up); v != nil {
			return v, up
		}
		if local := syntax.LocalVar(p, up.Lhs[0]); local != nil && up.Tok == token.DEFINE {
			return a.later(p, local)
		}
	case *ast.CallExpr:
		return a.passed(p, up, a.call)
	}
	return nil, nil
}

// into returns the field or package variable that an expression sets or of which it sets an
// element.
func (a *ahead) into(p *gocode.Place, e ast.Expr) *types.Var {
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		e, a.keyed = x.X, true
	}
	v := syntax.Named(p, e)
	if v == nil || v.Pkg() != p.Pkg || !v.IsField() && v.Parent() != p.Pkg.Scope() {
		return nil
	}
	a.field = e
	return v
}

// within returns the field into which a map or list is stored as a whole of which an assignment
// sets an element, if the function only fills it before: all[k] = v, then x.all = all.
func (a *ahead) within(p *gocode.Place, set *ast.AssignStmt) (field *types.Var) {
	x, ok := ast.Unparen(set.Lhs[0]).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	local := syntax.LocalVar(p, x.X)
	if local == nil || syntax.Param(p, local) {
		return nil
	}
	for _, id := range syntax.Reads(p, local) {
		switch up := syntax.Parent(p, id).(type) {
		case *ast.IndexExpr:
			if in, ok := syntax.Parent(p, up).(*ast.AssignStmt); !ok || up.X != ast.Expr(id) || !slices.Contains(in.Lhs, ast.Expr(up)) {
				return nil // an element is read
			}
			continue
		case *ast.AssignStmt:
			if field == nil && len(up.Lhs) == 1 && len(up.Rhs) == 1 && up.Tok == token.ASSIGN {
				field = a.into(p, up.Lhs[0])
			}
		case *ast.CallExpr:
			if field == nil {
				field, _ = a.passed(p, up, id)
			}
		}
		if field == nil {
			return nil
		}
	}
	a.keyed = true
	return field
}

// later returns the field into which a local variable is stored, if that is its only use.
func (a *ahead) later(p *gocode.Place, local *types.Var) (*types.Var, ast.Node) {
	uses := syntax.Reads(p, local)
	if len(uses) != 1 {
		return nil, nil
	}
	switch up := syntax.Parent(p, uses[0]).(type) {
	case *ast.AssignStmt:
		if len(up.Lhs) == 1 && len(up.Rhs) == 1 && up.Tok == token.ASSIGN {
			return a.into(p, up.Lhs[0]), up
		}
	case *ast.CallExpr:
		return a.passed(p, up, uses[0])
	}
	return nil, nil
}

// passed returns the field that a call stores its last argument into: x.current.Store(v),
// x.views.Store(k, v).
func (a *ahead) passed(p *gocode.Place, call *ast.CallExpr, arg ast.Expr) (*types.Var, ast.Node) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 || ast.Unparen(call.Args[len(call.Args)-1]) != arg || !slices.Contains([]string{"Store", "Set", "Add", "Put"}, sel.Sel.Name) {
		return nil, nil
	}
	a.keyed = len(call.Args) > 1
	v := syntax.Named(p, sel.X)
	if v == nil || v.Pkg() != p.Pkg || !v.IsField() && v.Parent() != p.Pkg.Scope() {
		return nil, nil
	}
	a.field = sel.X
	return v, call
}

// fromKept reports whether a call computes its result of what the program keeps: it could do so
// later.
func (s *search) fromKept(p *gocode.Place, call *ast.CallExpr) bool {
	kept := false
	if to := syntax.Receiver(call); to != nil {
		if _, method := p.Info.Selections[ast.Unparen(call.Fun).(*ast.SelectorExpr)]; method {
			if !s.derived(p, to, &kept, deepest) {
				return false
			}
			kept = true // the object itself stays
		}
	}
	for _, arg := range call.Args {
		if !s.derived(p, arg, &kept, deepest) {
			return false
		}
	}
	return kept
}

// derived reports whether an expression is computed from constants and from what the program keeps,
// and notes lists and maps among that.
func (s *search) derived(p *gocode.Place, e ast.Expr, kept *bool, depth int) bool {
	if _, constant := p.Const(e); constant {
		return true
	}
	if depth--; depth < 0 {
		return false
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		v := syntax.Named(p, x)
		if v == nil || v.Pkg() != p.Pkg {
			return false
		}
		if v.IsField() && !s.derived(p, x.X, kept, depth) {
			return false
		}
		*kept = *kept || collection(v.Type())
		return true
	case *ast.IndexExpr:
		return s.derived(p, x.X, kept, depth) && s.derived(p, x.Index, kept, depth)
	case *ast.StarExpr:
		return s.derived(p, x.X, kept, depth)
	case *ast.UnaryExpr:
		return x.Op == token.AND && s.derived(p, x.X, kept, depth)
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		return (p.CalleeName(x) == "len" || p.CalleeName(x) == "make") && !slices.ContainsFunc(x.Args[len(x.Args)-1:], func(arg ast.Expr) bool {
			return !p.Info.Types[arg].IsType() && !s.derived(p, arg, kept, depth)
		})
	case *ast.Ident:
		return s.variable(p, x, kept, depth)
	}
	return false
}

// variable is derived for a variable: the receiver, one of a loop over what is kept, one with one
// value, or a parameter for which all callers pass such values.
func (s *search) variable(p *gocode.Place, id *ast.Ident, kept *bool, depth int) bool {
	v, ok := p.Object(id).(*types.Var)
	switch {
	case !ok:
		return false
	case v.Parent() == p.Pkg.Scope():
		*kept = *kept || collection(v.Type())
		return true
	case p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos()):
		return true
	case syntax.Param(p, v):
		given := flow.Passed(s.pass.Syntax, p, v)
		return len(given) > 0 && !slices.ContainsFunc(given, func(g flow.Argument) bool { return !s.derived(g.Place, g.Value, kept, depth) })
	}
	if list := ranged(p, v); list != nil {
		return s.derived(p, list, kept, depth)
	}
	values := syntax.Assigned(p, v)
	return len(values) > 0 && !slices.ContainsFunc(values, func(e ast.Expr) bool { return !s.derived(p, e, kept, depth) })
}

// ranged returns what a loop with the variable goes over; nil for others.
func ranged(p *gocode.Place, v *types.Var) (list ast.Expr) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		if ok && loop.Tok == token.DEFINE && (syntax.LocalVar(p, loop.Key) == v || loop.Value != nil && syntax.LocalVar(p, loop.Value) == v) {
			list = loop.X
		}
		return list == nil
	})
	return list
}

func collection(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Pointer:
		return true
	}
	return false
}
