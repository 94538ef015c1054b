package scanperlookup

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// bestOf follows the body of a loop that keeps the first element in an order so far.
type bestOf struct {
	p     *gocode.Place
	sh    *shape
	vars  elements
	best  elements   // what it keeps of that element: variables from outside of the loop
	tests []ast.Expr // conditions, without their operators
	hits  []ast.Stmt // the assignments

	leaves bool // the loop may end early
}

// first reports whether a loop does nothing but keep the element that is first in an order, of all
// or of those that pass a test:
//
//	for … xs { …; if x < best { best = x } }
//	for … xs { …; if x.kind != kind { continue }; if best == nil || x.before(best) { best = x } }
//	for … xs { …; best = max(best, x) }
//
// The list has to exist between searches: in one that is created for the search, all elements have
// to be examined once. A parameter exists as long as the caller's list: see [shape.given].
func (sh *shape) first(p *gocode.Place, vars elements) bool {
	b := &bestOf{p: p, sh: sh, vars: vars, best: elements{}}
	sh.given = !sh.kept(p, sh.over)
	if sh.given && !passed(p, sh.over) {
		return false
	}
	body := loops.Body(sh.scan)
	if !b.statements(body.List, false) || len(b.hits) == 0 {
		return false
	}
	for _, e := range b.tests {
		if !b.test(e) {
			return false
		}
	}
	if sh.cond == nil || b.leaves && (sh.key != nil || len(sh.passes) > 0) {
		return false
	}
	sh.kind, sh.hit, sh.filters, sh.until = extreme, b.hits[0], true, syntax.Line(p, sh.scan.End())
	return true
}

// passed reports whether an expression is a parameter.
func passed(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, e)
	return v != nil && syntax.Param(p, v)
}

// statements reports whether statements only define variables, test the element and keep it.
func (b *bestOf) statements(list []ast.Stmt, tested bool) bool {
	for _, stmt := range list {
		if !b.statement(stmt, tested) {
			return false
		}
		if test, ok := stmt.(*ast.IfStmt); ok && skips(test) {
			tested = true
		}
	}
	return true
}

// skips reports whether a statement leaves the elements that pass a test.
func skips(s *ast.IfStmt) bool {
	if len(s.Body.List) == 0 {
		return false
	}
	b, ok := s.Body.List[len(s.Body.List)-1].(*ast.BranchStmt)
	return ok && b.Tok == token.CONTINUE
}

func (b *bestOf) statement(stmt ast.Stmt, tested bool) bool {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return defined(b.p, s, b.vars)
		}
		return s.Tok == token.ASSIGN && b.keeps(s, tested)
	case *ast.DeclStmt, *ast.EmptyStmt:
		return true
	case *ast.BranchStmt:
		b.leaves = b.leaves || s.Tok == token.BREAK
		return s.Label == nil && (s.Tok == token.CONTINUE || s.Tok == token.BREAK && tested)
	case *ast.ReturnStmt: // one that no other can beat
		b.leaves = true
		return tested
	case *ast.BlockStmt:
		return b.statements(s.List, tested)
	case *ast.IfStmt:
		if s.Init != nil && !defined(b.p, s.Init, b.vars) {
			return false
		}
		b.tests = append(b.tests, leafs(s.Cond)...)
		return b.statements(s.Body.List, true) && (s.Else == nil || b.statement(s.Else, true))
	case *ast.SwitchStmt:
		return b.cases(s)
	}
	return locking(b.p, stmt)
}

// cases follows a switch over conditions.
func (b *bestOf) cases(s *ast.SwitchStmt) bool {
	if s.Tag != nil || s.Init != nil {
		return false
	}
	for _, stmt := range s.Body.List {
		c := stmt.(*ast.CaseClause)
		for _, cond := range c.List {
			b.tests = append(b.tests, leafs(cond)...)
		}
		if !b.statements(c.Body, true) {
			return false
		}
	}
	return true
}

