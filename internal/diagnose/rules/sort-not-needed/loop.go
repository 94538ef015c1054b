package sortnotneeded

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/later"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// body judges a loop over the list: whether its result is the same in any order of the elements.
type body struct {
	*gocode.Place
	uses *uses
	loop ast.Node
	does string
	// exits and collects say that the loop may end early, and that it collects something: what it
	// has then depends on the order.
	exits, collects bool
	// lists are those to which the loop appends elements.
	lists []*types.Var
}

// loop reports whether a loop over the list gives the same result in any order.
func (u *uses) loop(p *gocode.Place, loop *ast.RangeStmt) bool {
	if loop.Tok == token.ASSIGN {
		return false
	}
	if key, ok := loop.Key.(*ast.Ident); ok && key.Name != "_" && loop.Value != nil {
		return false // the position of an element
	}
	if _, iterator := p.TypeOf(loop.X).Underlying().(*types.Signature); !iterator && loop.Key != nil && loop.Value == nil {
		if id, ok := loop.Key.(*ast.Ident); ok && id.Name != "_" {
			return false
		}
	}
	b := &body{Place: p, uses: u, loop: loop}
	if !b.statements(loop.Body.List) || b.does == "" && len(b.lists) == 0 || b.exits && b.collects {
		return false
	}
	for _, v := range b.lists {
		u.depth++
		if repeated(p, loop, v) || syntax.Param(p, v) || !u.after(p, v, loop) {
			return false
		}
	}
	if b.does != "" {
		u.note(p, loop, "the loop "+b.does)
	}
	return true
}

func (b *body) statements(list []ast.Stmt) bool {
	for i, stmt := range list {
		if a, ok := stmt.(*ast.AssignStmt); ok && i+1 < len(list) && b.finds(a, list[i+1]) { // found = true; break
			b.does, b.exits = "looks for one that passes a test", true
			continue
		}
		if !b.statement(stmt) {
			return false
		}
	}
	return true
}

// finds reports whether a statement notes a constant before the loop ends.
func (b *body) finds(a *ast.AssignStmt, next ast.Stmt) bool {
	end, ok := next.(*ast.BranchStmt)
	return ok && end.Tok == token.BREAK && end.Label == nil && a.Tok == token.ASSIGN && len(a.Rhs) == 1 && b.constant(a.Rhs[0]) && syntax.LocalVar(b.Place, a.Lhs[0]) != nil
}

func (b *body) statement(stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		return b.assigns(s)
	case *ast.IncDecStmt:
		b.does, b.collects = "counts", true
		return b.total(s.X)
	case *ast.BranchStmt:
		return s.Label == nil && (s.Tok == token.CONTINUE || s.Tok == token.BREAK && b.exits)
	case *ast.ReturnStmt:
		for _, e := range s.Results {
			if !b.constant(e) {
				return false
			}
		}
		b.does, b.exits = "looks for one that passes a test", true
		return len(s.Results) > 0
	case *ast.IfStmt:
		if b.keepsBest(s) {
			b.does, b.collects = "looks for the largest or smallest value", true
			return true
		}
		if s.Else != nil || s.Init != nil && !b.statement(s.Init) || !b.reads(s.Cond) || !b.statements(s.Body.List) {
			return false
		}
		return !b.exits || !b.calls(s.Cond) // those that mostly pass an expensive test may come first
	case *ast.RangeStmt: // over something in each element
		return s.Tok != token.ASSIGN && b.reads(s.X) && b.statements(s.Body.List)
	}
	return false
}

