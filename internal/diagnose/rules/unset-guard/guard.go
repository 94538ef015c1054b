package unsetguard

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// deepest is the number of nested functions whose result a condition is, that are followed.
const deepest = 3

// guard is a test that decides whether work runs.
type guard struct {
	at     *gocode.Place // of the function with the condition
	test   ast.Stmt      // with the condition
	cond   ast.Expr      // the part of the condition that tests the field
	name   *ast.SelectorExpr
	of     *types.Var
	time   bool // it compares the field with the time; else it tests for a kept value
	result bool // of the test, as long as the field is not set
	tests  float64
	runs   float64 // of the work

	lost               ast.Node // what sets the field of a copy
	by                 string   // the method that does
	receiver, typeName string
}

// guards returns the tests in front of a call in its function that a field which nothing sets
// decides in favour of the call, of fields that only the package can set. The function must be the
// whole one.
func guards(p *gocode.Place, call *ast.CallExpr) (found []*guard) {
	add := func(test ast.Stmt, cond ast.Expr, runs bool) {
		for _, g := range tests(p, cond, runs, deepest) {
			g.test = test
			found = append(found, g)
		}
	}
	var inner ast.Node = call
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.IfStmt:
			if inner == n.Body {
				add(n, n.Cond, true)
			}
		case *ast.BlockStmt:
			for _, s := range n.List {
				if test, ok := s.(*ast.IfStmt); ok && test.End() < call.Pos() && test.Else == nil && syntax.Leaves(test.Body) {
					add(test, test.Cond, false)
				}
			}
		case *ast.SwitchStmt:
			if clause, ok := clauseAround(n, call); ok && n.Tag == nil && len(clause.List) == 1 {
				add(n, clause.List[0], true)
			}
		case *ast.FuncLit:
			return found // it may run at any time
		}
		inner = n
	}
	return found
}

// tests returns the parts of a condition that test a field and have the wanted result as long as
// nothing sets it.
func tests(p *gocode.Place, cond ast.Expr, want bool, depth int) []*guard {
	switch x := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			return append(tests(p, x.X, want, depth), tests(p, x.Y, want, depth)...)
		}
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			return tests(p, x.X, !want, depth)
		}
	case *ast.CallExpr:
		if found := decided(p, x, want, depth-1); found != nil {
			return found
		}
	}
	g := ofTime(p, ast.Unparen(cond))
	if g == nil {
		g = ofValue(p, ast.Unparen(cond))
	}
	if g == nil || g.result != want {
		return nil
	}
	return []*guard{g}
}

// clauseAround returns the clause of a switch with a node.
func clauseAround(sw *ast.SwitchStmt, n ast.Node) (*ast.CaseClause, bool) {
	for _, stmt := range sw.Body.List {
		if syntax.Within(stmt, n) {
			clause, ok := stmt.(*ast.CaseClause)
			return clause, ok
		}
	}
	return nil, false
}

// decided is tests for a call of a function of the package, which returns the result of a test, or
// a constant if a test in it says so. What it locks or logs before does not matter.
func decided(p *gocode.Place, call *ast.CallExpr, want bool, depth int) (found []*guard) {
	decl := p.Declaration(p.Callee(call))
	if decl == nil || decl.Body == nil || depth < 0 {
		return nil
	}
	in := p.Entry(decl)
	for i, stmt := range decl.Body.List {
		switch s := stmt.(type) {
		case *ast.IfStmt:
			if len(s.Body.List) == 0 || s.Else != nil || s.Init != nil {
				return nil
			}
			ret, ok := s.Body.List[len(s.Body.List)-1].(*ast.ReturnStmt)
			if !ok || len(ret.Results) != 1 {
				return nil
			}
			v, ok := in.Const(ret.Results[0])
			if !ok || v.Kind() != constant.Bool {
				return nil
			}
			found = append(found, tests(in, s.Cond, constant.BoolVal(v) == want, depth)...)
		case *ast.ReturnStmt:
			if i+1 != len(decl.Body.List) || len(s.Results) != 1 {
				return nil
			}
			return append(found, tests(in, s.Results[0], want, depth)...)
		case *ast.ExprStmt, *ast.DeferStmt, *ast.AssignStmt:
		default:
			return nil
		}
	}
	return nil
}

