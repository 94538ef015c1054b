package copiedperbranch

import (
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// branch is a step of a search that copies what the search remembers.
type branch struct {
	place  *gocode.Place // of the outermost function
	copied *copied
	name   string   // of the function that calls itself
	queue  ast.Expr // that gets the copy, for a search without recursion
	step   *step    // of a loop that keeps a copy for each iteration
	fn     ast.Node // the function or function literal that searches
}

// branchAt returns the branch for which the line of a place copies; nil for none.
func branchAt(pass *rule.Pass, at *gocode.Place) *branch {
	if at.Decl == nil || at.Decl.Body == nil {
		return nil
	}
	p := at.Outer()
	for _, c := range copiesOn(pass, p) {
		for _, fn := range functionsAround(p, c.node) {
			for _, call := range selfCalls(p, fn) {
				if passes(p, fn, call, c) && !concurrent(p, fn, call) {
					return &branch{place: at, copied: c, name: nameOf(p, fn), fn: fn}
				}
			}
		}
		if q := queued(p, c); q != nil {
			return &branch{place: at, copied: c, queue: q, fn: p.Decl}
		}
		if st := stepOf(p, c); st != nil {
			return &branch{place: at, copied: c, step: st, fn: p.Decl}
		}
	}
	return nil
}

// functionsAround returns the function literals around a node, innermost first, and the function.
func functionsAround(p *gocode.Place, n ast.Node) (all []ast.Node) {
	for _, up := range p.Enclosing(n) {
		if _, ok := up.(*ast.FuncLit); ok {
			all = append(all, up)
		}
	}
	return append(all, p.Decl)
}

// selfCalls returns the calls of a function of itself: by its name, or for a literal by the
// variable that it is assigned to.
func selfCalls(p *gocode.Place, fn ast.Node) (calls []*ast.CallExpr) {
	self := object(p, fn)
	ast.Inspect(fn, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || self == nil {
			return true
		}
		switch f := ast.Unparen(call.Fun).(type) {
		case *ast.Ident:
			if p.Object(f) == self {
				calls = append(calls, call)
			}
		default:
			if callee := p.Callee(call); callee != nil && callee.Origin() == self {
				calls = append(calls, call)
			}
		}
		return true
	})
	return calls
}

// object returns what a function calls itself by.
func object(p *gocode.Place, fn ast.Node) types.Object {
	switch f := fn.(type) {
	case *ast.FuncDecl:
		return p.Object(f.Name)
	case *ast.FuncLit:
		if id, ok := syntax.AssignedTo(p, f).(*ast.Ident); ok {
			return p.Object(id)
		}
	}
	return nil
}

func nameOf(p *gocode.Place, fn ast.Node) string {
	if o := object(p, fn); o != nil {
		return o.Name()
	}
	return syntax.FuncName(p)
}

// passes reports whether a call of a function of itself gets the copy for the parameter that was
// copied.
func passes(p *gocode.Place, fn ast.Node, call *ast.CallExpr, c *copied) bool {
	for i, param := range params(p, fn) {
		if i >= len(call.Args) || !c.of(p, param) {
			continue
		}
		arg := ast.Unparen(call.Args[i])
		if c.call != nil && within(arg, c.call) && sameType(p, arg, c.call) {
			return true
		}
		if v := syntax.LocalVar(p, root(arg)); v != nil && v == c.to {
			return true
		}
	}
	return false
}

// root returns the operand of calls of append: xs of append(xs, x).
func root(e ast.Expr) ast.Expr {
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return ast.Unparen(e)
		}
		if id, ok := ast.Unparen(call.Fun).(*ast.Ident); !ok || id.Name != "append" {
			return ast.Unparen(e)
		}
		e = call.Args[0]
	}
}

// within reports whether a call is an expression itself, or the first operand of its appends.
func within(e ast.Expr, call *ast.CallExpr) bool {
	for {
		if e = ast.Unparen(e); e == ast.Expr(call) {
			return true
		}
		outer, ok := e.(*ast.CallExpr)
		if !ok || len(outer.Args) == 0 {
			return false
		}
		if id, ok := ast.Unparen(outer.Fun).(*ast.Ident); !ok || id.Name != "append" {
			return false
		}
		e = outer.Args[0]
	}
}

