package copiedperbranch

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// copied is a full copy of a list or set.
type copied struct {
	node   ast.Node      // the call or loop that copies
	call   *ast.CallExpr // whose value is the copy; nil for a variable that is filled
	source ast.Expr
	to     *types.Var // the variable that has the copy; nil for none
}

// of reports whether a variable is what is copied.
func (c *copied) of(p *gocode.Place, v *types.Var) bool {
	from, _ := syntax.Var(p, c.source)
	return v != nil && from == v
}

// created returns the node that creates the copy.
func (c *copied) created(p *gocode.Place) ast.Node {
	if stmt, _ := syntax.Declared(p.Outer(), c.to); stmt != nil {
		return stmt
	}
	return c.node
}

// id identifies the copy by what holds it.
func (c *copied) id() token.Pos {
	if c.to != nil && c.call == nil {
		return c.to.Pos()
	}
	return c.node.Pos()
}

// goesInto reports whether an expression is the copy, or a literal that contains it.
func (c *copied) goesInto(p *gocode.Place, e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if n == nil || found {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = c.call != nil && n == c.call
		case *ast.Ident:
			found = c.to != nil && p.Object(n) == types.Object(c.to)
		}
		return !found
	})
	return found
}

// copiesOn returns the full copies of variables that the line of a place makes.
func copiesOn(pass *rule.Pass, p *gocode.Place) (found []*copied) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if n == nil || !onLine(p, n) {
			return false
		}
		var c *copied
		switch n := n.(type) {
		case *ast.CallExpr:
			c = copyingCall(pass, p, n)
		case *ast.RangeStmt:
			c = copyingLoop(p, n)
		case *ast.AssignStmt:
			c = madeFor(p, n)
		}
		if c != nil && c.source != nil {
			found = append(found, c)
		}
		return true
	})
	return found
}

func onLine(p *gocode.Place, n ast.Node) bool {
	return syntax.Line(p, n.Pos()) <= p.Line && p.Line <= syntax.Line(p, n.End())
}

// copyingCall returns the copy that a call makes; nil for other calls.
func copyingCall(pass *rule.Pass, p *gocode.Place, call *ast.CallExpr) *copied {
	if syntax.Line(p, call.Lparen) != p.Line {
		return nil
	}
	made := &copied{node: call, call: call, to: holder(p, call)}
	switch p.CalleeName(call) {
	case "slices.Clone", "maps.Clone", "bytes.Clone":
		made.source = call.Args[0]
	case "append":
		made.source = appended(p, call)
	case "copy", "maps.Copy":
		if len(call.Args) == 2 {
			made.call, made.to, made.source = nil, syntax.LocalVar(p, call.Args[0]), call.Args[1]
		}
		if made.to == nil || syntax.Param(p, made.to) {
			return nil
		}
	default:
		made.source = copiedBy(pass, p, call)
	}
	return made
}

// holder returns the variable that gets the value of a call, alone or with more appended.
func holder(p *gocode.Place, call ast.Expr) *types.Var {
	e := call
	for {
		up, ok := syntax.Parent(p, e).(*ast.CallExpr)
		if !ok || p.CalleeName(up) != "append" || up.Args[0] != e {
			break
		}
		e = up
	}
	if to := syntax.AssignedTo(p, e); to != nil {
		return syntax.LocalVar(p, to)
	}
	return nil
}

// appended returns the slice that a call of append copies: append([]T{}, xs...),
// append(xs[:len(xs):len(xs)], x).
func appended(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	if len(call.Args) < 2 {
		return nil
	}
	if full, ok := ast.Unparen(call.Args[0]).(*ast.SliceExpr); ok {
		if full.Slice3 && full.Low == nil && full.Max != nil && !zero(p, full.Max) {
			return full.X
		}
	}
	if len(call.Args) == 2 && call.Ellipsis.IsValid() && syntax.EmptySlice(p, call.Args[0]) {
		return call.Args[1]
	}
	return nil
}

func zero(p *gocode.Place, e ast.Expr) bool {
	n, ok := syntax.ConstInt(p, e)
	return ok && n == 0
}

// copiedBy returns the receiver or argument that a function of the program returns a copy of.
func copiedBy(pass *rule.Pass, p *gocode.Place, call *ast.CallExpr) ast.Expr {
	fn := p.Callee(call)
	if fn == nil || fn.Signature().Results().Len() != 1 || fn.Signature().Variadic() {
		return nil
	}
	result := fn.Signature().Results().At(0).Type()
	in, ok := pass.Syntax.Declared(fn.Origin())
	if !ok {
		return nil
	}
	sig := fn.Origin().Signature()
	if recv := sig.Recv(); recv != nil && types.Identical(fn.Signature().Recv().Type(), result) && returnsCopy(in, recv) {
		return syntax.Receiver(call)
	}
	for i := range sig.Params().Len() {
		if types.Identical(fn.Signature().Params().At(i).Type(), result) && returnsCopy(in, sig.Params().At(i)) {
			return call.Args[i]
		}
	}
	return nil
}

