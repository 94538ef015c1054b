package failedattempts

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastPauses of a call, on average, between its attempts: with fewer, most succeed at once.
	leastPauses = 0.5
	// levels is how many functions above a call are searched for the check of its error.
	levels = 2
	// inVain is the share of the calls that must fail in the end to say that they do.
	inVain = 0.5
)

// retried returns a match for a pause between attempts, and how many seconds requests wait there;
// nil for others.
func retried(p *rule.Pass, place *requests.PlaceTime) (*rule.Match, float64) {
	if place.Part != requests.WaitSleep && place.Part != requests.WaitSelect {
		return nil, 0
	}
	at := cmp.Or(place.Caller, place.Waiter)
	s := traced.SiteAt(p, *at)
	if s == nil {
		return nil, 0
	}
	in := p.Place(s)
	if in == nil {
		return nil, 0
	}
	a, ok := attempts{}, false
	if place.Caller == nil {
		a, ok = inLoop(p, in)
	} else if name := strings.ToLower(place.Waiter.Function); strings.Contains(name, "retry") || strings.Contains(name, "backoff") {
		a, ok = byModule(p, in)
	}
	if !ok || a.perCall < 1+leastPauses {
		return nil, 0
	}
	waited := float64(place.Time) / 1e9
	m := &rule.Match{Site: s, Evidence: []rule.Evidence{{What: "attempts counted", Value: units.Number(a.perCall) + " per call of " + a.of}}}
	if a.fails >= inVain {
		m.Cause = fmt.Sprintf("Requests spend %s of their time in pauses between attempts: a call of %s makes %s attempts on average, and %s of the calls fail in the end.",
			units.Percent(waited/traced.LatencyTotal(p)), a.of, units.Number(a.perCall), units.Percent(a.fails))
		m.Fix = "Try again only after errors that may pass, such as a broken connection. Return others at once, such as an answer of 404 or an invalid value: compare the error (errors.Is) or the status of the response. If the same keys fail again and again, remember that for a while."
		return m, waited
	}
	m.Cause = fmt.Sprintf("Requests spend %s of their time in pauses between attempts: a call of %s makes %s attempts on average, so at least %s of the attempts fail.",
		units.Percent(waited/traced.LatencyTotal(p)), a.of, units.Number(a.perCall), units.Percent(1-1/a.perCall))
	m.Fix = "Find out what the attempts lack that fail. If the error stays, such as an answer of 404, return it at once. If something has to become ready, wait for that event instead of a time. If requests get in each other's way (a conflict, a lock that is taken), let them queue in the program. Until then, make the first pause much shorter."
	return m, waited
}

// attempts is how often a call tries.
type attempts struct {
	of      string  // the function that tries again
	perCall float64 // attempts
	fails   float64 // share of the calls that fail in the end
}

// inLoop returns the attempts of the loop around the line of a pause, which ends when a call
// succeeds.
func inLoop(p *rule.Pass, in *gocode.Place) (attempts, bool) {
	wait := pause(in)
	if wait == nil {
		return attempts{}, false
	}
	if in.LoopAround(wait) == nil {
		above, call := flow.OnlyCall(p.Syntax, in.Outer())
		if above == nil || above.LoopAround(call) == nil {
			return attempts{}, false
		}
		in, wait = above, call
	}
	loop := in.LoopAround(wait)
	try, done := tries(in, loop)
	if try == nil {
		return attempts{}, false
	}
	tried, ok := evidence.ReachedAt(p, in, try.Pos())
	e, counted := evidence.ExecutionsAt(p, in, wait.Pos())
	if !ok || !counted || e.Calls <= 0 {
		return attempts{}, false
	}
	a := attempts{of: syntax.FuncName(in), perCall: tried / e.Calls}
	if n, ok := evidence.ReachedAt(p, in, done.Pos()); ok {
		a.fails = max(0, 1-n/e.Calls)
	}
	return a, in.LoopAround(loop) == nil // in a loop over several things, each has its attempts
}

