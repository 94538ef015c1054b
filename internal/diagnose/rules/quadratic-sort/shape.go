package quadraticsort

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// sortedBy returns the list that two nested loops sort: the inner loop compares two of its
// elements, and the outer one swaps elements, moves them by a place, or takes the one that was
// found out of the list or inserts it. nil if they do anything else.
func sortedBy(p *gocode.Place, outer, inner ast.Stmt) ast.Expr {
	body := loops.Body(outer)
	compared, ordered := comparisons(p, outer, inner)
	for _, list := range compared {
		if swaps(p, body, list) || shifts(p, body, list) || removes(p, body, list) && !adds(p, body, list) {
			return list
		}
	}
	for _, list := range ordered {
		if inserts(p, body, list) && !removes(p, body, list) {
			return list
		}
	}
	return byMethods(p, body, inner)
}

// element is one element of a list in an expression.
type element struct {
	list ast.Expr
	at   string // its index, or the variable that it was copied to
}

// elementOf returns the first element of a slice or an array in an expression, by its index or as a
// variable of the outer loop that it was copied to.
func elementOf(p *gocode.Place, outer ast.Stmt, e ast.Expr) (found element) {
	ast.Inspect(e, func(n ast.Node) bool {
		if found.list != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.IndexExpr:
			if indexed(p, n) {
				found = element{n.X, syntax.Text(n.Index)}
				return false
			}
		case *ast.Ident:
			v := syntax.LocalVar(p, n)
			if v == nil || !syntax.Inside(outer, v.Pos()) {
				return true
			}
			if list := copiedFrom(p, v); list != nil {
				found = element{list, n.Name}
			}
		}
		return true
	})
	return found
}

// copiedFrom returns the list of which a variable is an element: v := list[i], for _, v := range
// list. nil for none.
func copiedFrom(p *gocode.Place, v *types.Var) ast.Expr {
	stmt, value := syntax.Declared(p, v)
	if loop, ok := stmt.(*ast.RangeStmt); ok {
		if t := p.TypeOf(loop.X); t != nil && loop.Value != nil && syntax.LocalVar(p, loop.Value) == v {
			if _, ok := t.Underlying().(*types.Slice); ok {
				return loop.X
			}
		}
		return nil
	}
	if value == nil {
		return nil
	}
	if u, ok := ast.Unparen(value).(*ast.UnaryExpr); ok && u.Op == token.AND {
		value = u.X
	}
	if x, ok := ast.Unparen(value).(*ast.IndexExpr); ok && indexed(p, x) {
		return x.X
	}
	return nil
}

// indexed reports whether an expression is an element of a slice or an array.
func indexed(p *gocode.Place, x *ast.IndexExpr) bool {
	if p.TypeOf(x.X) == nil {
		return false
	}
	switch p.TypeOf(x.X).Underlying().(type) {
	case *types.Slice, *types.Array, *types.Pointer:
		return true
	}
	return false
}

// comparisons returns the lists of which a loop compares two elements, by an operator or a
// function, and those of which it compares an element with something else by an operator.
func comparisons(p *gocode.Place, outer, inner ast.Stmt) (two, one []ast.Expr) {
	pair := func(a, b ast.Expr, operator bool) {
		x, y := elementOf(p, outer, a), elementOf(p, outer, b)
		switch {
		case x.list != nil && y.list != nil && syntax.Same(p, x.list, y.list):
			if x.at != y.at {
				two = append(two, x.list)
			}
		case operator && x.list != nil:
			one = append(one, x.list)
			if y.list != nil {
				one = append(one, y.list)
			}
		case operator && y.list != nil:
			one = append(one, y.list)
		}
	}
	ast.Inspect(inner, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LSS, token.GTR, token.LEQ, token.GEQ:
				pair(n.X, n.Y, true)
			}
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) == 1 { // a.Before(b)
				pair(sel.X, n.Args[0], false)
			}
			if len(n.Args) == 2 {
				pair(n.Args[0], n.Args[1], false)
			}
		}
		return true
	})
	return two, one
}

// assigns reports whether a loop has an assignment of one value to one variable, or of several each
// to its own, for which a function reports true.
func assigns(body ast.Node, is func(a *ast.AssignStmt) bool) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		found = found || ok && a.Tok == token.ASSIGN && len(a.Lhs) == len(a.Rhs) && is(a)
		return !found
	})
	return found
}

// of returns the index expression if an expression is an element of a list.
func of(p *gocode.Place, e, list ast.Expr) (*ast.IndexExpr, bool) {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	return x, ok && syntax.Same(p, x.X, list)
}

// swaps reports whether a loop swaps two elements of a list: in one assignment, or by a function of
// the package that does.
func swaps(p *gocode.Place, body ast.Node, list ast.Expr) bool {
	if assigns(body, func(a *ast.AssignStmt) bool { return swapping(p, a, list) }) {
		return true
	}
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found || len(call.Args) < 2 {
			return !found
		}
		fn := p.Callee(call)
		if fn == nil {
			return true
		}
		if decl := p.Declaration(fn); decl != nil && decl.Body != nil {
			found = assigns(decl.Body, func(a *ast.AssignStmt) bool { return swapping(p, a, nil) })
		}
		return true
	})
	return found
}

