package sortnotneeded

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/later"
	"github.com/hone-go/hone/internal/diagnose/loops"
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
	sums            bool // elements that occur twice change the result
	// lists are those to which the loop appends elements.
	lists []*types.Var
}

// loop reports whether a loop over the list gives the same result in any order.
func (u *uses) loop(p *gocode.Place, loop *ast.RangeStmt) bool {
	e, ok := loops.ElementsOf(p, loop)
	if !ok {
		_, ok = p.TypeOf(loop.X).Underlying().(*types.Signature) // an iterator of one value
		ok = ok && loop.Value == nil
		e = loops.Elements{}
	}
	if !ok || loop.Tok == token.ASSIGN || e.Index != nil && !u.positions(p, loop.Body, e) {
		return false
	}
	return u.inAnyOrder(p, loop, loop.Body)
}

// positions reports whether a loop uses the index of an element only to read that element.
func (u *uses) positions(p *gocode.Place, body *ast.BlockStmt, e loops.Elements) bool {
	list := syntax.LocalVar(p, e.List)
	for _, id := range syntax.Uses(p, e.Index) {
		if !syntax.Inside(body, id.Pos()) {
			continue
		}
		x, ok := syntax.Parent(p, id).(*ast.IndexExpr)
		if !ok || list == nil || x.Index != ast.Expr(id) || syntax.LocalVar(p, x.X) != list {
			return false
		}
	}
	return true
}

// current reports whether an expression is the element list[i] of a loop over the list that gives
// the same result in any order.
func (u *uses) current(p *gocode.Place, x *ast.IndexExpr) bool {
	i := syntax.LocalVar(p, x.Index)
	for _, loop := range loops.Around(p, x) {
		e, ok := loops.ElementsOf(p, loop)
		if !ok || i == nil || e.Index != i || syntax.LocalVar(p, e.List) != syntax.LocalVar(p, x.X) {
			continue
		}
		if slices.Contains(u.loops, loop) {
			return true
		}
		_, classic := loop.(*ast.ForStmt)
		u.loops = append(u.loops, loop)
		return !classic || u.positions(p, loops.Body(loop), e) && u.inAnyOrder(p, loop, loops.Body(loop))
	}
	return false
}

// inAnyOrder reports whether the body of a loop over the list gives the same result in any order.
func (u *uses) inAnyOrder(p *gocode.Place, loop ast.Node, block *ast.BlockStmt) bool {
	b := &body{Place: p, uses: u, loop: loop}
	if !b.statements(block.List) || b.does == "" && len(b.lists) == 0 || b.exits && b.collects || b.sums && u.single {
		return false
	}
	for _, v := range b.lists {
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
	leaves := b.leaves(list)
	for _, stmt := range list {
		if leaves && b.notes(stmt) { // found = true; hits.Inc(); break
			continue
		}
		if !b.statement(stmt) {
			return false
		}
	}
	return true
}

// leaves reports whether the last of some statements ends the loop, without a result that depends
// on the element.
func (b *body) leaves(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return !b.element(last)
	case *ast.BranchStmt:
		return last.Tok == token.BREAK && last.Label == nil && syntax.BreakTarget(append([]ast.Node{last}, b.Enclosing(last)...)) == b.loop
	}
	return false
}

// notes reports whether a statement before the loop ends does the same for any element: it sets a
// variable to a constant, logs or counts.
func (b *body) notes(stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		if s.Tok != token.ASSIGN || len(s.Lhs) != len(s.Rhs) {
			return false
		}
		for i, lhs := range s.Lhs {
			if !b.constant(s.Rhs[i]) || syntax.LocalVar(b.Place, lhs) == nil {
				return false
			}
		}
		b.does, b.exits = "looks for one that passes a test", true
		return true
	case *ast.IncDecStmt:
		return !b.element(s)
	}
	return b.reports(stmt)
}

// reports reports whether a statement logs or counts the same for each element.
func (b *body) reports(stmt ast.Stmt) bool {
	s, ok := stmt.(*ast.ExprStmt)
	if !ok || b.element(s) {
		return false
	}
	call, ok := s.X.(*ast.CallExpr)
	return ok && effects.LogsOrCounts(b.CalleeName(call))
}

// element reports whether a node mentions a variable of the loop, and so may depend on the element.
func (b *body) element(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if ok && !found {
			v, isVar := b.Object(id).(*types.Var)
			found = isVar && !v.IsField() && syntax.Inside(b.loop, v.Pos())
		}
		return !found
	})
	return found
}

func (b *body) statement(stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		return b.assigns(s)
	case *ast.IncDecStmt:
		b.does, b.collects, b.sums = "counts", true, true
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
	case *ast.ExprStmt:
		return b.reports(s)
	case *ast.BlockStmt:
		return b.statements(s.List)
	case *ast.IfStmt:
		if b.keepsBest(s) {
			b.does, b.collects = "looks for the largest or smallest value", true
			return true
		}
		if s.Init != nil && !b.statement(s.Init) || !b.reads(s.Cond) || !b.statements(s.Body.List) || s.Else != nil && !b.statement(s.Else) {
			return false
		}
		return !b.exits || b.cheap(s.Cond, 2) // those that mostly pass an expensive test may come first
	case *ast.SwitchStmt:
		return s.Init == nil && (s.Tag == nil || b.reads(s.Tag) && b.cheap(s.Tag, 2)) && b.clauses(s.Body.List)
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
		b.does, b.collects, b.sums = "adds up numbers", true, true
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

// clauses reports whether all clauses of a switch do what a loop may do in any order.
func (b *body) clauses(list []ast.Stmt) bool {
	for _, stmt := range list {
		clause := stmt.(*ast.CaseClause)
		if slices.ContainsFunc(clause.List, func(e ast.Expr) bool { return !b.reads(e) || !b.cheap(e, 2) }) || !b.statements(clause.Body) {
			return false
		}
	}
	return true
}

// cheap reports whether a test visibly costs about the same for each element: it compares, and
// calls no functions but those that do the same.
func (b *body) cheap(test ast.Node, depth int) bool { return cheap(b.Place, test, depth) }

func cheap(p *gocode.Place, test ast.Node, depth int) bool {
	fine := true
	ast.Inspect(test, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			fine = false
		case *ast.CallExpr:
			if _, conversion := p.Conversion(n); conversion || p.Callee(n) == nil && p.CalleeName(n) != "" {
				return true
			}
			if funcname.Match(p.CalleeName(n), "strings.HasPrefix", "strings.HasSuffix", "strings.CutPrefix", "strings.CutSuffix", "strings.EqualFold", "strings.Compare",
				"cmp.Compare*", "bytes.Equal", "bytes.HasPrefix", "(time.Time).*", "(net/netip.Prefix).Contains") {
				return true
			}
			decl := p.Declaration(p.Callee(n))
			fine = fine && depth > 0 && decl != nil && decl.Body != nil && cheap(p.Entry(decl), decl.Body, depth-1)
		}
		return fine
	})
	return fine
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