// assigns reports whether an assignment defines a variable for the element, or adds to something
// that has no order.
func (b *body) assigns(a *ast.AssignStmt) bool {
	if len(a.Rhs) != 1 || !b.reads(a.Rhs[0]) && len(a.Lhs) > 0 && !b.appends(a) && !b.largest(a) {
		return false
	}
	switch a.Tok {
	case token.DEFINE:
		return true
	case token.ADD_ASSIGN, token.OR_ASSIGN, token.AND_ASSIGN, token.XOR_ASSIGN:
		b.does, b.collects = "adds up numbers", true
		return len(a.Lhs) == 1 && b.total(a.Lhs[0])
	case token.ASSIGN:
		if len(a.Lhs) != 1 {
			return false
		}
		if b.appends(a) {
			b.collects = true
			b.lists = append(b.lists, syntax.LocalVar(b.Place, a.Lhs[0]))
			return true
		}
		if b.largest(a) {
			b.does, b.collects = "looks for the largest or smallest value", true
			return true
		}
		x, ok := ast.Unparen(a.Lhs[0]).(*ast.IndexExpr)
		if !ok || !b.constant(a.Rhs[0]) || !b.reads(x.Index) {
			return false
		}
		_, isMap := b.TypeOf(x.X).Underlying().(*types.Map)
		b.does, b.collects = "fills a set", true
		return isMap && b.outside(x.X)
	}
	return false
}

// total reports whether an expression is an integer, or an element of a map of integers, that
// exists outside of the loop.
func (b *body) total(e ast.Expr) bool {
	t, ok := b.TypeOf(e).Underlying().(*types.Basic)
	if !ok || t.Info()&types.IsInteger == 0 {
		return false
	}
	if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
		_, isMap := b.TypeOf(x.X).Underlying().(*types.Map)
		return isMap && b.reads(x.Index) && b.outside(x.X)
	}
	return b.outside(e)
}

// outside reports whether an expression is a local variable that is declared before the loop.
func (b *body) outside(e ast.Expr) bool {
	v := syntax.LocalVar(b.Place, e)
	return v != nil && !syntax.Inside(b.loop, v.Pos())
}

// appends reports whether a statement appends to a list that is declared before the loop.
func (b *body) appends(a *ast.AssignStmt) bool {
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || b.CalleeName(call) != "append" || len(call.Args) != 2 || !b.reads(call.Args[1]) {
		return false
	}
	v := syntax.LocalVar(b.Place, a.Lhs[0])
	return v != nil && v == syntax.LocalVar(b.Place, call.Args[0]) && b.outside(a.Lhs[0])
}

// largest reports whether a statement is best = max(best, x), or min.
func (b *body) largest(a *ast.AssignStmt) bool {
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return false
	}
	name := b.CalleeName(call)
	return (name == "max" || name == "min") && syntax.Same(b.Place, a.Lhs[0], call.Args[0]) && b.outside(a.Lhs[0]) && b.reads(call.Args[1])
}

// keepsBest reports whether a statement is if x > best { best = x }.
func (b *body) keepsBest(s *ast.IfStmt) bool {
	cond, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	if !ok || s.Else != nil || s.Init != nil || len(s.Body.List) != 1 || cond.Op != token.LSS && cond.Op != token.GTR {
		return false
	}
	a, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || !b.outside(a.Lhs[0]) {
		return false
	}
	is := func(x, best ast.Expr) bool {
		return syntax.Same(b.Place, best, a.Lhs[0]) && b.reads(x) && types.ExprString(x) == types.ExprString(a.Rhs[0])
	}
	return is(cond.X, cond.Y) || is(cond.Y, cond.X)
}

// reads reports whether an expression depends on the element, and on nothing that the loop changes,
// and has no side effects.
func (b *body) reads(e ast.Expr) bool {
	if !later.Moves(b.Place, e) {
		return false
	}
	fine := true
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, isVar := b.Object(id).(*types.Var)
			fine = fine && !(isVar && !v.IsField() && !syntax.Inside(b.loop, v.Pos()) && syntax.Changes(b.Place, b.loop, v))
		}
		return fine
	})
	return fine
}

// calls reports whether an expression calls a function that is not built in.
func (b *body) calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok {
			_, conversion := b.Conversion(call)
			found = found || !conversion && b.Callee(call) != nil
		}
		return !found
	})
	return found
}

// constant reports whether a value is a constant, nil or an empty struct.
func (b *body) constant(e ast.Expr) bool {
	if lit, ok := ast.Unparen(e).(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	if id, ok := ast.Unparen(e).(*ast.Ident); ok && id.Name == "nil" {
		return true
	}
	_, ok := b.Const(e)
	return ok
}