// pause returns the sleep on a line, or the select of which it is the head with a timer and
// nothing else but the end of a context; nil for none.
func pause(p *gocode.Place) ast.Node {
	for _, call := range syntax.CallsOf(p, "time.Sleep") {
		return call
	}
	for _, n := range p.Nodes {
		switch n := n.(type) {
		case *ast.SelectStmt:
			if syntax.Line(p, n.Pos()) == p.Line && pauses(p, n) {
				return n
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && syntax.Times(p, n.X) {
				return n
			}
		}
	}
	return nil
}

func pauses(p *gocode.Place, sel *ast.SelectStmt) bool {
	timer := false
	for _, c := range sel.Body.List {
		from, used := syntax.ReceivesFrom(c.(*ast.CommClause).Comm)
		switch {
		case from == nil:
			return false
		case syntax.Times(p, from):
			timer = true
		case used:
			return false
		}
	}
	return timer
}

// tries returns the call of a loop whose success ends the loop, and the first statement that then
// runs; nil for none.
func tries(p *gocode.Place, loop ast.Node) (try *ast.CallExpr, done ast.Node) {
	ast.Inspect(loop, func(n ast.Node) bool {
		cond, ok := n.(*ast.IfStmt)
		if _, lit := n.(*ast.FuncLit); lit || try != nil {
			return false
		}
		if clause, is := n.(*ast.CaseClause); is {
			try, done = succeeds(p, loop, clause)
		}
		if !ok {
			return true
		}
		err, op := compared(p, cond.Cond)
		if err == nil {
			err, op = judged(p, cond.Cond)
		}
		if err == nil {
			return true
		}
		call := setBy(p, loop, err)
		if call == nil {
			return true
		}
		switch {
		case op == token.EQL && leaves(cond.Body):
			try, done = call, cond.Body.List[0]
		case op == token.NEQ && !leaves(cond.Body):
			if after := following(p, cond); after != nil && departs(after) {
				try, done = call, after
			} else if b, ok := cond.Else.(*ast.BlockStmt); ok && leaves(b) {
				try, done = call, b.List[0]
			}
		}
		return try == nil
	})
	return try, done
}

// succeeds is tries for a clause of a switch: case err == nil: return v, nil.
func succeeds(p *gocode.Place, loop ast.Node, clause *ast.CaseClause) (try *ast.CallExpr, done ast.Node) {
	if len(clause.List) != 1 || len(clause.Body) == 0 || !syntax.Departs(clause.Body[len(clause.Body)-1], false) {
		return nil, nil
	}
	err, op := compared(p, clause.List[0])
	if err == nil || op != token.EQL {
		return nil, nil
	}
	if try = setBy(p, loop, err); try == nil {
		return nil, nil
	}
	return try, clause.Body[0]
}

// judged returns the variable of an error that a condition passes to a function, and the operator
// as in compared: retryable(err) is that a call failed in a way that may pass.
func judged(p *gocode.Place, cond ast.Expr) (ast.Expr, token.Token) {
	op := token.NEQ
	if not, ok := ast.Unparen(cond).(*ast.UnaryExpr); ok && not.Op == token.NOT {
		cond, op = not.X, token.EQL
	}
	call, ok := ast.Unparen(cond).(*ast.CallExpr)
	if !ok || p.Callee(call) == nil || op == token.EQL && !passing(p.Callee(call).Name()) {
		return nil, token.ILLEGAL
	}
	for _, arg := range call.Args {
		if v := syntax.LocalVar(p, arg); v != nil && syntax.IsError(v.Type()) {
			return arg, op
		}
	}
	return nil, token.ILLEGAL
}

// passing reports whether the name of a function says that it recognizes errors that may pass.
func passing(name string) bool {
	return slices.ContainsFunc([]string{"retr", "tempor", "transient", "again", "busy", "conflict", "throttl", "unavail"},
		func(word string) bool { return strings.Contains(strings.ToLower(name), word) })
}

// compared returns the variable of an error that a condition compares with nil, and the operator:
// the condition is that a call succeeded, and perhaps more (==), or that it failed, or more (!=).
func compared(p *gocode.Place, cond ast.Expr) (ast.Expr, token.Token) {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if ok && (b.Op == token.LAND || b.Op == token.LOR) {
		want := map[token.Token]token.Token{token.LAND: token.EQL, token.LOR: token.NEQ}[b.Op]
		for _, e := range []ast.Expr{b.X, b.Y} {
			if err, op := compared(p, e); op == want {
				return err, op
			}
		}
	}
	if !ok || b.Op != token.EQL && b.Op != token.NEQ || !p.Info.Types[b.Y].IsNil() || !syntax.IsError(p.TypeOf(b.X)) {
		return nil, token.ILLEGAL
	}
	return b.X, b.Op
}

// setBy returns the call in a loop that sets the variable of an error; nil for none, or several.
func setBy(p *gocode.Place, loop ast.Node, err ast.Expr) (found *ast.CallExpr) {
	several := false
	ast.Inspect(loop, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			_, lit := n.(*ast.FuncLit)
			return !lit
		}
		for _, lhs := range a.Lhs {
			if syntax.Same(p, lhs, err) {
				call, _ := ast.Unparen(a.Rhs[len(a.Rhs)-1]).(*ast.CallExpr)
				several = several || found != nil || call == nil
				found = call
			}
		}
		return true
	})
	if several {
		return nil
	}
	return found
}

