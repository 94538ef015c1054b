package orderedinsert

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// insertion is a loop that finds the place of an element in an ordered list.
type insertion struct {
	loop    ast.Stmt
	list    ast.Expr
	how     way
	bounded ast.Expr // the most elements that the list keeps; nil for no limit
}

// way is how a loop finds the place.
type way int

const (
	shifts   way = iota + 1 // moves elements by one until it finds it
	searches                // compares, and inserts after it
	follows                 // follows links
)

// around returns the loops that a line is in or starts, innermost first.
func around(p *gocode.Place) []ast.Stmt {
	var all []ast.Stmt
	for _, n := range p.Nodes {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if loop := n.(ast.Stmt); !p.Drives(loop) {
				all = append(all, loop)
			}
		}
	}
	slices.Reverse(all)
	return all
}

// insertionOf recognises
//
//	for i > 0 && x.before(xs[i-1]) { xs[i] = xs[i-1]; i-- }
//	for i := range xs { if x.before(xs[i]) { xs = slices.Insert(xs, i, x); return } }
//	for at.next != nil && at.next.key < x.key { at = at.next }; x.next, at.next = at.next, x
//
// with the test in the body or in the head; nil for anything else.
func insertionOf(p *gocode.Place, loop ast.Stmt) *insertion {
	for _, look := range []func(*gocode.Place, ast.Stmt) *insertion{shiftsAt, followsAt, searchesAt} {
		in := look(p, loop)
		if in == nil {
			continue
		}
		if in.how != follows && sweeps(p, loop, in.list) {
			return nil
		}
		in.loop = loop
		if in.how != follows {
			in.bounded = limit(p, in.list)
		}
		return in
	}
	return nil
}

// shiftsAt recognises a loop that does nothing but move elements of one slice by one place, or swap
// neighbours, until a comparison with an element ends it.
func shiftsAt(p *gocode.Place, loop ast.Stmt) *insertion {
	l, ok := loop.(*ast.ForStmt)
	if !ok {
		return nil
	}
	var list ast.Expr
	tests := leafs(l.Cond)
	for _, stmt := range l.Body.List {
		switch s := stmt.(type) {
		case *ast.IncDecStmt:
			if syntax.LocalVar(p, s.X) == nil {
				return nil
			}
		case *ast.IfStmt:
			if s.Else != nil || s.Init != nil || len(s.Body.List) != 1 || !leaves(s.Body.List[0]) {
				return nil
			}
			tests = append(tests, leafs(s.Cond)...)
		case *ast.AssignStmt:
			to := moves(p, s)
			switch {
			case s.Tok == token.DEFINE || to == nil && steps(p, s):
			case to == nil || list != nil && !syntax.Same(p, list, to):
				return nil
			default:
				list = to
			}
		case *ast.ExprStmt: // x.Swap(i, i-1)
			to := swapped(p, s.X)
			if to == nil {
				return nil
			}
			list = to
		default:
			return nil
		}
	}
	if list == nil || !slices.ContainsFunc(tests, func(e ast.Expr) bool { return orders(p, e, list) }) {
		return nil
	}
	return &insertion{list: list, how: shifts}
}

// steps reports whether an assignment moves an index: i -= 1, i = i - 1.
func steps(p *gocode.Place, a *ast.AssignStmt) bool {
	if len(a.Lhs) != 1 {
		return false
	}
	v := syntax.LocalVar(p, a.Lhs[0])
	if v == nil {
		return false
	}
	b, ok := v.Type().Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// moves returns the slice of which an assignment moves an element to a neighbouring place, or swaps
// two: xs[i] = xs[i-1]; xs[i], xs[i-1] = xs[i-1], xs[i].
func moves(p *gocode.Place, a *ast.AssignStmt) ast.Expr {
	if a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) || len(a.Lhs) > 2 {
		return nil
	}
	var list ast.Expr
	for i := range a.Lhs {
		to, ok1 := ast.Unparen(a.Lhs[i]).(*ast.IndexExpr)
		from, ok2 := ast.Unparen(a.Rhs[i]).(*ast.IndexExpr)
		if !ok1 || !ok2 || !isSlice(p, to.X) || !syntax.Same(p, to.X, from.X) || syntax.Same(p, to.Index, from.Index) {
			return nil
		}
		if list != nil && !syntax.Same(p, list, to.X) {
			return nil
		}
		list = to.X
	}
	return list
}