// keeps records an assignment of the element, of a part of it, or of a constant (found = true) to
// variables from outside of the loop.
func (b *bestOf) keeps(a *ast.AssignStmt, tested bool) bool {
	if b.largest(a) {
		b.hits = append(b.hits, a)
		b.sh.always = !tested
		return true
	}
	for _, lhs := range a.Lhs {
		v, part := syntax.Var(b.p, lhs)
		if part && len(b.best) > 0 && field(lhs) && receiving(b.p, v) { // where it is, for other methods
			continue
		}
		if v == nil || !syntax.Local(b.p, v) || syntax.Inside(b.sh.scan, v.Pos()) || part && (syntax.Param(b.p, v) || !field(lhs)) {
			return false
		}
		b.best[v] = true
	}
	b.hits = append(b.hits, a)
	return tested && (b.vars.in(b.p, a.Rhs...) || constants(b.p, a.Rhs))
}

// receiving reports whether a variable is the receiver of the function.
func receiving(p *gocode.Place, v *types.Var) bool {
	sig := syntax.SignatureOf(p)
	return v != nil && sig != nil && sig.Recv() == v
}

// field reports whether an expression is a field of a variable, such as best.score.
func field(e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	_, plain := ast.Unparen(sel.X).(*ast.Ident)
	return plain
}

// largest reports whether a statement is best = max(best, x), or min, for a part x of the element.
func (b *bestOf) largest(a *ast.AssignStmt) bool {
	if len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	v := syntax.LocalVar(b.p, a.Lhs[0])
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok || v == nil || b.vars[v] || len(call.Args) != 2 {
		return false
	}
	if name := b.p.CalleeName(call); name != "max" && name != "min" {
		return false
	}
	best := elements{v: true}
	if !best.in(b.p, call.Args...) || !b.vars.in(b.p, call.Args...) || b.sh.asks(b.p, call, b.vars, best) {
		return false
	}
	b.best[v], b.sh.cond = true, call
	return true
}

// test classifies a condition: it compares the element with the first so far, or it is a test that
// the element has to pass. It reports false for an order that depends on what the function was
// asked for: no list that is kept has it.
func (b *bestOf) test(e ast.Expr) bool {
	p, sh := b.p, b.sh
	if b.best.in(p, e) {
		if !b.vars.in(p, e) {
			return true // best == nil
		}
		if sh.asks(p, e, b.vars, b.best) {
			return false
		}
		if b.orders(e) && (sh.cond == nil || strict(e) && !strict(sh.cond)) {
			sh.cond = e
		}
		return true
	}
	if !sh.asks(p, e, b.vars, nil) || !b.vars.in(p, e) {
		return true
	}
	if c, ok := e.(*ast.BinaryExpr); ok && (c.Op == token.EQL || c.Op == token.NEQ) && sh.key == nil {
		if x := b.vars.in(p, c.X); x != b.vars.in(p, c.Y) {
			sh.element, sh.key = c.X, c.Y
			if !x {
				sh.element, sh.key = c.Y, c.X
			}
			return true
		}
	}
	sh.passes = append(sh.passes, e)
	return true
}

// orders reports whether a condition compares the element with the first so far: x < best, or a
// call that gets both.
func (b *bestOf) orders(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.BinaryExpr:
		if !unequal(x.Op) {
			return false
		}
		in := func(x, y ast.Expr) bool { return b.vars.in(b.p, x) && b.best.in(b.p, y) }
		return in(x.X, x.Y) || in(x.Y, x.X) || b.compared(x.X, x.Y) || b.compared(x.Y, x.X)
	case *ast.CallExpr:
		return true
	}
	return false
}

// compared reports whether an expression is a call that compares the element with the first so far,
// and another one the constant that says which comes first: bytes.Compare(x.key, best.key) < 0.
func (b *bestOf) compared(e, with ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	_, constant := b.p.Const(with)
	return ok && constant && b.vars.in(b.p, call) && b.best.in(b.p, call)
}

func strict(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	return ok && (b.Op == token.LSS || b.Op == token.GTR)
}

func unequal(op token.Token) bool {
	return op == token.LSS || op == token.GTR || op == token.LEQ || op == token.GEQ
}

