package windowperstep

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// body follows the statements of a loop through a window.
type body struct {
	p     *gocode.Place
	mover *mover
	vars  map[types.Object]bool // of the element
	// fixed is true if neither end moves: then an index has to, as in xs[i+k].
	fixed  bool
	offset bool     // there is such an index
	span   ast.Expr // the condition that ends the window, by what elements are

	result  *types.Var
	extreme bool
	object  bool // the result is an object that is given each element
}

// statements reports whether statements do nothing but compute one result from elements.
func (b *body) statements(list []ast.Stmt) bool {
	for _, stmt := range list {
		if !b.statement(stmt) {
			return false
		}
	}
	return len(list) > 0
}

func (b *body) statement(stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return b.defines(s)
		}
		return len(s.Lhs) == 1 && len(s.Rhs) == 1 && b.adds(s)
	case *ast.IncDecStmt:
		return b.into(s.X)
	case *ast.IfStmt:
		return b.test(s)
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE && s.Label == nil
	case *ast.ExprStmt:
		return b.gives(s)
	case *ast.EmptyStmt:
		return true
	}
	return false
}

// defines notes variables that are parts of the element.
func (b *body) defines(s *ast.AssignStmt) bool {
	for _, rhs := range s.Rhs {
		if !b.ofElement(rhs) {
			return false
		}
	}
	for _, lhs := range s.Lhs {
		if id, ok := lhs.(*ast.Ident); ok {
			b.vars[b.p.Object(id)] = true
		}
	}
	return true
}

// adds reports whether a statement changes the result by an element: s += x, s = s.Add(x), m = x.
func (b *body) adds(s *ast.AssignStmt) bool {
	if !b.into(s.Lhs[0]) || !b.ofElement(s.Rhs[0]) {
		return false
	}
	switch s.Tok {
	case token.ADD_ASSIGN:
		return true
	case token.ASSIGN:
		return b.combines(s.Rhs[0])
	}
	return false
}

// combines reports whether the new value of the result is one that can be kept from window to
// window: a sum, a call for it, the smaller or larger.
func (b *body) combines(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return x.Op == token.ADD && b.isResult(x.X) != b.isResult(x.Y)
	case *ast.CallExpr:
		name := ""
		if fn := b.p.Callee(x); fn != nil {
			name = fn.Name()
		} else if id, ok := ast.Unparen(x.Fun).(*ast.Ident); ok {
			name = id.Name
		}
		if extremeName(name) {
			b.extreme = true
			return true
		}
		to := syntax.Receiver(x)
		return name == "Add" && to != nil && b.isResult(to)
	}
	// m = x, after a comparison
	b.extreme = true
	return !b.isResult(e)
}

func (b *body) isResult(e ast.Expr) bool {
	v := syntax.LocalVar(b.p, e)
	return v != nil && v == b.result
}

// into notes the result that an expression is; false for a second one, and for what is not a
// variable of the function.
func (b *body) into(e ast.Expr) bool {
	v := syntax.LocalVar(b.p, e)
	if v == nil || syntax.Inside(b.mover.loop, v.Pos()) || b.result != nil && b.result != v {
		return false
	}
	b.result = v
	return true
}

// test follows a condition on the element, or on the element and the result.
func (b *body) test(s *ast.IfStmt) bool {
	if s.Init != nil {
		init, ok := s.Init.(*ast.AssignStmt)
		if !ok || init.Tok != token.DEFINE || !b.defines(init) {
			return false
		}
	}
	if b.ends(s) {
		return true
	}
	if !b.statements(s.Body.List) {
		return false
	}
	if s.Else != nil {
		block, ok := s.Else.(*ast.BlockStmt)
		if !ok || !b.statements(block.List) {
			return false
		}
	}
	return b.ofElement(s.Cond)
}

// ends reports whether a statement leaves the loop at the first element that is too far away.
func (b *body) ends(s *ast.IfStmt) bool {
	if b.span != nil || s.Else != nil || len(s.Body.List) != 1 {
		return false
	}
	br, ok := s.Body.List[0].(*ast.BranchStmt)
	if !ok || br.Tok != token.BREAK || br.Label != nil || !b.spans(s.Cond) {
		return false
	}
	b.span = s.Cond
	return true
}

