package failedlookahead

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// leastLoop is the minimum number of failures each time that a loop is reached.
const leastLoop = 16

// inLoop returns a call on the line that searches the rest of a text for each iteration of a loop
// of the same function, and mostly fails.
func (s *search) inLoop(f *site.Frame, p *gocode.Place) *lookahead {
	call := searched(p)
	if call == nil {
		return nil
	}
	text := tail(p, call.Args[0])
	for _, loop := range loops.Around(p, call) {
		if text == nil || !loops.FromOutside(p, loop, text.X) || loops.Invariant(p, loop, text.Low) {
			continue
		}
		if v, _ := syntax.Var(p, text.X); v == nil || !v.IsField() && syntax.Changes(p, loop, v) {
			continue
		}
		l, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
		if !ok || l.Entries <= 0 {
			return nil
		}
		ran, ok := evidence.ReachedAt(s.pass, p, call.Pos())
		failed, known := s.failures(p, call, ran)
		if !ok || !known || ran <= 0 || failed < leastLoop*l.Entries || failed < leastFailed*ran {
			return nil
		}
		return &lookahead{place: p, what: syntax.Text(call), calls: ran, failed: min(failed/ran, 1),
			again: fmt.Sprintf("searches the rest of one text in the loop on line %d", syntax.Line(p, loop.Pos()))}
	}
	return nil
}

// searched returns the call on the line that searches the rest of a text; nil for none.
func searched(p *gocode.Place) *ast.CallExpr {
	for _, call := range p.Calls() {
		if searchCalls(p.CalleeName(call)) && len(call.Args) == 2 && !constant(p, call.Args[0]) {
			return call
		}
	}
	return nil
}

func constant(p *gocode.Place, e ast.Expr) bool {
	_, is := p.Const(e)
	return is
}

// tail returns the expression text[i:] that an expression is, with an i that is not constant; nil
// for others.
func tail(p *gocode.Place, e ast.Expr) *ast.SliceExpr {
	s, ok := syntax.Origin(p, e).(*ast.SliceExpr)
	if !ok || s.Low == nil || s.High != nil || constant(p, s.Low) || !syntax.StringOrBytes(p.TypeOf(s.X)) {
		return nil
	}
	return s
}

// failures returns how often a search that ran so often for each unit of work found nothing: the
// executions of what follows if i < 0, or of what does not follow if i >= 0.
func (s *search) failures(p *gocode.Place, call *ast.CallExpr, ran float64) (float64, bool) {
	for _, n := range p.Enclosing(call) {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			if test, ok := n.(*ast.IfStmt); ok {
				return s.branch(p, test, call, nil, ran)
			}
			continue
		}
		results := map[types.Object]bool{}
		for _, stmt := range block.List {
			if a, ok := stmt.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == ast.Expr(call) {
				for _, lhs := range a.Lhs {
					if id, ok := lhs.(*ast.Ident); ok {
						results[p.Object(id)] = true
					}
				}
				continue
			}
			if test, ok := stmt.(*ast.IfStmt); ok && len(results) > 0 {
				return s.branch(p, test, nil, results, ran)
			}
		}
		return 0, false
	}
	return 0, false
}

// branch is failures for the test of a result.
func (s *search) branch(p *gocode.Place, test *ast.IfStmt, call *ast.CallExpr, results map[types.Object]bool, ran float64) (float64, bool) {
	if a, ok := test.Init.(*ast.AssignStmt); ok && call != nil && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == ast.Expr(call) {
		results = map[types.Object]bool{}
		for _, lhs := range a.Lhs {
			if id, ok := lhs.(*ast.Ident); ok {
				results[p.Object(id)] = true
			}
		}
	}
	is := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return ast.Unparen(e) == ast.Expr(call) || ok && results[p.Object(id)]
	}
	found, known := outcome(p, test.Cond, is)
	if !known || len(test.Body.List) == 0 {
		return 0, false
	}
	n, ok := evidence.ReachedAt(s.pass, p, test.Body.List[0].Pos())
	if found {
		n = ran - n
	}
	return n, ok
}

// outcome reports whether a condition means that a search found something, and whether that is
// known.
func outcome(p *gocode.Place, cond ast.Expr, is func(ast.Expr) bool) (found, known bool) {
	switch e := ast.Unparen(cond).(type) {
	case *ast.UnaryExpr:
		return false, e.Op == token.NOT && is(e.X)
	case *ast.BinaryExpr:
		n, ok := syntax.ConstInt(p, e.Y)
		if !ok || !is(e.X) {
			return false, false
		}
		switch {
		case e.Op == token.LSS && n == 0, e.Op == token.EQL && n == -1:
			return false, true
		case e.Op == token.GEQ && n == 0, e.Op == token.NEQ && n == -1, e.Op == token.GTR && n == -1:
			return true, true
		}
		return false, false
	}
	return true, is(cond)
}

// nothings returns the statements of a function that return nothing: nil, false, -1, no text. A nil
// error does not count; a function with no other result fails with one that is not nil.
func nothings(p *gocode.Place) (found []*ast.ReturnStmt) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == p.Func
		case *ast.ReturnStmt:
			if nothing(p, n) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

func nothing(p *gocode.Place, ret *ast.ReturnStmt) bool {
	sig := syntax.SignatureOf(p)
	if sig == nil || len(ret.Results) == 0 || len(ret.Results) != sig.Results().Len() {
		return false
	}
	others := 0
	for i, e := range ret.Results {
		if types.Identical(sig.Results().At(i).Type(), types.Universe.Lookup("error").Type()) {
			if len(ret.Results) == 1 {
				return !isNil(e)
			}
			continue
		}
		if !empty(p, e) {
			return false
		}
		others++
	}
	return others > 0
}

func isNil(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && id.Name == "nil"
}

// empty reports whether an expression is nil, false, 0, -1 or "".
func empty(p *gocode.Place, e ast.Expr) bool {
	if v, ok := p.Const(e); ok {
		return slices.Contains([]string{"false", "0", "-1", `""`}, v.ExactString())
	}
	return isNil(e)
}

// sliced says that the line above a frame passes text[i:] for each iteration of a loop; "" if it
// does not.
func (s *search) sliced(r *site.Row, i int) string {
	if i+1 >= len(r.Stack) {
		return ""
	}
	from := r.Stack[i+1]
	pos := gocode.Pos{File: from.File, Line: from.Line}
	how, seen := s.callers[pos]
	if seen {
		return how
	}
	if p, ok := s.pass.Syntax.At(from.File, from.Line); ok {
		how = passes(p, r.Stack[i].Function)
	}
	s.callers[pos] = how
	return how
}

func passes(p *gocode.Place, function string) string {
	call := loops.CallTo(p, function)
	if call == nil {
		return ""
	}
	for _, arg := range call.Args {
		text := tail(p, arg)
		if text == nil {
			continue
		}
		for _, loop := range loops.Around(p, call) {
			v, _ := syntax.Var(p, text.X)
			if v != nil && loops.FromOutside(p, loop, text.X) && !loops.Invariant(p, loop, text.Low) && (v.IsField() || !syntax.Changes(p, loop, v)) {
				return fmt.Sprintf("gets %s in the loop on line %d of its caller", syntax.Text(text), syntax.Line(p, loop.Pos()))
			}
		}
	}
	return ""
}