// ofTime returns the comparison of a field of type time.Time with another time, or of what has
// passed since then with a duration; nil for others.
func ofTime(p *gocode.Place, cond ast.Expr) *guard {
	large := true // the result if what is compared is large
	if b, ok := cond.(*ast.BinaryExpr); ok {
		switch b.Op {
		case token.GTR, token.GEQ:
		case token.LSS, token.LEQ:
			large = false
		default:
			return nil
		}
		if e, result := seconds(p, b, large); e != nil {
			return &guard{at: p, cond: b, name: e, of: field(p, e), time: true, result: result}
		}
		cond := b.X
		if _, is := ast.Unparen(cond).(*ast.CallExpr); !is {
			cond, large = b.Y, !large // wait <= time.Since(t)
		}
		e, past := elapsed(p, cond)
		return timed(p, b, e, large == past)
	}
	call, ok := cond.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	to, arg := syntax.Receiver(call), call.Args[0]
	switch p.CalleeName(call) {
	case "(time.Time).After": // now.After(t) holds for the zero time, t.After(now) does not
		if g := timed(p, cond, arg, true); g != nil {
			return g
		}
		return timed(p, cond, to, false)
	case "(time.Time).Before":
		if g := timed(p, cond, arg, false); g != nil {
			return g
		}
		return timed(p, cond, to, true)
	}
	return nil
}

// seconds returns the field with a time in seconds, or another unit, that a comparison is about,
// and its result for zero: now.Unix()-x.f > 60, now.UnixNano() >= x.f, x.f+60 < now.Unix().
func seconds(p *gocode.Place, b *ast.BinaryExpr, large bool) (*ast.SelectorExpr, bool) {
	now := func(e ast.Expr) bool {
		call, ok := syntax.Origin(p, e).(*ast.CallExpr)
		return ok && funcname.Match(p.CalleeName(call), "(time.Time).Unix*")
	}
	of := func(e ast.Expr) *ast.SelectorExpr {
		if sum, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && sum.Op == token.ADD {
			e = sum.X
		}
		sel, _ := ast.Unparen(e).(*ast.SelectorExpr)
		if sel == nil || field(p, sel) == nil {
			return nil
		}
		return sel
	}
	for _, side := range []struct {
		x, y  ast.Expr
		large bool
	}{{b.X, b.Y, large}, {b.Y, b.X, !large}} {
		if diff, ok := ast.Unparen(side.x).(*ast.BinaryExpr); ok && diff.Op == token.SUB && now(diff.X) {
			if e := of(diff.Y); e != nil {
				return e, side.large
			}
		}
		if now(side.x) {
			if e := of(side.y); e != nil {
				return e, side.large
			}
		}
	}
	return nil, false
}

// elapsed returns the time since which, or until which, an expression says how long it is.
func elapsed(p *gocode.Place, e ast.Expr) (since ast.Expr, past bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	switch p.CalleeName(call) {
	case "time.Since":
		return call.Args[0], true
	case "time.Until":
		return call.Args[0], false
	case "(time.Time).Sub":
		return call.Args[0], true
	}
	return nil, false
}

// timed returns the test of a field of type time.Time, or of one plus a duration, whose result is
// known for the zero time; nil for others.
func timed(p *gocode.Place, cond, e ast.Expr, result bool) *guard {
	if e == nil {
		return nil
	}
	e = later(p, e)
	if v := field(p, e); v != nil && types.TypeString(v.Type(), nil) == "time.Time" {
		return &guard{at: p, cond: cond, name: e.(*ast.SelectorExpr), of: v, time: true, result: result}
	}
	return nil
}

// later returns t for t.Add(d).
func later(p *gocode.Place, e ast.Expr) ast.Expr {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && p.CalleeName(call) == "(time.Time).Add" {
		if to := syntax.Receiver(call); to != nil {
			return ast.Unparen(to)
		}
	}
	return ast.Unparen(e)
}

// ofValue returns the test whether a field has a value: x.f, x.f != nil, x.f == "", len(x.f) > 0;
// nil for others.
func ofValue(p *gocode.Place, cond ast.Expr) *guard {
	e, result := cond, false
	if b, ok := cond.(*ast.BinaryExpr); ok {
		if !zero(p, b.Y) || b.Op != token.EQL && b.Op != token.NEQ && b.Op != token.GTR {
			return nil
		}
		e, result = ast.Unparen(b.X), b.Op == token.EQL
		if call, ok := e.(*ast.CallExpr); ok && p.CalleeName(call) == "len" {
			e = ast.Unparen(call.Args[0])
		}
	}
	if v := field(p, e); v != nil {
		return &guard{at: p, cond: cond, name: e.(*ast.SelectorExpr), of: v, result: result}
	}
	return nil
}

// zero reports whether an expression is nil, 0 or "".
func zero(p *gocode.Place, e ast.Expr) bool {
	if p.Info.Types[e].IsNil() {
		return true
	}
	v, ok := p.Const(e)
	return ok && (v.ExactString() == "0" || v.ExactString() == `""`)
}

// field returns the field that an expression selects, if only its package can set it; nil for
// others. Reflection and linkname aside, that is one without capital letter.
func field(p *gocode.Place, e ast.Expr) *types.Var {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v, ok := p.Object(sel.Sel).(*types.Var)
	if !ok || !v.IsField() || v.Exported() || v.Pkg() != p.Pkg {
		return nil
	}
	return v
}