// leafs returns the conditions that a condition combines by && and ||, without negations.
func leafs(cond ast.Expr) []ast.Expr {
	cond = ast.Unparen(cond)
	switch c := cond.(type) {
	case *ast.BinaryExpr:
		if c.Op == token.LAND || c.Op == token.LOR {
			return append(leafs(c.X), leafs(c.Y)...)
		}
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			return leafs(c.X)
		}
	}
	return []ast.Expr{cond}
}

// constants reports whether all expressions are constants.
func constants(p *gocode.Place, list []ast.Expr) bool {
	for _, e := range list {
		if _, ok := p.Const(e); !ok {
			return false
		}
	}
	return true
}

// fieldsRead returns the fields of values of the package that expressions read, also in methods and
// functions of the package that they call.
func fieldsRead(p *gocode.Place, depth int, list ...ast.Node) (fields []*types.Var) {
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if v, ok := p.Object(n.Sel).(*types.Var); ok && v.IsField() {
					fields = append(fields, v.Origin())
				}
			case *ast.CallExpr:
				decl := p.Declaration(p.Callee(n))
				if depth > 0 && decl != nil && decl.Body != nil {
					fields = append(fields, fieldsRead(p.Entry(decl), depth-1, decl.Body)...)
				}
			}
			return true
		})
	}
	return fields
}

// leastPass is the minimum share of the elements that have to pass the tests of a search for the
// first in an order, for one to be near the start of the list.
const leastPass = 0.05

// remains reports whether most elements keep their place in the order between two searches, and
// whether enough of them pass the tests.
func (s *search) remains(p *rule.Pass, place *gocode.Place) bool {
	s.fields = fieldsRead(place, 2, loops.Body(s.scan))
	if s.renewed(p, place) {
		return false
	}
	compared, ok := evidence.ReachedAt(p, place, s.cond.Pos())
	return len(s.passes) == 0 || s.key != nil || ok && compared >= leastPass*s.Iterations*s.Entries
}

// lasts reports whether a list that is a parameter is the same in each call of a loop of a caller,
// and that a function which the caller gives does not depend on what is asked for.
func (s *search) lasts(c *finder.Case) bool {
	keys := orderedBy(c.Place, s.cond, 4)
	if !s.given && len(keys) == 0 {
		return true
	}
	for _, r := range c.CPU {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return f.File == c.Site.File && f.Line == c.Site.Line })
		if i < 0 {
			continue
		}
		return (!s.given || sameIn(c.Pass, r.Stack, i, c.Place, s.scan, s.over)) &&
			!slices.ContainsFunc(keys, func(key *types.Var) bool { return !unkeyed(c, r, i, key) })
	}
	return false
}

// orderedBy returns the parameters that an order calls, itself or for a variable that it compares.
func orderedBy(p *gocode.Place, order ast.Expr, depth int) (keys []*types.Var) {
	if order == nil || depth == 0 {
		return nil
	}
	ast.Inspect(order, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if passed(p, n.Fun) {
				keys = append(keys, syntax.LocalVar(p, n.Fun))
			}
		case *ast.Ident:
			if v := syntax.LocalVar(p, n); v != nil {
				_, value := syntax.Declared(p, v)
				keys = append(keys, orderedBy(p, value, depth-1)...)
			}
		}
		return true
	})
	return keys
}

// unkeyed reports whether the caller of the function at the frame i passes a function for a
// parameter that depends on nothing else than its own parameters.
func unkeyed(c *finder.Case, r *site.Row, i int, param *types.Var) bool {
	at := syntax.ParamIndex(syntax.SignatureOf(c.Place), param)
	if at < 0 || i+1 >= len(r.Stack) {
		return false
	}
	from, ok := c.Pass.Syntax.At(r.Stack[i+1].File, r.Stack[i+1].Line)
	if !ok {
		return false
	}
	call := loops.CallTo(from, r.Stack[i].Function)
	if call == nil || at >= len(call.Args) {
		return false
	}
	if lit, ok := ast.Unparen(call.Args[at]).(*ast.FuncLit); ok {
		return !keyed(from, lit)
	}
	return from.Callee(&ast.CallExpr{Fun: call.Args[at]}) != nil // a declared function
}