// spans reports whether a condition compares how far an element is from the one at the position, as
// in x.at-xs[j].at < w.
func (b *body) spans(e ast.Expr) bool {
	cond, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || b.fixed || cond.Op == token.EQL || cond.Op == token.NEQ || cond.Op == token.LAND || cond.Op == token.LOR {
		return false
	}
	element, position, fine := false, false, true
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			fine = false
		case *ast.Ident:
			v := syntax.LocalVar(b.p, n)
			switch {
			case v != nil && b.vars[v]:
				element = true
			case v != nil && (v == b.mover.step || b.atPosition(v)):
				position = true
			default:
				fine = fine && b.same(n)
			}
		}
		return fine
	})
	return fine && element && position && b.result == nil
}

// atPosition reports whether a variable is the element at the position, or a part of it.
func (b *body) atPosition(v *types.Var) bool {
	if r, ok := b.mover.steps.(*ast.RangeStmt); ok && is(b.p, r.Value, v) {
		return true
	}
	_, value := syntax.Declared(b.p, v)
	found := false
	ast.Inspect(syntax.OrBad(value), func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && value != nil {
			w := syntax.LocalVar(b.p, id)
			r, ranges := b.mover.steps.(*ast.RangeStmt)
			found = found || w != nil && (w == b.mover.step || ranges && is(b.p, r.Value, w))
		}
		return !found
	})
	return found
}

func is(p *gocode.Place, e ast.Expr, v *types.Var) bool {
	id, ok := e.(*ast.Ident)
	return ok && p.Object(id) == types.Object(v)
}

// ofElement reports whether an expression depends on nothing but the element, the result so far and
// what is the same for all windows. With windows of fixed ends, the position is added to the place
// in the window in each index.
func (b *body) ofElement(e ast.Expr) bool {
	fine := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if b.fixed && b.both(n.Index) {
				b.offset = true
				fine = fine && b.ofElement(n.X)
				return false
			}
		case *ast.FuncLit:
			fine = false
		case *ast.UnaryExpr:
			fine = fine && n.Op != token.ARROW && n.Op != token.AND
		case *ast.Ident:
			fine = fine && b.same(n)
		}
		return fine
	})
	return fine
}

// both reports whether an index is the sum of the position and the place in the window.
func (b *body) both(e ast.Expr) bool {
	place := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		place = place || ok && b.vars[b.p.Object(id)]
		return !place
	})
	x, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || !place || x.Op != token.ADD && x.Op != token.SUB {
		return false
	}
	moves := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			moves = moves || syntax.LocalVar(b.p, n) == b.mover.step
		case *ast.BinaryExpr:
			ok = ok && (n.Op == token.ADD || n.Op == token.SUB)
		case *ast.CallExpr, *ast.IndexExpr:
			ok = false
		}
		return ok
	})
	return moves && ok
}

// same reports whether a name is of the element, of the result, or of something that is the same
// for all windows.
func (b *body) same(id *ast.Ident) bool {
	v, ok := b.p.Object(id).(*types.Var)
	if !ok || v.IsField() || v == b.result {
		return true
	}
	if b.vars[v] {
		return !b.fixed // the place in the window alone, as of a weight
	}
	if v == b.mover.step {
		return false
	}
	if !syntax.Local(b.p, v) {
		return true
	}
	if b.mover.steps == nil {
		return syntax.Param(b.p, v)
	}
	return !syntax.Inside(b.mover.steps, v.Pos()) && !syntax.Changes(b.p, b.mover.steps, v)
}

// fresh reports whether the result starts again with each window.
func (b *body) fresh() bool {
	if b.object {
		return b.emptied()
	}
	if b.mover.steps == nil {
		return !syntax.Param(b.p, b.result)
	}
	if syntax.Inside(loops.Body(b.mover.steps), b.result.Pos()) {
		return true
	}
	again := false
	ast.Inspect(loops.Body(b.mover.steps), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if n == ast.Node(b.mover.loop) {
			return false
		}
		if ok && a.Tok == token.ASSIGN && len(a.Lhs) == len(a.Rhs) {
			for _, lhs := range a.Lhs {
				again = again || syntax.LocalVar(b.p, lhs) == b.result
			}
		}
		return !again
	})
	return again
}
