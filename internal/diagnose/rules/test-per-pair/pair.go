package testperpair

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// pair is a test in a loop that gets an element of the loop's list, and one of another list.
type pair struct {
	call    *ast.CallExpr
	callee  string       // as profiles name it
	results []*types.Var // that the call is assigned to
	test    ast.Stmt     // that evaluates the call
	hit     ast.Stmt     // the first statement for a pair that passes
	inner   ast.Node     // the loop around it
	over    ast.Expr     // what that goes through
	outer   ast.Node     // the loop over the other list; nil if it is in a caller
	params  []ast.Expr   // what the function gets from that caller
	guarded bool         // the function that tests begins with a cheap condition
	limit   ast.Expr     // what the result is compared with, if all elements have the same; nil for another condition
	runs    float64      // for each unit of work
	hits    float64
	n       float64 // elements of the inner loop
}

// pairOf returns the test that a call is, if its loop does nothing else:
//
//	for … xs { for … ys { if match(x, y) { … } } }
//	for … xs { for … ys { if !match(x, y) { continue }; … } }
//	for … xs { for … ys { if d := distance(x, y); d <= 2 { … } } }
//
// and the inner loop alone, in a function that gets x, or if it compares the result with a limit.
func pairOf(p *gocode.Place, call *ast.CallExpr) *pair {
	found := &pair{call: call}
	cond := found.tested(p)
	if cond == nil {
		return nil
	}
	around := loops.Around(p, found.test)
	if len(around) == 0 {
		return nil
	}
	found.inner = around[0]
	vars := variables(p, found.inner, nil)
	if found.over = list(p, found.inner); found.over == nil || !syntax.Mentions(p, call, vars...) {
		return nil
	}
	if !found.alone(p, cond) || found.best(p, cond) {
		return nil
	}
	for _, outer := range around[1:] {
		own := variables(p, outer, found.inner)
		if syntax.Mentions(p, found.over, own...) {
			return nil // the children of each element
		}
		if syntax.Mentions(p, call, variables(p, outer, nil)...) && list(p, outer) != nil {
			found.outer = outer
		}
	}
	found.limit = found.limited(p, cond)
	if found.outer == nil && !found.given(p, vars) && found.limit == nil {
		return nil
	}
	found.guarded = guarded(p, call)
	return found
}

// tested returns the condition of an if statement that the result of the call decides, with the
// statement that evaluates the call; nil for none.
func (f *pair) tested(p *gocode.Place) ast.Expr {
	var child ast.Node = f.call
	for _, n := range p.Enclosing(f.call) {
		switch n := n.(type) {
		case *ast.ParenExpr:
		case *ast.UnaryExpr:
			if n.Op != token.NOT {
				return nil
			}
		case *ast.BinaryExpr:
			if (n.Op == token.LAND || n.Op == token.LOR) && n.X != child {
				return nil // a test precedes the call
			}
			if n.Op != token.LAND && n.Op != token.LOR && !compares(n.Op) {
				return nil
			}
		case *ast.IfStmt:
			if n.Cond != child {
				return nil
			}
			f.test = n
			return n.Cond
		case *ast.AssignStmt:
			return f.assigned(p, n)
		default:
			return nil
		}
		child = n
	}
	return nil
}

func compares(op token.Token) bool {
	switch op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
		return true
	}
	return false
}

// assigned returns the condition that decides by the result of the call, which a statement assigns
// to variables that have no other use than in that condition and its body.
func (f *pair) assigned(p *gocode.Place, a *ast.AssignStmt) ast.Expr {
	if a.Tok != token.DEFINE || len(a.Rhs) != 1 || ast.Unparen(a.Rhs[0]) != ast.Expr(f.call) {
		return nil
	}
	f.test = a
	var test *ast.IfStmt
	for _, lhs := range a.Lhs {
		v := syntax.LocalVar(p, lhs)
		if v == nil || syntax.IsError(v.Type()) {
			continue
		}
		f.results = append(f.results, v)
		for _, id := range syntax.Reads(p, v) {
			in := ifAround(p, id)
			if in == nil || test != nil && test != in {
				return nil
			}
			test = in
		}
	}
	if test == nil {
		return nil
	}
	return test.Cond
}

// ifAround returns the outermost if statement in the innermost loop around a node.
func ifAround(p *gocode.Place, n ast.Node) (found *ast.IfStmt) {
	for _, x := range p.Enclosing(n) {
		switch x := x.(type) {
		case *ast.IfStmt:
			found = x
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit, *ast.FuncDecl:
			return found
		}
	}
	return found
}

