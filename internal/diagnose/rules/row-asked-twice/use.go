package rowaskedtwice

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// use is what a function does with what a query returned before it writes.
type use int

const (
	other   use = iota
	decides     // only tests whether there is a row
	counts      // computes a number that it writes
	changes     // changes the row and writes it
)

// useOf returns what the function around a query does with its result, up to the statement that
// follows.
func useOf(p *gocode.Place, read, next *access) use {
	vars, ok := results(p, read.call)
	if !ok || read.rows {
		return other
	}
	all := decides
	for _, v := range vars {
		u := useOfVar(p, v, read, next)
		if u == other || all != decides && u != decides && u != all {
			return other
		}
		all = max(all, u)
	}
	return all
}

// results returns the variables, other than errors, that get what a call returns or stores, and
// reports whether all of it is known.
func results(p *gocode.Place, call *ast.CallExpr) (vars []*types.Var, ok bool) {
	outer := p.Outer()
	for _, arg := range call.Args { // Get(&x, query)
		if v := filled(p, arg); v != nil {
			vars = append(vars, v)
		}
	}
	switch n := syntax.Parent(outer, call).(type) {
	case *ast.AssignStmt:
		if len(n.Rhs) != 1 {
			return nil, false
		}
		for _, lhs := range n.Lhs {
			id, isName := lhs.(*ast.Ident)
			if !isName {
				return nil, false
			}
			if id.Name == "_" {
				continue
			}
			v := syntax.LocalVar(p, id)
			if v == nil {
				return nil, false
			}
			if syntax.IsError(v.Type()) {
				continue
			}
			if scan := scanOf(p, v); scan != nil {
				got, known := results(p, scan)
				return append(vars, got...), known
			}
			vars = append(vars, v)
		}
		return vars, true
	case *ast.SelectorExpr: // QueryRow(…).Scan(&x), Exists(…).Result()
		if scan, isCall := syntax.Parent(outer, n).(*ast.CallExpr); isCall && slices.Contains([]string{"Scan", "Result", "Val"}, n.Sel.Name) {
			got, known := results(p, scan)
			return append(vars, got...), known
		}
		return nil, false
	case *ast.IfStmt, *ast.UnaryExpr, *ast.BinaryExpr:
		return nil, tested(outer, call)
	}
	return nil, false
}

// filled returns the variable whose address an argument is; nil for none.
func filled(p *gocode.Place, arg ast.Expr) *types.Var {
	if u, ok := ast.Unparen(arg).(*ast.UnaryExpr); ok && u.Op == token.AND {
		return root(p, u.X)
	}
	return nil
}

// scanOf returns the only call of Scan on a row; nil for other variables.
func scanOf(p *gocode.Place, row *types.Var) (scan *ast.CallExpr) {
	for _, id := range syntax.Reads(p, row) {
		sel, ok := syntax.Parent(p.Outer(), id).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Scan" {
			continue
		}
		if call, ok := syntax.Parent(p.Outer(), sel).(*ast.CallExpr); ok {
			scan = call
		}
	}
	return scan
}

func useOfVar(p *gocode.Place, v *types.Var, read, next *access) use {
	all := decides
	for _, id := range syntax.Reads(p, v) {
		if syntax.Within(read.call, id) || id.Pos() < read.call.End() || scans(p, id) {
			continue
		}
		u := other
		switch {
		case id.Pos() > next.call.End():
			if !next.reads() {
				continue // for the answer: RETURNING has it as well
			}
		case existence(p.Outer(), id, read), response(v.Type()) && responds(p.Outer(), id):
			continue
		case number(v.Type()) && (tested(p.Outer(), id) || computes(p.Outer(), id, next)):
			u = counts
		case !number(v.Type()) && (sets(p.Outer(), id) || syntax.Within(next.call, id)):
			u = changes
		}
		if u == other || all != decides && u != all {
			return other
		}
		all = u
	}
	if all == changes && !setsSome(p, v, next) || all == counts && !computesSome(p, v, next) {
		return other
	}
	return all
}