// returnsCopy reports whether a function copies the elements of a variable, or of its parts, into
// something new: with copy, append, Clone, or in a loop.
func returnsCopy(p *gocode.Place, v *types.Var) bool {
	if v == nil || p.Decl == nil || len(syntax.Assigned(p, v)) > 0 {
		return false
	}
	is := func(e ast.Expr) bool {
		if e == nil {
			return false
		}
		from, _ := syntax.Var(p, e)
		return from == v
	}
	creates, copies := false, false
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			creates = true
		case *ast.RangeStmt:
			copies = copies || is(n.X) && copyingLoop(p, n) != nil
		case *ast.ReturnStmt:
			for _, r := range n.Results {
				if is(r) {
					copies = false // the variable itself
					return false
				}
			}
		case *ast.CallExpr:
			switch p.CalleeName(n) {
			case "make", "new":
				creates = true
			case "copy", "maps.Copy":
				copies = copies || len(n.Args) == 2 && is(n.Args[1])
			case "slices.Clone", "maps.Clone", "bytes.Clone":
				copies, creates = copies || is(n.Args[0]), true
			case "append":
				copies = copies || n.Ellipsis.IsValid() && is(n.Args[len(n.Args)-1])
			default:
				creates = creates || constructs(p, n)
			}
		}
		return true
	})
	return creates && copies
}

// constructs reports whether a call returns a pointer to a struct of the program.
func constructs(p *gocode.Place, call *ast.CallExpr) bool {
	t := p.TypeOf(call)
	if t == nil {
		return false
	}
	ptr, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	_, ok = ptr.Elem().Underlying().(*types.Struct)
	return ok
}

// copyingLoop returns the copy that a loop over all elements of a list or map makes; nil if it does
// something else.
func copyingLoop(p *gocode.Place, loop *ast.RangeStmt) *copied {
	if len(loop.Body.List) != 1 {
		return nil
	}
	var to *types.Var
	switch s := loop.Body.List[0].(type) {
	case *ast.AssignStmt:
		if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
			return nil
		}
		switch lhs := ast.Unparen(s.Lhs[0]).(type) {
		case *ast.IndexExpr: // to[k] = v
			if !same(p, loop.Key, lhs.Index) && !same(p, loop.Value, lhs.Index) {
				return nil
			}
			to, _ = syntax.Var(p, lhs.X)
		default: // to = append(to, v)
			call, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr)
			if !ok || p.CalleeName(call) != "append" || len(call.Args) != 2 || !same(p, loop.Value, call.Args[1]) && !same(p, loop.Key, call.Args[1]) {
				return nil
			}
			to, _ = syntax.Var(p, s.Lhs[0])
		}
	case *ast.ExprStmt: // to.Add(v)
		call, ok := s.X.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || !same(p, loop.Value, call.Args[0]) && !same(p, loop.Key, call.Args[0]) || syntax.Receiver(call) == nil {
			return nil
		}
		to, _ = syntax.Var(p, syntax.Receiver(call))
	}
	from, _ := syntax.Var(p, loop.X)
	if to == nil || from == nil || to == from {
		return nil
	}
	return &copied{node: loop, source: loop.X, to: to}
}

func same(p *gocode.Place, a, b ast.Expr) bool {
	x, ok := a.(*ast.Ident)
	y, yes := ast.Unparen(b).(*ast.Ident)
	return ok && yes && p.Object(x) != nil && p.Object(x) == p.Object(y)
}

// madeFor returns the copy for which an assignment creates the variable: to := make(…), which copy
// or a loop then fills.
func madeFor(p *gocode.Place, a *ast.AssignStmt) *copied {
	if len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return nil
	}
	create, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	to := syntax.LocalVar(p, a.Lhs[0])
	if !ok || to == nil || p.CalleeName(create) != "make" {
		return nil
	}
	var found *copied
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			if c := copyingLoop(p, n); c != nil && c.to == to {
				found = c
			}
		case *ast.CallExpr:
			name := p.CalleeName(n)
			if (name == "copy" || name == "maps.Copy") && len(n.Args) == 2 && syntax.LocalVar(p, n.Args[0]) == to {
				found = &copied{node: n, source: n.Args[1], to: to}
			}
		}
		return found == nil
	})
	return found
}