// swapping reports whether an assignment swaps two elements of a list, which may be nil for any.
func swapping(p *gocode.Place, a *ast.AssignStmt, list ast.Expr) bool {
	if len(a.Lhs) != 2 {
		return false
	}
	x, ok1 := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
	y, ok2 := ast.Unparen(a.Lhs[1]).(*ast.IndexExpr)
	return ok1 && ok2 && indexed(p, x) && syntax.Same(p, x.X, y.X) && (list == nil || syntax.Same(p, x.X, list)) &&
		syntax.Same(p, a.Lhs[0], a.Rhs[1]) && syntax.Same(p, a.Lhs[1], a.Rhs[0])
}

// shifts reports whether a loop copies one element of a list to the place of another, and a local
// variable to a place: a swap in three statements, or an insertion after others were moved.
func shifts(p *gocode.Place, body ast.Node, list ast.Expr) bool {
	return assigns(body, func(a *ast.AssignStmt) bool {
		x, ok1 := of(p, a.Lhs[0], list)
		y, ok2 := of(p, a.Rhs[0], list)
		return len(a.Lhs) == 1 && ok1 && ok2 && syntax.Text(x.Index) != syntax.Text(y.Index)
	}) && assigns(body, func(a *ast.AssignStmt) bool {
		_, ok := of(p, a.Lhs[0], list)
		return len(a.Lhs) == 1 && ok && syntax.LocalVar(p, a.Rhs[0]) != nil
	})
}

// removes reports whether a loop takes elements out of a list at places that are not constant.
func removes(p *gocode.Place, body ast.Node, list ast.Expr) bool {
	return assigns(body, func(a *ast.AssignStmt) bool {
		if len(a.Lhs) != 1 || !syntax.Same(p, a.Lhs[0], list) {
			return false
		}
		switch x := ast.Unparen(a.Rhs[0]).(type) {
		case *ast.SliceExpr: // list[1:], after a swap
			return syntax.Same(p, x.X, list)
		case *ast.CallExpr:
			switch name := p.CalleeName(x); {
			case strings.HasPrefix(name, "slices.Delete"):
				return true
			case name == "append" && x.Ellipsis.IsValid() && len(x.Args) == 2:
				from, ok1 := ast.Unparen(x.Args[0]).(*ast.SliceExpr)
				rest, ok2 := ast.Unparen(x.Args[1]).(*ast.SliceExpr)
				return ok1 && ok2 && syntax.Same(p, from.X, list) && syntax.Same(p, rest.X, list)
			}
		}
		return false
	})
}

// adds reports whether a loop appends to a list.
func adds(p *gocode.Place, body ast.Node, list ast.Expr) bool {
	return assigns(body, func(a *ast.AssignStmt) bool {
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || !syntax.Same(p, a.Lhs[0], list) || p.CalleeName(call) != "append" {
			return false
		}
		return syntax.Same(p, call.Args[0], list)
	})
}

// inserts reports whether a loop inserts elements into a list at places that are not constant:
// slices.Insert(list, at, x), or copy(list[at+1:], list[at:]).
func inserts(p *gocode.Place, body ast.Node, list ast.Expr) bool {
	found := false
	part := func(e ast.Expr) bool {
		s, ok := ast.Unparen(e).(*ast.SliceExpr)
		if !ok || s.Low == nil && s.High == nil {
			return false
		}
		_, constant := syntax.ConstInt(p, cond(s.Low != nil, s.Low, s.High))
		return syntax.Same(p, s.X, list) && !constant
	}
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		switch name := p.CalleeName(call); {
		case strings.HasPrefix(name, "slices.Insert") && len(call.Args) > 1:
			_, constant := syntax.ConstInt(p, call.Args[1])
			found = syntax.Same(p, call.Args[0], list) && !constant
		case name == "copy":
			found = part(call.Args[0]) && part(call.Args[1])
		case name == "append" && call.Ellipsis.IsValid(): // append(list[:i], append([]T{x}, list[i:]...)...)
			found = part(call.Args[0]) && !part(call.Args[1])
		}
		return true
	})
	return found
}

func cond(is bool, a, b ast.Expr) ast.Expr {
	if is {
		return a
	}
	return b
}

// byMethods returns the list that loops sort by its methods Less and Swap, as those of
// sort.Interface; nil for none.
func byMethods(p *gocode.Place, body *ast.BlockStmt, inner ast.Stmt) ast.Expr {
	calls := func(n ast.Node, method string) (lists []ast.Expr) {
		ast.Inspect(n, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == method {
				lists = append(lists, sel.X)
			}
			return true
		})
		return lists
	}
	swapped := calls(body, "Swap")
	for _, list := range calls(inner, "Less") {
		if slices.ContainsFunc(swapped, func(e ast.Expr) bool { return syntax.Same(p, e, list) }) {
			return list
		}
	}
	return nil
}