// scans reports whether a use of a variable is its address as an argument of Scan.
func scans(p *gocode.Place, id *ast.Ident) bool {
	for _, n := range p.Outer().Enclosing(id) {
		if call, ok := n.(*ast.CallExpr); ok {
			fn := p.Callee(call)
			return fn != nil && fn.Name() == "Scan"
		}
	}
	return false
}

// tested reports whether an expression is an operand of a condition.
func tested(p *gocode.Place, e ast.Expr) bool {
	for inner, n := ast.Node(e), syntax.Parent(p, e); n != nil; inner, n = n, syntax.Parent(p, n) {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op != token.NOT {
				return false
			}
		case *ast.BinaryExpr:
		case *ast.IfStmt:
			return syntax.Within(n.Cond, inner)
		case *ast.CaseClause:
			return slices.ContainsFunc(n.List, func(e ast.Expr) bool { return syntax.Within(e, inner) })
		default:
			return false
		}
	}
	return false
}

// existence reports whether a use of a result only tests whether there is a row: a bool, nil, or a
// number or key that is compared with its zero value.
func existence(p *gocode.Place, id *ast.Ident, read *access) bool {
	var e ast.Expr = id
	if sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr); ok {
		e = sel
	}
	if !tested(p, e) {
		return false
	}
	if t, ok := p.TypeOf(e).Underlying().(*types.Basic); ok && t.Kind() == types.Bool {
		return true
	}
	n, ok := syntax.Parent(p, e).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	with := n.Y
	if ast.Unparen(n.Y) == e {
		with = n.X
	}
	if c, ok := p.Const(with); ok {
		text := c.ExactString()
		return text == "0" || text == `""` || read.Sums && text == "1"
	}
	name, ok := ast.Unparen(with).(*ast.Ident)
	return ok && name.Name == "nil"
}

func number(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// computes reports whether a use of a number is an operand of arithmetic whose result a statement
// gets as an argument, perhaps in a variable.
func computes(p *gocode.Place, id *ast.Ident, next *access) bool {
	for _, n := range p.Enclosing(id) {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.ADD || n.Op == token.SUB {
				v := syntax.LocalVar(p, syntax.OrBad(syntax.AssignedTo(p, n)))
				return syntax.Within(next.call, n) || v != nil && syntax.Mentions(p, next.call, v)
			}
			return false
		case *ast.IncDecStmt:
			return true
		case *ast.AssignStmt:
			return (n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN) && ast.Unparen(n.Lhs[0]) == ast.Expr(id)
		case *ast.CallExpr:
			if n == next.call {
				return true // after ++
			}
		}
	}
	return false
}

// computesSome reports whether a number is changed before a statement gets it.
func computesSome(p *gocode.Place, v *types.Var, next *access) bool {
	return slices.ContainsFunc(syntax.Uses(p, v), func(id *ast.Ident) bool {
		n, ok := syntax.Parent(p.Outer(), id).(*ast.BinaryExpr)
		if ok {
			return (n.Op == token.ADD || n.Op == token.SUB) && computes(p.Outer(), id, next)
		}
		return !syntax.Within(next.call, id) && computes(p.Outer(), id, next)
	})
}

// sets reports whether a use of a row assigns to one of its fields.
func sets(p *gocode.Place, id *ast.Ident) bool {
	sel, ok := syntax.Parent(p, id).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch n := syntax.Parent(p, sel).(type) {
	case *ast.AssignStmt:
		return slices.ContainsFunc(n.Lhs, func(lhs ast.Expr) bool { return ast.Unparen(lhs) == ast.Expr(sel) })
	case *ast.IncDecStmt:
		return true
	}
	return false
}

// setsSome reports whether a function sets fields of a row before a statement gets it.
func setsSome(p *gocode.Place, v *types.Var, next *access) bool {
	return syntax.Mentions(p, next.call, v) && slices.ContainsFunc(syntax.Uses(p, v), func(id *ast.Ident) bool {
		return id.Pos() < next.call.Pos() && sets(p.Outer(), id)
	})
}