// leaves reports whether a block ends with a statement that leaves the loop around it.
func leaves(b *ast.BlockStmt) bool {
	return len(b.List) > 0 && departs(b.List[len(b.List)-1])
}

func departs(s ast.Stmt) bool { return syntax.Departs(s, true) }

func continues(s ast.Stmt) bool {
	b, ok := s.(*ast.BranchStmt)
	return ok && b.Tok == token.CONTINUE
}

// following returns the statement after another one in its block, if the first ends with continue;
// nil for others.
func following(p *gocode.Place, s *ast.IfStmt) ast.Stmt {
	b, ok := syntax.Parent(p, s).(*ast.BlockStmt)
	if !ok || len(s.Body.List) == 0 {
		return nil
	}
	if !continues(s.Body.List[len(s.Body.List)-1]) {
		return nil
	}
	for i, o := range b.List[:len(b.List)-1] {
		if o == ast.Stmt(s) {
			return b.List[i+1]
		}
	}
	return nil
}

// byModule returns the attempts of a call on a line that passes what it tries to a module: a
// function literal.
func byModule(p *rule.Pass, in *gocode.Place) (attempts, bool) {
	for _, call := range syntax.Calls(in) {
		for _, arg := range call.Args {
			lit, ok := ast.Unparen(arg).(*ast.FuncLit)
			if !ok || len(lit.Body.List) == 0 {
				continue
			}
			tried, ok := evidence.ReachedAt(p, in, lit.Body.List[0].Pos())
			calls, counted := evidence.ReachedAt(p, in, call.Pos())
			if !ok || !counted || calls <= 0 {
				continue
			}
			return attempts{of: symbol.Short(in.CalleeName(call)), perCall: tried / calls, fails: failing(p, in, call, levels)}, true
		}
	}
	return attempts{}, false
}

// failing returns the share of the runs of a call in which it returns an error, as far as counts
// show: at the check of the error here, or above, if the function returns it; 0 if they do not.
func failing(p *rule.Pass, in *gocode.Place, call *ast.CallExpr, levels int) float64 {
	runs, ok := evidence.ReachedAt(p, in, call.Pos())
	if !ok || runs <= 0 {
		return 0
	}
	err := errorOf(in, call)
	returned := false
	share := -1.0
	ast.Inspect(syntax.Body(in.Outer()), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			returned = returned || syntax.Inside(n, call.Pos()) || err != nil && n.Pos() > call.Pos() && syntax.Mentions(in, n, err)
		case *ast.IfStmt:
			x, op := compared(in, n.Cond)
			if x == nil || err == nil || n.Cond.Pos() < call.Pos() || len(n.Body.List) == 0 || share >= 0 {
				return true
			}
			if v, _ := syntax.Var(in, x); v != err {
				return true
			}
			if at, ok := evidence.ReachedAt(p, in, n.Body.List[0].Pos()); ok {
				share = at / runs
				if op == token.EQL {
					share = 1 - share
				}
			}
		}
		return true
	})
	if share >= 0 {
		return min(1, max(0, share))
	}
	if above, at := flow.OnlyCall(p.Syntax, in.Outer()); returned && above != nil && levels > 1 {
		return failing(p, above, at, levels-1)
	}
	return 0
}

// errorOf returns the variable that the last result of a call sets, if that is an error.
func errorOf(p *gocode.Place, call *ast.CallExpr) *types.Var {
	a, ok := syntax.Parent(p, call).(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return nil
	}
	v, _ := syntax.Var(p, a.Lhs[len(a.Lhs)-1])
	if v == nil || !syntax.IsError(v.Type()) {
		return nil
	}
	return v
}
