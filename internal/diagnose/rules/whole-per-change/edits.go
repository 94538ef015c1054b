package wholeperchange

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// edits counts how many elements of a copied state change, in functions of its package.
type edits struct {
	*search
	clone *clone
	above []*site.Frame // the callers of the function that has the copy
	// most is how often the busiest statement that changes an element ran for each unit of work: a
	// change may be noted in several collections of the state.
	most    float64
	unclear bool
}

// of counts the changes to the elements of collections in a variable.
func (c *edits) of(p *gocode.Place, v *types.Var, steps int) {
	if c.unclear = c.unclear || steps == 0; c.unclear {
		return
	}
	c.in(p, syntax.Body(p), v, steps)
}

func (c *edits) in(p *gocode.Place, body ast.Node, v *types.Var, steps int) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			return n != c.clone.by && !copies(p, n)
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				c.assigned(p, lhs, n.Rhs[min(i, len(n.Rhs)-1)], v)
			}
		case *ast.IncDecStmt:
			if elementOf(p, n.X, v) {
				c.changed(p, n)
			}
		case *ast.CallExpr:
			c.call(p, n, v, steps)
		}
		return !c.unclear
	})
}

// changed counts a statement that changes an element.
func (c *edits) changed(p *gocode.Place, n ast.Node) {
	e, ok := evidence.ExecutionsAt(c.pass, p, n.Pos())
	c.unclear = c.unclear || !ok
	c.most = max(c.most, e.PerUnit)
}

// elementOf reports whether an expression is an element of a collection in a variable, or a field
// of one.
func elementOf(p *gocode.Place, e ast.Expr, v *types.Var) bool {
	if root, _ := syntax.Var(p, e); root != v {
		return false
	}
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		_, index := n.(*ast.IndexExpr)
		found = found || index
		return !found
	})
	return found
}

func (c *edits) assigned(p *gocode.Place, lhs, rhs ast.Expr, v *types.Var) {
	root, part := syntax.Var(p, lhs)
	switch {
	case root != v:
		return
	case elementOf(p, lhs, v):
		c.changed(p, lhs)
		return
	}
	call, ok := ast.Unparen(rhs).(*ast.CallExpr)
	if !ok || !part && elementSize(typeOf(p, lhs)) == 0 {
		return
	}
	switch {
	case p.CalleeName(call) == "append" && call.Ellipsis.IsValid():
		from, _ := syntax.Var(p, call.Args[0])
		c.unclear = c.unclear || from == v
	case p.CalleeName(call) == "append":
		c.changed(p, lhs)
	case p.CalleeName(call) == "make", cloned(p, call) != nil:
	case part && elementSize(typeOf(p, lhs)) > 0:
		c.unclear = !makes(p, call) && !c.copies(p, call)
	}
}

// copies reports whether a function of the package is passed a collection and returns a copy.
func (c *edits) copies(p *gocode.Place, call *ast.CallExpr) bool {
	decl := p.Declaration(p.Callee(call))
	return decl != nil && decl.Body != nil && syntax.Within(decl, c.clone.by)
}

func (c *edits) call(p *gocode.Place, call *ast.CallExpr, v *types.Var, steps int) {
	is := func(e ast.Expr) bool {
		if u, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && u.Op == token.AND {
			e = u.X
		}
		root, _ := syntax.Var(p, e)
		return root == v && reference(p, e)
	}
	name := p.CalleeName(call)
	if name == "delete" && is(call.Args[0]) {
		c.changed(p, call)
		return
	}
	fn := p.Callee(call)
	if fn == nil {
		c.passed(p, call, is, steps)
		return
	}
	decl := p.Declaration(fn.Origin())
	if decl == nil || decl.Body == nil {
		for i, arg := range call.Args {
			// maps.Copy(next.m, old.m) makes the copy.
			same := name == "maps.Copy" && i == 0 && syntax.Named(p, call.Args[0]) == syntax.Named(p, call.Args[1])
			c.unclear = c.unclear || is(arg) && !atomic(fn) && call != c.clone.by && !same && cloned(p, call) == nil
		}
		return
	}
	sig := fn.Origin().Signature()
	if recv := syntax.Receiver(call); recv != nil && sig.Recv() != nil && is(recv) {
		c.of(p.Entry(decl), sig.Recv(), steps-1)
	}
	for i, arg := range call.Args {
		if is(arg) && i < sig.Params().Len() && !syntax.Within(decl, c.clone.by) {
			c.of(p.Entry(decl), sig.Params().At(i), steps-1)
		}
	}
}

// atomic reports whether a function is a method of package sync/atomic.
func atomic(fn *types.Func) bool { return fn.Pkg() != nil && fn.Pkg().Path() == "sync/atomic" }

// reference reports whether who gets an expression may change elements of it.
func reference(p *gocode.Place, e ast.Expr) bool {
	switch typeOf(p, e).(type) {
	case *types.Basic, *types.Signature, *types.Chan:
		return false
	}
	return true
}

// passed counts what a function that the place's function was given does with the copy: change in
// change(func(s *state) { s.names[n] = id }).
func (c *edits) passed(p *gocode.Place, call *ast.CallExpr, is func(ast.Expr) bool, steps int) {
	if _, conversion := p.Conversion(call); conversion {
		return
	}
	f := syntax.LocalVar(p, call.Fun)
	if f == nil {
		return // a built-in function
	}
	for i, arg := range call.Args {
		if !is(arg) {
			continue
		}
		up, lit := c.literal(p, f)
		if lit == nil || i >= len(lit.Type.Params.List) || len(lit.Type.Params.List[i].Names) != 1 {
			c.unclear = true
			return
		}
		if v, ok := up.Object(lit.Type.Params.List[i].Names[0]).(*types.Var); ok {
			c.in(up, lit.Body, v, steps-1)
		}
	}
}

// literal returns the function literal that the caller passes for a parameter; nil for others.
func (c *edits) literal(p *gocode.Place, f *types.Var) (*gocode.Place, *ast.FuncLit) {
	if len(c.above) == 0 || p.Decl == nil {
		return nil, nil
	}
	up := c.pass.Place(&site.Site{Frame: *c.above[0]})
	self, ok := p.Info.Defs[p.Decl.Name].(*types.Func)
	if up == nil || up.Decl == nil || !ok {
		return nil, nil
	}
	for _, call := range syntax.Calls(up) {
		if up.Callee(call) != self {
			continue
		}
		if lit, ok := given(p, call, f).(*ast.FuncLit); ok {
			return up, lit
		}
	}
	return nil, nil
}
