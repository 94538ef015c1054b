package sleeppolling

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// asking is a loop that may ask again and again whether something has happened.
type asking struct {
	p        *gocode.Place
	loop     ast.Stmt
	wait     ast.Node   // where it waits for a timer: a call, a select, a receive, or the loop itself
	counter  *types.Var // the number of the attempt; nil for none
	sentinel bool       // it compares an error with one that says "not yet"
	ready    bool       // it ends when something has happened
	retries  bool       // it ends when a call succeeds: it tries again on purpose
	foreign  bool       // it also waits for a channel
}

// pollsAt reports whether a loop that waits for a timer at a node polls: it ends when something in
// the program has become true, and not when a call that failed has succeeded. It may give up after
// some attempts or some time, or when an error or the end of a context says so. A pause that
// changes, and an iteration that depends on the number of the attempt, are something else.
func pollsAt(p *gocode.Place, loop ast.Stmt, wait ast.Node) bool {
	a := asking{p: p, loop: loop, wait: wait}
	body := loops.Body(loop)
	if body == nil || !a.starts() || a.counts(body) || !a.steady(body) {
		return false
	}
	a.sentinel = a.compares(body)
	if f, ok := loop.(*ast.ForStmt); ok && f.Cond != nil {
		k := a.kind(f.Cond)
		a.retries = k == succeeded || k == failed
		a.ready = a.holds(f.Cond)
	}
	a.exits(body)
	return a.ready && !a.retries && !a.foreign
}

// starts reports whether the loop is without end, has a condition, counts attempts, or iterates
// over the times of a ticker.
func (a *asking) starts() bool {
	switch l := a.loop.(type) {
	case *ast.RangeStmt:
		t := a.p.TypeOf(l.X)
		if t == nil {
			return false
		}
		if syntax.Times(a.p, l.X) {
			return true
		}
		if b, ok := t.Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
			return false
		}
		if l.Key != nil {
			a.counter = syntax.LocalVar(a.p, l.Key)
		}
		return true
	case *ast.ForStmt:
		inc, ok := l.Post.(*ast.IncDecStmt)
		if ok {
			a.counter, _ = syntax.Var(a.p, inc.X)
		}
		return l.Post == nil || ok && a.counter != nil
	}
	return false
}

// counts reports whether the iterations depend on the number of the attempt.
func (a *asking) counts(body *ast.BlockStmt) bool {
	if a.counter == nil {
		return false
	}
	for _, use := range syntax.Uses(a.p, a.counter) {
		if !syntax.Inside(body, use.Pos()) {
			continue
		}
		limits := slices.ContainsFunc(a.p.Enclosing(use), func(n ast.Node) bool {
			i, ok := n.(*ast.IfStmt)
			_, leaves := n.(*ast.ReturnStmt)
			return leaves || ok && syntax.Inside(i.Cond, use.Pos())
		})
		if !limits || slices.ContainsFunc(a.p.Enclosing(use), isCall) && !a.leaving(use) {
			return true
		}
	}
	return false
}

func isCall(n ast.Node) bool {
	_, ok := n.(*ast.CallExpr)
	return ok
}

// leaving reports whether a node is in a statement that leaves the function.
func (a *asking) leaving(n ast.Node) bool {
	return slices.ContainsFunc(a.p.Enclosing(n), func(n ast.Node) bool { _, ok := n.(*ast.ReturnStmt); return ok })
}

// steady reports whether the loop does not change the variable with its pause.
func (a *asking) steady(body *ast.BlockStmt) bool {
	fixed := true
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || !funcname.Match(a.p.CalleeName(call), "time.Sleep", "time.After", "time.NewTimer", "(*time.Timer).Reset") {
			return fixed
		}
		if v, _ := syntax.Var(a.p, call.Args[len(call.Args)-1]); v != nil && syntax.Changes(a.p, body, v) {
			fixed = false
		}
		return fixed
	})
	return fixed
}

// exits finds out how the body of the loop ends it.
func (a *asking) exits(body *ast.BlockStmt) {
	always := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.UnaryExpr:
			a.foreign = a.foreign || n.Op == token.ARROW && n != a.wait && !syntax.Times(a.p, n.X) && !ended(a.p, n.X) && !a.selected(n)
		case *ast.ReturnStmt, *ast.BranchStmt:
			if !a.ends(n.(ast.Stmt)) {
				return true
			}
			switch guard, guarded := a.guard(n, body); {
			case !guarded:
				always = true
			case guard == succeeded:
				a.retries = true
			case guard == state:
				a.ready = true
			}
		}
		return true
	})
	// for { if !ready() { sleep(); continue }; return }: the pause has the condition.
	switch guard, guarded := a.guard(a.wait, body); {
	case guarded && guard == failed:
		a.retries = true
	case guarded && guard == state && always:
		a.ready = true
	}
}

// selected reports whether a node is what a case of a select waits for.
func (a *asking) selected(n ast.Node) bool {
	return slices.ContainsFunc(a.p.Enclosing(n), func(up ast.Node) bool {
		c, ok := up.(*ast.CommClause)
		return ok && c.Comm != nil && syntax.Inside(c.Comm, n.Pos())
	})
}

// ends reports whether a statement leaves the loop.
func (a *asking) ends(s ast.Stmt) bool {
	b, ok := s.(*ast.BranchStmt)
	if !ok {
		return true
	}
	return b.Tok == token.GOTO || b.Tok == token.BREAK && (b.Label != nil || syntax.BreakTarget(a.p.Enclosing(b)) == ast.Node(a.loop))
}

// guard returns the condition under which the body of the loop comes to a node. It is false if it
// always comes there.
func (a *asking) guard(n ast.Node, body *ast.BlockStmt) (kind, bool) {
	found, guarded := state, false
	for _, up := range a.p.Enclosing(n) {
		if up == ast.Node(body) {
			break
		}
		k, ok := a.condition(up, n, found, guarded)
		if !ok {
			continue
		}
		if !guarded || k != state {
			found = k
		}
		guarded = true
		if k != state {
			break
		}
	}
	return found, guarded
}

// condition returns the condition that a statement around a node puts on it.
func (a *asking) condition(up, n ast.Node, found kind, guarded bool) (kind, bool) {
	switch up := up.(type) {
	case *ast.IfStmt:
		switch {
		case syntax.Inside(up.Body, n.Pos()):
			return a.kind(up.Cond), true
		case up.Else != nil && syntax.Inside(up.Else, n.Pos()):
			return a.kind(up.Cond).not(), true
		}
	case *ast.CaseClause:
		for _, e := range up.List {
			if k := a.kind(e); k != state {
				return k, true
			}
		}
		return state, true
	case *ast.CommClause:
		from, _ := syntax.ReceivesFrom(up.Comm)
		switch {
		case up.Comm == nil, from != nil && syntax.Times(a.p, from) && guarded: // the check after a tick
			return found, guarded
		case from != nil && (syntax.Times(a.p, from) || ended(a.p, from)):
			return limit, true
		}
		a.foreign = true
		return limit, true
	}
	return state, false
}

// compares reports whether the body compares an error with one that the program or a package has
// for what is not there yet.
func (a *asking) compares(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			found = found || sentinel(a.p, e)
		}
		return !found
	})
	return found
}
