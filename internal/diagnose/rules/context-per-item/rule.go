// Package contextperitem finds loops in memory that derive a context for each item.
package contextperitem

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// fewest iterations for which one context saves most of the cost.
const fewest = 4

// Rule is context-per-item.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "context-per-item",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Context derived for each item of a loop in memory",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// One context for the loop remains, of four and more.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.75, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Start: finder.Calls{Functions: makers()},
			Judge: judge,
		},
	}
}

const doc = `context.WithTimeout makes a context, a timer and a channel, and adds the context
to a set of its parent under the parent's lock; cancel undoes that. Together they
take about a microsecond. A loop that does so for each item pays more for it than
for the item, when that is a lookup in memory, which takes no time that a
timeout could limit.

Derive one context before the loop and pass it to each iteration: it limits the
time of the whole loop. Inside the loop, ctx.Err() is enough to stop early.

It is fine where an iteration waits for something outside, such as a request to
another service, which may have a time limit of its own. The rule reports only
loops in which the profiles show no wait and no system call, without goroutines,
and whose contexts have the same parent and the same limit in each iteration.

Seen in the field: ipfs/go-bitswap#367 (a session's timer and context for each
message).`

// makers are the functions of package context that derive a context that is cancelled.
func makers() []string {
	return []string{
		"context.WithCancel", "context.WithCancelCause", "context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause",
	}
}

// ends are the functions that they return, and what these call.
func ends() []string {
	return []string{"context.With*.func*", "context.(*cancelCtx).cancel", "context.(*timerCtx).cancel"}
}

func judge(c *finder.Case) bool {
	p := c.Place
	for _, call := range c.Calls {
		loop := loops.Repeating(p, call)
		if loop == nil || loops.Waits(p, loop) || !sameEachTime(p, loop, call) || starts(loop) {
			continue
		}
		l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(p, loop.Pos()))
		if !ok || l.Iterations < fewest {
			continue
		}
		in := lines{function: c.Site.Function, file: c.Site.File, from: syntax.Line(p, loop.Pos()), to: syntax.Line(p, loop.End())}
		if in.wait(c.Pass) {
			continue
		}
		c.CPU = append(c.CPU, in.ending(c.Pass)...)
		name, what, removes := p.CalleeName(call), "a context", "it"
		if len(call.Args) > 1 {
			what, removes = "a context and its timer", "both"
		}
		c.Cause = fmt.Sprintf("%s makes %s in every iteration of the loop on line %d (%s each time), and cancel removes %s again, although no iteration waits for anything.",
			name, what, in.from, units.Some(l.Iterations, "iteration"), removes)
		c.Fix = fmt.Sprintf("Call %s once before the loop, with a limit for the whole loop if it has one, and pass that context to each iteration.", name)
		return true
	}
	return inCaller(c)
}

// levels is how many callers away from the function that derives a context the loop may be.
const levels = 2

// inCaller judges a function that derives a context for one lookup in memory, and that a loop of a
// caller calls with the same parent for each item.
func inCaller(c *finder.Case) bool {
	p, call := c.Place, c.Calls[0]
	if len(c.Calls) > 1 || p.Func == nil || starts(p.Func) || loopsIn(p.Func) {
		return false
	}
	var by loops.Caller
	c.Keep(func(r *site.Row) bool {
		l, ok := loops.Calling(c.Pass.Syntax, r.Stack, r.Owner, levels)
		if !ok || loops.Waits(l.Place, l.Loop) || starts(l.Loop) || by.Loop != nil && by.Loop != l.Loop {
			return false
		}
		for _, arg := range call.Args {
			if _, constant := p.Const(arg); !constant && !l.Shares(p, arg) {
				return false
			}
		}
		by = l
		return true
	})
	if c.Empty() {
		return false
	}
	if d := by.Place.Decl; d != nil && d.Recv == nil && d.Name.Name == "main" {
		return false // it drives the program: each iteration is a unit of work
	}
	f := by.Frame
	l, ok := c.Pass.Counts.Loop(f.Owner.Package, f.File, by.Line())
	around := lines{function: f.Function, file: f.File, from: by.Line(), to: syntax.Line(by.Place, by.Loop.End())}
	if !ok || l.Iterations < fewest || around.wait(c.Pass) {
		return false
	}
	within := lines{function: c.Site.Function, file: c.Site.File, from: syntax.Line(p, p.Func.Pos()), to: syntax.Line(p, p.Func.End())}
	c.CPU = append(c.CPU, within.ending(c.Pass)...)
	name, self := p.CalleeName(call), syntax.FuncName(p)
	c.Cause = fmt.Sprintf("%s calls %s, and the loop on line %d of %s calls it for each item (%s each time), although no iteration waits for anything.",
		self, name, by.Line(), by.Name(), units.Some(l.Iterations, "iteration"))
	c.Fix = fmt.Sprintf("Call %s once before the loop on line %d of %s, with a limit for the whole loop, and let %s use the context that it gets.", name, by.Line(), by.Name(), self)
	c.Confidence = rule.Likely // other callers may need the limit
	return true
}

// loopsIn reports whether a function has a loop: then it works on more than one item, and one
// context for all of them is what it should have.
func loopsIn(f ast.Node) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = true
		}
		return !found
	})
	return found
}

// sameEachTime reports whether a call has the same arguments in each iteration.
func sameEachTime(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	return !slices.ContainsFunc(call.Args, func(e ast.Expr) bool { return !loops.FromOutside(p, loop, e) })
}

// starts reports whether a loop starts goroutines, which may need to be cancelled one by one.
func starts(loop ast.Node) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		_, ok := n.(*ast.GoStmt)
		found = found || ok
		return !found
	})
	return found
}

// lines are those of a loop.
type lines struct {
	function, file string
	from, to       int
}

// index returns the index of the loop's frame in a row's stack; -1 for none.
func (l lines) index(r *site.Row) int {
	return slices.IndexFunc(r.Stack, func(f *site.Frame) bool {
		return f.Function == l.function && f.File == l.file && l.from <= f.Line && f.Line <= l.to
	})
}

// wait reports whether the loop waits or enters the kernel, by the profiles.
func (l lines) wait(p *rule.Pass) bool {
	waits := false
	p.EachRow(func(r *site.Row) {
		if i := l.index(r); i > 0 {
			waits = waits || slices.ContainsFunc(r.Stack[:i], func(f *site.Frame) bool {
				return funcname.Match(f.Function, "internal/poll.*", "syscall.*", "net.*", "os.*", "runtime.gopark")
			})
		}
	})
	for _, s := range p.Table.Sites {
		waits = waits || slices.ContainsFunc(s.Block, func(r *site.Row) bool { return l.index(r) >= 0 })
	}
	return waits
}

// ending returns the rows in which the loop cancels contexts.
func (l lines) ending(p *rule.Pass) (rows []*site.Row) {
	p.EachRow(func(r *site.Row) {
		if i := l.index(r); i > 0 && stacks.Steady(r) && funcname.Match(r.Stack[i-1].Function, ends()...) {
			rows = append(rows, r)
		}
	})
	return rows
}
