package orderedinsert

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// searchesAt recognises a loop that compares an element with those of a list until it finds its
// place, in a function that then inserts it there.
func searchesAt(p *gocode.Place, loop ast.Stmt) *insertion {
	list, elem := listOf(p, loop)
	if list == nil {
		return nil
	}
	tests, ok := testsOf(p, loop)
	if !ok || !slices.ContainsFunc(tests, func(e ast.Expr) bool { return orders(p, e, list) || ordersVar(p, e, elem) }) {
		return nil
	}
	if !inserts(p, syntax.Body(p), list) {
		return nil
	}
	return &insertion{list: list, how: searches}
}

// listOf returns the list that a loop goes through, and the variable of its element; nil for none.
func listOf(p *gocode.Place, loop ast.Stmt) (list ast.Expr, elem *types.Var) {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		if l.Value != nil {
			elem = syntax.LocalVar(p, l.Value)
		}
		if isSlice(p, l.X) {
			return l.X, elem
		}
	case *ast.ForStmt:
		for _, e := range leafs(l.Cond) {
			b, ok := e.(*ast.BinaryExpr)
			if !ok {
				continue
			}
			if call, ok := ast.Unparen(b.Y).(*ast.CallExpr); ok && p.CalleeName(call) == "len" && len(call.Args) == 1 && isSlice(p, call.Args[0]) {
				return call.Args[0], nil
			}
			if of := elementsOf(p, l, b); of != nil {
				return of, syntax.LocalVar(p, b.X)
			}
		}
		ast.Inspect(l, func(n ast.Node) bool { // for ; i > 0; i-- { if x.before(xs[i-1]) …
			if x, ok := n.(*ast.IndexExpr); ok && list == nil && isSlice(p, x.X) {
				list = x.X
			}
			return list == nil
		})
	}
	return list, nil
}

// elementsOf returns the container/list that a loop follows: for e := l.Front(); e != nil; e =
// e.Next().
func elementsOf(p *gocode.Place, l *ast.ForStmt, cond *ast.BinaryExpr) ast.Expr {
	init, ok := l.Init.(*ast.AssignStmt)
	if !ok || cond.Op != token.NEQ || len(init.Rhs) != 1 || syntax.LocalVar(p, cond.X) == nil {
		return nil
	}
	call, ok := ast.Unparen(init.Rhs[0]).(*ast.CallExpr)
	if !ok || !funcname.Match(p.CalleeName(call), "(*container/list.List).Front", "(*container/list.List).Back") {
		return nil
	}
	return syntax.Receiver(call)
}

// testsOf returns the conditions that end a loop, which only compares; false for one that does
// more.
func testsOf(p *gocode.Place, loop ast.Stmt) (tests []ast.Expr, ok bool) {
	var body []ast.Stmt
	switch l := loop.(type) {
	case *ast.RangeStmt:
		body = l.Body.List
	case *ast.ForStmt:
		body = l.Body.List
		tests = leafs(l.Cond)
	}
	for _, stmt := range body {
		switch s := stmt.(type) {
		case *ast.IncDecStmt:
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !steps(p, s) {
				return nil, false
			}
		case *ast.IfStmt:
			if s.Else != nil || len(s.Body.List) == 0 || !leaves(s.Body.List[len(s.Body.List)-1]) {
				return nil, false
			}
			tests = append(tests, leafs(s.Cond)...)
		default:
			return nil, false
		}
	}
	return tests, true
}

// ordersVar reports whether a condition compares a variable of an element in an order.
func ordersVar(p *gocode.Place, cond ast.Expr, elem *types.Var) bool {
	if elem == nil {
		return false
	}
	has := func(e ast.Node) bool {
		found := false
		ast.Inspect(e, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || found {
				return !found
			}
			v := syntax.LocalVar(p, id)
			found = v == elem
			if v != nil && !found {
				if _, value := syntax.Declared(p, v); value != nil && value.Pos() != id.Pos() {
					ast.Inspect(value, func(n ast.Node) bool {
						in, ok := n.(*ast.Ident)
						found = found || ok && syntax.LocalVar(p, in) == elem
						return !found
					})
				}
			}
			return !found
		})
		return found
	}
	switch x := strip(cond).(type) {
	case *ast.BinaryExpr:
		return unequal(x.Op) && has(x)
	case *ast.CallExpr:
		return len(x.Args) > 0 && has(x)
	}
	return false
}

