package awaited

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// PerItem reports whether a call in a loop gets an item of the iteration, not a list of items, and
// nothing that an earlier call returned.
func PerItem(p *gocode.Place, node ast.Node, call *ast.CallExpr) bool {
	item := false
	operands := call.Args
	if to := syntax.Receiver(call); to != nil {
		operands = append(operands[:len(operands):len(operands)], to)
	}
	for _, e := range operands {
		vars := variables(p, e)
		of := slices.ContainsFunc(vars, func(v *types.Var) bool {
			return !v.IsField() && syntax.Inside(node, v.Pos()) && !control(v.Type()) && !filled(p, e, v)
		})
		if of && (list(p.TypeOf(e)) || slices.ContainsFunc(vars, func(v *types.Var) bool { return gathered(p, node, v) })) {
			return false
		}
		item = item || of
	}
	return item && !call.Ellipsis.IsValid() && !Feeds(p, node, call, operands)
}

// variables returns the variables and fields in an expression.
func variables(p *gocode.Place, e ast.Node) (vars []*types.Var) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := p.Object(id).(*types.Var); ok {
				vars = append(vars, v)
			}
		}
		return true
	})
	return vars
}

// control reports whether values of a type control a call and are not a part of what it sends.
func control(t types.Type) bool {
	if types.TypeString(t, nil) == "context.Context" || types.Identical(t, types.Universe.Lookup("error").Type()) {
		return true
	}
	_, function := t.Underlying().(*types.Signature)
	return function
}

// filled reports whether a call gets the address of a new, empty variable: it is for the answer.
func filled(p *gocode.Place, e ast.Expr, v *types.Var) bool {
	if u, ok := ast.Unparen(e).(*ast.UnaryExpr); !ok || u.Op != token.AND {
		if _, made := syntax.Origin(p, e).(*ast.CallExpr); !made {
			return false
		}
	}
	stmt, value := syntax.Declared(p, v)
	if value == nil {
		_, spec := stmt.(*ast.ValueSpec)
		return spec
	}
	switch x := ast.Unparen(value).(type) {
	case *ast.CompositeLit:
		return len(x.Elts) == 0
	case *ast.CallExpr:
		id, ok := x.Fun.(*ast.Ident)
		return ok && (id.Name == "new" || id.Name == "make")
	}
	return false
}

// list reports whether a type is a list of items, not one text.
func list(t types.Type) bool {
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return !syntax.StringOrBytes(t)
	}
	return false
}

// gathered reports whether a loop within an iteration adds to a variable: it has several items.
func gathered(p *gocode.Place, node ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(node, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if n != node && !syntax.Inside(n, v.Pos()) && slices.Contains(variables(p, n), v) {
				found = true
			}
		}
		return !found
	})
	return found
}

// Feeds reports whether a call may get what it returned in an earlier iteration: a cursor, a
// version.
func Feeds(p *gocode.Place, node ast.Node, call *ast.CallExpr, operands []ast.Expr) bool {
	var from []*types.Var
	mark := func(to []ast.Expr) (more bool) {
		for _, e := range to {
			if index, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
				e = index.X
			}
			if v := syntax.Named(p, e); v != nil && !control(v.Type()) && !slices.Contains(from, v) {
				from, more = append(from, v), true
			}
		}
		return more
	}
	type assignment struct{ to, values []ast.Expr }
	var assigned []assignment
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			assigned = append(assigned, assignment{n.Lhs, n.Rhs})
		case *ast.RangeStmt:
			if n.Value != nil {
				assigned = append(assigned, assignment{[]ast.Expr{n.Value}, []ast.Expr{n.X}})
			}
		}
		return true
	})
	for more := true; more; {
		more = false
		for _, a := range assigned {
			for _, e := range a.values {
				if syntax.Within(e, call) || slices.ContainsFunc(variables(p, e), func(v *types.Var) bool { return slices.Contains(from, v) }) {
					more = mark(a.to) || more
				}
			}
		}
	}
	return slices.ContainsFunc(operands, func(e ast.Expr) bool {
		return slices.ContainsFunc(variables(p, e), func(v *types.Var) bool { return slices.Contains(from, v) })
	})
}