// alone reports whether the body of the inner loop does nothing for a pair that fails: it defines
// variables, skips elements, and tests. It notes the first statement for a pair that passes.
func (f *pair) alone(p *gocode.Place, cond ast.Expr) bool {
	list := loops.Body(f.inner).List
	for i, stmt := range list {
		test, ok := stmt.(*ast.IfStmt)
		switch {
		case !ok:
			if a, defines := stmt.(*ast.AssignStmt); !defines || a.Tok != token.DEFINE {
				return false
			}
		case test.Else != nil:
			return false
		case test.Cond != cond:
			if !skips(test) || test.Init != nil && syntax.Within(test.Init, f.call) {
				return false
			}
		case skips(test):
			if i+1 == len(list) {
				return false
			}
			f.hit = list[i+1]
			return true
		default:
			if i+1 < len(list) || len(test.Body.List) == 0 {
				return false
			}
			f.hit = test.Body.List[0]
			return true
		}
	}
	return false
}

// skips reports whether an if statement does nothing but go on with the next element.
func skips(test *ast.IfStmt) bool {
	if len(test.Body.List) != 1 {
		return false
	}
	b, ok := test.Body.List[0].(*ast.BranchStmt)
	return ok && b.Tok == token.CONTINUE && b.Label == nil
}

// best reports whether the result is compared with what the loop keeps of the pairs before: the
// nearest, the k best.
func (f *pair) best(p *gocode.Place, cond ast.Expr) bool {
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && !compares(b.Op) {
		return f.best(p, b.X) || f.best(p, b.Y)
	}
	if !syntax.Within(cond, f.call) && !syntax.Mentions(p, cond, f.results...) {
		return false
	}
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v := syntax.LocalVar(p, id)
			found = found || v != nil && !syntax.Inside(f.inner, v.Pos()) && syntax.Changes(p, f.inner, v)
		}
		return !found
	})
	return found
}

// given notes the parameters of the function that the call gets beside the element, and reports
// whether there are some.
func (f *pair) given(p *gocode.Place, vars []*types.Var) bool {
	ast.Inspect(f.call, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v := syntax.LocalVar(p, id); v != nil && syntax.Param(p, v) && !receives(p, v) {
				f.params = append(f.params, id)
			}
		}
		return true
	})
	return len(f.params) > 0
}

// receives reports whether a variable is the receiver of the declaration around a place.
func receives(p *gocode.Place, v *types.Var) bool {
	return p.Decl.Recv != nil && syntax.Inside(p.Decl.Recv, v.Pos())
}

func (f *pair) outerText(p *gocode.Place) string { return syntax.Text(list(p, f.outer)) }

// list returns the list that a loop goes through, or the part of it after an element; nil for
// others.
func list(p *gocode.Place, loop ast.Node) ast.Expr {
	switch l := loop.(type) {
	case *ast.RangeStmt:
		if cut, ok := ast.Unparen(l.X).(*ast.SliceExpr); ok {
			return listed(p, cut.X)
		}
		if of := loops.Yielded(p, l.X); of != nil {
			return of
		}
		if e, ok := loops.ElementsOf(p, l); ok {
			return e.List
		}
	case *ast.ForStmt: // for j := i + 1; j < len(xs); j++
		cond, ok := l.Cond.(*ast.BinaryExpr)
		if !ok || cond.Op != token.LSS {
			return nil
		}
		if call, ok := syntax.Origin(p, cond.Y).(*ast.CallExpr); ok && p.CalleeName(call) == "len" && len(call.Args) == 1 {
			return listed(p, call.Args[0])
		}
	}
	return nil
}

func listed(p *gocode.Place, e ast.Expr) ast.Expr {
	switch t := p.TypeOf(e); t.Underlying().(type) {
	case *types.Slice, *types.Array:
		return e
	}
	return nil
}

// variables returns the variables of a loop's elements: those of its head, and those that its body,
// without an inner loop, computes from them.
func variables(p *gocode.Place, loop, inner ast.Node) (vars []*types.Var) {
	add := func(e ast.Expr) {
		if v := syntax.LocalVar(p, e); v != nil {
			vars = append(vars, v)
		}
	}
	switch l := loop.(type) {
	case *ast.RangeStmt:
		for _, e := range []ast.Expr{l.Key, l.Value} {
			if e != nil {
				add(e)
			}
		}
	case *ast.ForStmt:
		if init, ok := l.Init.(*ast.AssignStmt); ok {
			for _, e := range init.Lhs {
				add(e)
			}
		}
	}
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || set.Tok != token.DEFINE {
			return n != inner
		}
		for i, e := range set.Lhs {
			if syntax.Mentions(p, set.Rhs[min(i, len(set.Rhs)-1)], vars...) {
				add(e)
			}
		}
		return true
	})
	return vars
}

// guarded reports whether the function that a call is of begins with a condition without calls
// under which it returns.
func guarded(p *gocode.Place, call *ast.CallExpr) bool {
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil || len(decl.Body.List) == 0 {
		return false
	}
	test, ok := decl.Body.List[0].(*ast.IfStmt)
	return ok && len(test.Body.List) > 0 && syntax.Departs(test.Body.List[len(test.Body.List)-1], false)
}