// swapped returns the value whose elements a call swaps: its method Swap with two indexes.
func swapped(p *gocode.Place, e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || p.Info.Selections[sel] == nil || sel.Sel.Name != "Swap" && sel.Sel.Name != "swap" {
		return nil
	}
	return sel.X
}

func isSlice(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	switch t.Underlying().(type) {
	case *types.Slice, *types.Array:
		return true
	}
	return false
}

// orders reports whether a condition compares an element of a list in an order: by <, or by a call
// that gets the element or is its method.
func orders(p *gocode.Place, cond, list ast.Expr) bool {
	switch x := strip(cond).(type) {
	case *ast.BinaryExpr:
		if !unequal(x.Op) {
			return false
		}
		return reads(p, x, list)
	case *ast.CallExpr:
		if _, conversion := p.Conversion(x); conversion {
			return false
		}
		if recv := syntax.Receiver(x); recv != nil && syntax.Same(p, recv, list) && len(x.Args) == 2 {
			return true // xs.Less(i, i-1)
		}
		return len(x.Args) > 0 && reads(p, x, list)
	}
	return false
}

// strip removes parentheses and negations.
func strip(e ast.Expr) ast.Expr {
	for {
		u, ok := ast.Unparen(e).(*ast.UnaryExpr)
		if !ok || u.Op != token.NOT {
			return ast.Unparen(e)
		}
		e = u.X
	}
}

func unequal(op token.Token) bool {
	return op == token.LSS || op == token.GTR || op == token.LEQ || op == token.GEQ
}

// reads reports whether an expression reads an element of a list, by its index or as a variable
// that was defined by one.
func reads(p *gocode.Place, e, list ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			found = found || syntax.Same(p, n.X, list)
		case *ast.Ident:
			v := syntax.LocalVar(p, n)
			if v == nil {
				break
			}
			if _, value := syntax.Declared(p, v); value != nil {
				ast.Inspect(value, func(n ast.Node) bool { // c := compare(x, xs[i])
					x, ok := n.(*ast.IndexExpr)
					found = found || ok && syntax.Same(p, x.X, list)
					return !found
				})
			}
		}
		return !found
	})
	return found
}

// leafs returns the conditions of which a condition consists.
func leafs(e ast.Expr) []ast.Expr {
	if e == nil {
		return nil
	}
	e = strip(e)
	if b, ok := e.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
		return append(leafs(b.X), leafs(b.Y)...)
	}
	return []ast.Expr{e}
}

func leaves(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok == token.BREAK
	}
	return false
}

// sweeps reports whether a loop around the insertion goes through the list itself: that sorts it,
// which is another mistake.
func sweeps(p *gocode.Place, loop ast.Stmt, list ast.Expr) bool {
	for _, outer := range loops.Around(p, loop) {
		switch l := outer.(type) {
		case *ast.RangeStmt:
			if syntax.Same(p, l.X, list) {
				return true
			}
		case *ast.ForStmt:
			if l.Cond != nil && mentions(p, l.Cond, list) {
				return true
			}
		}
	}
	return false
}

// mentions reports whether an expression has another in it, or the length of it in a variable.
func mentions(p *gocode.Place, e, part ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		if !ok || found {
			return !found
		}
		found = syntax.Same(p, x, part)
		if v := syntax.LocalVar(p, x); v != nil && !found {
			if _, value := syntax.Declared(p, v); value != nil && value != e {
				call, ok := ast.Unparen(value).(*ast.CallExpr)
				found = ok && p.CalleeName(call) == "len" && syntax.Same(p, call.Args[0], part)
			}
		}
		return !found
	})
	return found
}

