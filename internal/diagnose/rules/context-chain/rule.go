// Package contextchain finds long chains of contexts, and values that every iteration of a loop
// looks up.
package contextchain

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// search is the function that follows a context's parents to the root.
const search = "context.value"

// lookups are the methods that start the search, as profiles name them.
var lookups = []string{"context.(*valueCtx).Value", "context.(*cancelCtx).Value", "context.(*timerCtx).Value", "context.value"}

// derivers are the functions that derive a context from another.
var derivers = []string{
	"context.WithValue", "context.WithCancel", "context.WithTimeout", "context.WithDeadline",
	"context.WithCancelCause", "context.WithTimeoutCause", "context.WithDeadlineCause", "context.WithoutCancel",
}

// Rule is context-chain.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "context-chain",
		Kind:  rule.CPU,
		Title: "Context values in a long chain",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// A lookup per iteration becomes one lookup, or a search of one step.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
				Specificity: 1,
			},
			Lines:   []finder.Line{{Start: calls(derivers), Judge: grows}, {Start: calls(lookups), Judge: looksUp}},
			Prepare: throughHelper,
		},
	}
}

const doc = `context.WithValue makes a new context that points to its parent, and Value
follows the parents to the root, comparing keys. With ctx =
context.WithValue(ctx, …) in a loop, the chain grows by one in each iteration:
every lookup takes longer than the last, and all old contexts stay alive. The
same happens if a function of the package derives it: ctx = traced(ctx). A loop
that looks up the same key in an unchanged context, itself or in a function that it
calls, repeats the same search. A function literal that sets ctx of the code
around it makes the chain longer with each call.

In a loop give the derived context a name of its own (c :=
context.WithValue(ctx, …)), so that each iteration derives it from the same
parent. Look a value up once, before the loop. Put values that belong together
into one struct under one key.

It is fine to derive a context per request; a chain of a few contexts costs
next to nothing.

Seen in the field: juicedata/juicefs#5552, TencentCloud/CubeSandbox#1329;
fatcontext is a linter for the first form.`

func calls(functions []string) finder.Start {
	return finder.Rows(func(s *site.Site) rule.Match { return finder.TakeCalls(s, functions...) })
}

// grows judges a context that a loop derives from that of the last iteration.
func grows(c *finder.Case) bool {
	pass, p, m := c.Pass, c.Place, c.Match
	for _, call := range syntax.CallsOf(p, derivers...) {
		if len(call.Args) == 0 {
			continue
		}
		loop := p.LoopAround(call)
		to := syntax.AssignedTo(p, call)
		if loop == nil && shared(p, call, to) {
			m.Cause = fmt.Sprintf("%s belongs to the code around the function literal: each call of the literal makes it a child of the last call's context, so the chain grows without bound, and each lookup searches all of it.", syntax.Text(to))
			m.Fix = fmt.Sprintf("Give the derived context a name of its own in the literal: c := %s(%s, …).", symbol.Short(p.CalleeName(call)), syntax.Text(to))
			return true
		}
		if loop == nil || to == nil || !syntax.Same(p, to, call.Args[0]) || loops.AtMost(p, loop, call, 4) {
			continue
		}
		v, part := syntax.Var(p, to)
		if a, ok := syntax.Parent(p, call).(*ast.AssignStmt); !ok || a.Tok != token.ASSIGN || part || syntax.Inside(loop, v.Pos()) || reset(p, loop, to, call) {
			continue
		}
		addSearches(pass, p, loop, m)
		m.Cause = fmt.Sprintf("Every iteration of the loop on line %d makes %s a child of the last iteration's: the chain grows without bound, and each lookup searches all of it.",
			syntax.Line(p, loop.Pos()), syntax.Text(to))
		m.Fix = fmt.Sprintf("Give the derived context a name of its own inside the loop: c := %s(%s, …).", symbol.Short(p.CalleeName(call)), syntax.Text(to))
		return true
	}
	return false
}

// shared reports whether a function literal, which is kept or passed on to be called again and
// again, replaces a context of the code around it by its child.
func shared(p *gocode.Place, call *ast.CallExpr, to ast.Expr) bool {
	lit, ok := p.Func.(*ast.FuncLit)
	if !ok || to == nil || !syntax.Same(p, to, call.Args[0]) {
		return false
	}
	v, part := syntax.Var(p, to)
	if a, ok := syntax.Parent(p, call).(*ast.AssignStmt); !ok || a.Tok != token.ASSIGN || part || syntax.Inside(lit, v.Pos()) || reset(p, lit, to, call) {
		return false
	}
	switch up := syntax.Parent(p.Outer(), lit).(type) {
	case *ast.CallExpr: // go func() { … }(), and what starts one goroutine
		return up.Fun != ast.Expr(lit) && !funcname.Match(p.CalleeName(up), "*.Go", "(*sync.Once).Do", "time.AfterFunc", "context.AfterFunc", "(*testing.*", "*.TryGo")
	case *ast.AssignStmt, *ast.KeyValueExpr, *ast.ReturnStmt:
		return true
	}
	return false
}

