package encodedperreceiver

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// roots returns the variables at the roots of expressions that consist of variables, their fields,
// composite literals, addresses and constants; false for others. Local variables that are declared
// within a node and set to such an expression are followed.
func roots(p *gocode.Place, within ast.Node, list []ast.Expr) (vars []*types.Var, ok bool) {
	for _, e := range list {
		if e == nil {
			continue
		}
		if _, constant := p.Const(e); constant {
			continue
		}
		parts, whole := operands(p, e)
		if !whole {
			inner, ok := roots(p, within, parts)
			if !ok {
				return nil, false
			}
			vars = append(vars, inner...)
			continue
		}
		id, _ := ast.Unparen(e).(*ast.Ident)
		if id != nil && id.Name == "nil" {
			continue
		}
		v, _ := syntax.Var(p, e)
		if v == nil {
			return nil, false
		}
		if from := origin(p, e, v); from != nil && syntax.Inside(within, v.Pos()) {
			inner, ok := roots(p, within, []ast.Expr{from})
			if !ok {
				return nil, false
			}
			vars = append(vars, inner...)
			continue
		}
		if !slices.Contains(vars, v) {
			vars = append(vars, v)
		}
	}
	return vars, true
}

// operands returns the expressions of which an expression is composed; whole is true for one that
// names a variable or a field, and for what is unknown.
func operands(p *gocode.Place, e ast.Expr) (parts []ast.Expr, whole bool) {
	switch x := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		if x.Op != token.ARROW {
			return []ast.Expr{x.X}, false
		}
	case *ast.CompositeLit:
		_, fields := p.TypeOf(x).Underlying().(*types.Struct)
		for _, elt := range x.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				if !fields {
					parts = append(parts, kv.Key)
				}
				elt = kv.Value
			}
			parts = append(parts, elt)
		}
		return parts, false
	case *ast.BinaryExpr:
		return []ast.Expr{x.X, x.Y}, false
	case *ast.CallExpr:
		if _, conversion := p.Conversion(x); conversion {
			return x.Args, false
		}
	}
	return nil, true
}

// origin returns the literal or the address that a local variable is, which is set once; nil for
// others.
func origin(p *gocode.Place, e ast.Expr, v *types.Var) ast.Expr {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok || p.Decl == nil || syntax.Param(p, v) || !syntax.Local(p, v) {
		return nil
	}
	from := syntax.Origin(p, id)
	switch x := from.(type) {
	case *ast.CompositeLit:
		return x
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			return x
		}
	}
	return nil
}

// same reports whether values are the same in each iteration of a loop, in which call gets them.
func same(p *gocode.Place, loop ast.Node, call *ast.CallExpr, values []ast.Expr) bool {
	vars, ok := roots(p, loop, values)
	if !ok {
		return false
	}
	for _, v := range append(vars, named(p, values)...) {
		if changed(p, loop, v, call) {
			return false
		}
	}
	return !slices.ContainsFunc(vars, func(v *types.Var) bool { return syntax.Inside(loop, v.Pos()) })
}

// named returns the variables that expressions themselves name.
func named(p *gocode.Place, list []ast.Expr) (vars []*types.Var) {
	for _, e := range list {
		if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok {
			e = u.X
		}
		if v, _ := syntax.Var(p, e); v != nil {
			vars = append(vars, v)
		}
	}
	return vars
}

// changed reports whether something below root may change a variable after its declaration, or what
// it refers to: an assignment, or a call other than one, which gets it and may do so.
func changed(p *gocode.Place, root ast.Node, v *types.Var, other *ast.CallExpr) bool {
	found := false
	of := func(e ast.Expr) (is, part bool) {
		if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
			e, part = u.X, true
		}
		w, p := syntax.Var(p, e)
		return w == v, p || part
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				is, _ := of(lhs)
				found = found || is && !declares(p, lhs, v)
			}
		case *ast.IncDecStmt:
			is, _ := of(n.X)
			found = found || is
		case *ast.CallExpr:
			if n == other || harmless(p, n) {
				return true
			}
			args := n.Args
			if recv := syntax.Receiver(n); recv != nil {
				args = append(slices.Clip(args), recv)
			}
			for _, arg := range args {
				if is, part := of(arg); is && (part || refers(p.TypeOf(arg))) {
					found = found || !encodes(p, n)
				}
			}
		}
		return !found
	})
	return found
}

// declares reports whether an expression declares a variable.
func declares(p *gocode.Place, e ast.Expr, v *types.Var) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && p.Info.Defs[id] == v
}

// refers reports whether a function that gets a value of a type can change what it refers to.
func refers(t types.Type) bool {
	if t == nil {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Struct:
		for f := range u.Fields() {
			if refers(f.Type()) {
				return true
			}
		}
		return false
	case *types.Array:
		return refers(u.Elem())
	}
	return true
}

// encodes reports whether a call is one of a function that only reads what it gets.
func encodes(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil {
		return false
	}
	switch name := fn.Name(); name {
	case "Marshal", "MarshalIndent", "Encode", "WriteJSON", "String", "Size", "Len", "Execute", "ExecuteTemplate":
		return true
	}
	return false
}