// limit returns the largest number of elements that the function keeps in a list: it cuts the list,
// or compares its length. nil for none.
func limit(p *gocode.Place, list ast.Expr) (most ast.Expr) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SliceExpr: // xs = xs[:k]
			if to := syntax.AssignedTo(p, n); to != nil && n.Low == nil && n.High != nil && syntax.Same(p, n.X, list) && syntax.Same(p, to, list) && !ofLen(p, n.High, list) {
				most = n.High
			}
		case *ast.BinaryExpr: // len(xs) > k
			switch {
			case !unequal(n.Op) && n.Op != token.EQL:
			case ofLen(p, n.X, list) && !index(p, n.Y):
				most = orElse(most, n.Y)
			case ofLen(p, n.Y, list) && !index(p, n.X):
				most = orElse(most, n.X)
			}
		}
		return true
	})
	return most
}

func orElse(a, b ast.Expr) ast.Expr {
	if a != nil {
		return a
	}
	return b
}

// index reports whether an expression is a small constant, or a variable that the function changes
// as it counts.
func index(p *gocode.Place, e ast.Expr) bool {
	if n, ok := syntax.ConstInt(p, e); ok {
		return n < 2
	}
	v := syntax.LocalVar(p, e)
	return v != nil && (syntax.Changes(p, syntax.Body(p), v) || len(syntax.Assigned(p, v)) > 1)
}

// ofLen reports whether an expression is the length of a list, or calculated from it.
func ofLen(p *gocode.Place, e, list ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return p.CalleeName(x) == "len" && len(x.Args) == 1 && syntax.Same(p, x.Args[0], list)
	case *ast.BinaryExpr:
		return ofLen(p, x.X, list) || ofLen(p, x.Y, list)
	case *ast.Ident:
		v := syntax.LocalVar(p, x)
		if v == nil {
			return false
		}
		_, value := syntax.Declared(p, v)
		call, ok := value.(*ast.CallExpr)
		return ok && p.CalleeName(call) == "len" && len(call.Args) == 1 && syntax.Same(p, call.Args[0], list)
	}
	return false
}

// inserts reports whether code makes room in the middle of a list for one element:
// slices.Insert(xs, i, x), append(xs[:i], append(…, xs[i:]...)...), copy(xs[i+1:], xs[i:]), or a
// method of container/list that inserts before or after an element.
func inserts(p *gocode.Place, code ast.Node, list ast.Expr) bool {
	found := false
	ast.Inspect(code, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		switch name := p.CalleeName(call); {
		case name == "slices.Insert":
			found = syntax.Same(p, call.Args[0], list)
		case name == "copy":
			to, ok1 := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
			from, ok2 := ast.Unparen(call.Args[1]).(*ast.SliceExpr)
			found = ok1 && ok2 && to.Low != nil && from.Low != nil && syntax.Same(p, to.X, list) && syntax.Same(p, from.X, list) && !syntax.Same(p, to.Low, from.Low)
		case name == "append":
			head, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
			found = ok && len(call.Args) == 2 && call.Ellipsis.IsValid() && syntax.Same(p, head.X, list) && appends(p, call.Args[1], list)
		case funcname.Match(name, "(*container/list.List).InsertBefore", "(*container/list.List).InsertAfter"):
			recv := syntax.Receiver(call)
			found = recv != nil && syntax.Same(p, recv, list)
		}
		return !found
	})
	return found
}

// appends reports whether an expression is append(…, xs[i:]...).
func appends(p *gocode.Place, e, list ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "append" || len(call.Args) != 2 || !call.Ellipsis.IsValid() {
		return false
	}
	rest, ok := ast.Unparen(call.Args[1]).(*ast.SliceExpr)
	return ok && rest.Low != nil && syntax.Same(p, rest.X, list)
}