func sameType(p *gocode.Place, a, b ast.Expr) bool {
	ta, tb := p.TypeOf(a), p.TypeOf(b)
	return ta != nil && tb != nil && types.Identical(ta.Underlying(), tb.Underlying())
}

// params returns the parameters of a function, in order.
func params(p *gocode.Place, fn ast.Node) (all []*types.Var) {
	var list *ast.FieldList
	switch f := fn.(type) {
	case *ast.FuncDecl:
		list = f.Type.Params
	case *ast.FuncLit:
		list = f.Type.Params
	}
	for _, field := range list.List {
		for _, id := range field.Names {
			v, _ := p.Object(id).(*types.Var)
			all = append(all, v)
		}
	}
	return all
}

// concurrent reports whether a call is made in another goroutine, which needs a copy of its own.
func concurrent(p *gocode.Place, fn ast.Node, call *ast.CallExpr) bool {
	for _, up := range p.Enclosing(call) {
		if up == fn {
			return false
		}
		switch up := up.(type) {
		case *ast.GoStmt:
			return true
		case *ast.CallExpr:
			if sel, ok := ast.Unparen(up.Fun).(*ast.SelectorExpr); ok && (sel.Sel.Name == "Go" || sel.Sel.Name == "Submit") {
				return true
			}
		}
	}
	return false
}

// queued returns the queue or stack of a search to which the copy of one of its entries is added;
// nil for none.
func queued(p *gocode.Place, c *copied) ast.Expr {
	from, _ := syntax.Var(p, c.source)
	if from == nil || !syntax.Local(p, from) {
		return nil
	}
	_, taken := syntax.Declared(p, from)
	if taken == nil {
		return nil
	}
	var queue ast.Expr
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if queue != nil || !ok {
			return queue == nil
		}
		to, args := addsTo(p, call)
		if to == nil || !mentions(p, taken, to) {
			return true
		}
		for _, arg := range args {
			if c.goesInto(p, arg) {
				queue = to
			}
		}
		return true
	})
	return queue
}

// addsTo returns the queue to which a call adds elements, and these: append(q, x), q.Push(x),
// heap.Push(q, x).
func addsTo(p *gocode.Place, call *ast.CallExpr) (queue ast.Expr, args []ast.Expr) {
	switch p.CalleeName(call) {
	case "append", "container/heap.Push":
		if len(call.Args) > 1 && !call.Ellipsis.IsValid() {
			return call.Args[0], call.Args[1:]
		}
		return nil, nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	switch sel.Sel.Name {
	case "Push", "PushBack", "PushFront", "Enqueue", "Add", "Append", "Put":
		return sel.X, call.Args
	}
	return nil, nil
}

// mentions reports whether an expression refers to the same variable as another.
func mentions(p *gocode.Place, e, of ast.Expr) bool {
	v, _ := syntax.Var(p, of)
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && v != nil && p.Object(id) == v {
			found = true
		}
		return !found
	})
	return found
}

// kept reports whether many of the copies are kept: what is copied is stored, sent or put into a
// result while the search runs, nearly as often as it is copied.
func (b *branch) kept(pass *rule.Pass, copies float64) bool {
	if b.queue != nil || b.step != nil {
		return false
	}
	p := b.place.Outer()
	kept := false
	for _, param := range params(p, b.fn) {
		if !b.copied.of(p, param) {
			continue
		}
		for _, use := range syntax.Uses(p, param) {
			if !stores(p, use) {
				continue
			}
			n, ok := evidence.ReachedAt(pass, p, use.Pos())
			kept = kept || !ok || n > mostKept*copies
		}
	}
	return kept
}

// stores reports whether a use of a variable puts it into something that outlives the function.
func stores(p *gocode.Place, use *ast.Ident) bool {
	switch up := syntax.Parent(p, use).(type) {
	case *ast.CompositeLit, *ast.SendStmt:
		return true
	case *ast.KeyValueExpr:
		return up.Value == ast.Expr(use)
	case *ast.CallExpr:
		return p.CalleeName(up) == "append" && !up.Ellipsis.IsValid() && len(up.Args) > 1 && up.Args[0] != ast.Expr(use)
	case *ast.AssignStmt:
		for i, rhs := range up.Rhs {
			if rhs != ast.Expr(use) || len(up.Lhs) != len(up.Rhs) {
				continue
			}
			if _, ok := ast.Unparen(up.Lhs[i]).(*ast.Ident); !ok {
				return true
			}
		}
	}
	return false
}