// followsAt recognises a loop that only follows links until a comparison ends it, in a function
// that then links an element in.
func followsAt(p *gocode.Place, loop ast.Stmt) *insertion {
	l, ok := loop.(*ast.ForStmt)
	if !ok {
		return nil
	}
	tests := leafs(l.Cond)
	next := map[*types.Var]bool{} // the fields that it follows
	var list ast.Expr
	stmts := l.Body.List
	if l.Post != nil {
		stmts = append(slices.Clone(stmts), l.Post)
	}
	var at *types.Var
	for _, stmt := range stmts {
		switch s := stmt.(type) {
		case *ast.IfStmt:
			if s.Else != nil || s.Init != nil || len(s.Body.List) == 0 || !leaves(s.Body.List[len(s.Body.List)-1]) {
				return nil
			}
			tests = append(tests, leafs(s.Cond)...)
		case *ast.AssignStmt:
			if s.Tok != token.ASSIGN {
				return nil
			}
			for i, lhs := range s.Lhs {
				v := syntax.LocalVar(p, lhs)
				if v == nil || len(s.Lhs) != len(s.Rhs) {
					return nil
				}
				if field := link(p, s.Rhs[i]); field != nil {
					next[field], at, list = true, v, lhs
				} else if syntax.LocalVar(p, s.Rhs[i]) == nil { // previous = at
					return nil
				}
			}
		default:
			return nil
		}
	}
	if at == nil || !slices.ContainsFunc(tests, func(e ast.Expr) bool { return ordersVar(p, e, at) }) || !links(p, loop, next) {
		return nil
	}
	if _, value := syntax.Declared(p, at); value != nil {
		list = ast.Unparen(value)
		if u, ok := list.(*ast.UnaryExpr); ok && u.Op == token.AND {
			list = u.X
		}
	}
	return &insertion{list: list, how: follows}
}

// link returns the field of a node that has the next node: at.next, &(*at).next.
func link(p *gocode.Place, e ast.Expr) *types.Var {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = ast.Unparen(u.X)
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v, ok := p.Object(sel.Sel).(*types.Var)
	if !ok || !v.IsField() {
		return nil
	}
	if _, pointer := v.Type().Underlying().(*types.Pointer); !pointer {
		return nil
	}
	return v.Origin()
}

// links reports whether the function sets one of the fields that a loop follows, outside of the
// loop or where it ends: it links an element in. One that only takes an element out sets the field
// to that of another node.
func links(p *gocode.Place, loop ast.Stmt, next map[*types.Var]bool) bool {
	found := false
	is := func(e ast.Expr) bool {
		v := syntax.Named(p, e)
		return v != nil && next[v.Origin()]
	}
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				if is(lhs) && len(n.Lhs) == len(n.Rhs) && link(p, n.Rhs[i]) == nil && !null(p, n.Rhs[i]) {
					found = true // at.next = x
				}
				star, ok := ast.Unparen(lhs).(*ast.StarExpr)
				if ok && syntax.LocalVar(p, star.X) != nil && len(n.Lhs) == len(n.Rhs) && creates(p, n.Rhs[i]) {
					found = true // *at = &node{x, *at}
				}
			}
		}
		return !found
	})
	return found
}

func null(p *gocode.Place, e ast.Expr) bool {
	tv, ok := p.Info.Types[e]
	return ok && tv.IsNil()
}

// creates reports whether an expression is a new node, or a variable that has one.
func creates(p *gocode.Place, e ast.Expr) bool {
	u, ok := ast.Unparen(e).(*ast.UnaryExpr)
	if ok {
		_, literal := u.X.(*ast.CompositeLit)
		return u.Op == token.AND && literal
	}
	return syntax.LocalVar(p, e) != nil
}
