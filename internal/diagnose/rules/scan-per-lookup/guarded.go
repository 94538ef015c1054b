package scanperlookup

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// guards are the tests that a loop makes of each element before it uses it, beyond one comparison:
//
//	if x.expired() { continue }                       a condition of the element alone
//	for k := range keys { if x.l[k] != l[k] { continue next } }
//	for k := range keys { if x.l[k] != l[k] { same = false; break } }
type guards struct {
	*gocode.Place
	loop ast.Stmt
	vars elements
	// cond is the comparison in a loop of its own, which ends on line until; flag is the variable
	// that says how it ended, nil for none.
	cond  ast.Expr
	until int
	flag  *types.Var
}

// skips reports whether a statement leaves out elements by a condition of them alone.
func (g *guards) skips(s *ast.IfStmt) bool {
	if s.Else != nil || s.Init != nil || len(s.Body.List) != 1 || !g.vars.in(g.Place, s.Cond) {
		return false
	}
	b, ok := s.Body.List[0].(*ast.BranchStmt)
	return ok && b.Tok == token.CONTINUE && g.on(b.Label)
}

// on reports whether a label is absent, or that of the loop.
func (g *guards) on(label *ast.Ident) bool {
	if label == nil {
		return true
	}
	labeled, ok := syntax.Parent(g.Place, g.loop).(*ast.LabeledStmt)
	return ok && labeled.Label.Name == label.Name
}

// all reports whether a statement is a loop that only compares parts of the element, and leaves the
// element when one differs.
func (g *guards) all(stmt ast.Stmt) bool {
	switch stmt.(type) {
	case *ast.RangeStmt, *ast.ForStmt:
	default:
		return false
	}
	for _, s := range loops.Body(stmt).List {
		test, ok := s.(*ast.IfStmt)
		if !ok || test.Else != nil || test.Init != nil || !g.leaves(test.Body.List) {
			return false
		}
		var sh shape
		if cond := negated(test.Cond); cond != nil && sh.compares(g.Place, cond, g.vars) {
			g.cond = cond
		}
	}
	g.until = syntax.Line(g.Place, stmt.End())
	return g.cond != nil
}

// leaves reports whether a block goes on with the next element, or notes in a variable that this
// one differs.
func (g *guards) leaves(list []ast.Stmt) bool {
	if len(list) == 0 || len(list) > 2 {
		return false
	}
	b, ok := list[len(list)-1].(*ast.BranchStmt)
	if !ok {
		return false
	}
	if len(list) == 1 {
		return b.Tok == token.CONTINUE && b.Label != nil && g.on(b.Label)
	}
	note, ok := list[0].(*ast.AssignStmt)
	if !ok || note.Tok != token.ASSIGN || len(note.Lhs) != 1 || b.Tok != token.BREAK || b.Label != nil {
		return false
	}
	g.flag = syntax.LocalVar(g.Place, note.Lhs[0])
	return g.flag != nil
}

// search returns the shape of a loop whose guards contain a comparison, with the rest of its body.
func (g *guards) search(over ast.Expr, rest []ast.Stmt) (shape, bool) {
	if len(rest) == 0 {
		return shape{}, false
	}
	sh := shape{over: over, scan: g.loop, cond: g.cond, until: g.until, hit: rest[0], filters: !leaves(rest[len(rest)-1])}
	if g.flag == nil {
		return sh, true
	}
	test, ok := rest[0].(*ast.IfStmt)
	if !ok || test.Else != nil || test.Init != nil || !(elements{g.flag: true}).in(g.Place, test.Cond) || len(test.Body.List) == 0 {
		return shape{}, false
	}
	if g.vars[g.flag] = true; g.skips(test) {
		g.flag = nil
		return g.search(over, rest[1:])
	}
	last := test.Body.List[len(test.Body.List)-1]
	sh.hit, sh.filters = test.Body.List[0], !leaves(last)
	return sh, len(rest) == 1
}