// reset reports whether the loop also sets the context to something else.
func reset(p *gocode.Place, loop ast.Node, to ast.Expr, call *ast.CallExpr) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok {
			return !found
		}
		for _, lhs := range a.Lhs {
			if syntax.Same(p, lhs, to) && !syntax.Within(a, call) {
				found = true
			}
		}
		return !found
	})
	return found
}

// addSearches adds the searches that the loop's lines start, whichever lines they are charged to.
func addSearches(pass *rule.Pass, p *gocode.Place, loop ast.Node, m *rule.Match) {
	from, to := syntax.Line(p, loop.Pos()), syntax.Line(p, loop.End())
	for _, s := range pass.Table.Sites {
		m.CPU = append(m.CPU, stacks.Select(s.CPU, func(r *site.Row) bool {
			if !r.Below(search) {
				return false
			}
			for _, f := range r.Stack[max(r.Owner, 0):] {
				if f.Function == m.Site.Function && f.File == m.Site.File && from <= f.Line && f.Line <= to {
					return true
				}
			}
			return false
		})...)
	}
	m.Callees = append(m.Callees, search)
}

// looksUp judges a value that a loop looks up in a context that it does not change: a loop around
// the call, or one in a caller of a function that only looks up that value.
func looksUp(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, call := range syntax.CallsOf(p, "(context.Context).Value") {
		ctx := carrier(p, syntax.Receiver(call))
		if len(call.Args) != 1 || ctx == nil {
			continue
		}
		loop := ast.Node(p.LoopAround(call))
		if p.LoopAround(call) == nil {
			loop = loops.Each(p)
		}
		if loop == nil {
			if inCaller(c, call, ctx) {
				return true
			}
			continue
		}
		if loops.Body(loop) != nil && loops.AtMost(p, loop, call, 4) || !loops.Invariant(p, loop, ctx) || !loops.Invariant(p, loop, call.Args[0]) {
			continue
		}
		m.Cause = fmt.Sprintf("%s searches the context chain for the same value in every iteration of the loop on line %d.", syntax.Text(call), syntax.Line(p, loop.Pos()))
		m.Fix = "Look it up once, before the loop."
		return true
	}
	return false
}

// carrier returns the expression that has the context of a lookup: r of r.Context().
func carrier(p *gocode.Place, ctx ast.Expr) ast.Expr {
	if call, ok := ctx.(*ast.CallExpr); ok && p.CalleeName(call) == "(*net/http.Request).Context" {
		return syntax.Receiver(call)
	}
	return ctx
}

// levels is how many callers away from the lookup the loop may be.
const levels = 2

// inCaller judges a function that looks up a fixed key in its parameter, and that a loop of a
// caller calls with the same context in each iteration.
func inCaller(c *finder.Case, call *ast.CallExpr, ctx ast.Expr) bool {
	p := c.Place
	if !constantKey(p, call.Args[0]) {
		return false
	}
	var by loops.Caller
	c.Keep(func(r *site.Row) bool {
		at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return *f == c.Site.Frame })
		l, ok := loops.Calling(c.Pass.Syntax, r.Stack, at, levels)
		if !ok || !l.Shares(p, ctx) || !keeps(l) {
			return false
		}
		by = l
		return true
	})
	if c.Empty() {
		return false
	}
	c.Cause = fmt.Sprintf("%s searches the context chain for the same value each time that the loop on line %d of %s calls %s.", syntax.Text(call), by.Line(), by.Name(), syntax.FuncName(p))
	c.Fix = "Look it up once, before the loop, and use that value in it."
	return true
}

// keeps reports whether a loop passes contexts that it does not change.
func keeps(l loops.Caller) bool {
	for _, arg := range l.Call.Args {
		if t := l.Place.TypeOf(arg); t != nil && t.String() == "context.Context" && !loops.Invariant(l.Place, l.Loop, carrier(l.Place, arg)) {
			return false
		}
	}
	return true
}

// constantKey reports whether a key is the same in each call: a constant, a variable of the
// package, or an empty struct.
func constantKey(p *gocode.Place, key ast.Expr) bool {
	if _, ok := p.Const(key); ok {
		return true
	}
	if lit, ok := ast.Unparen(key).(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	v, part := syntax.Var(p, key)
	return v != nil && !part && p.Pkg != nil && v.Parent() == p.Pkg.Scope()
}
