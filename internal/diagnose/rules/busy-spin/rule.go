// Package busyspin finds loops that poll a channel instead of blocking on it.
package busyspin

import (
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastShare of CPU that one spinning loop must take.
const leastShare = 0.02

// Rule is busy-spin.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "busy-spin",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "A loop that polls instead of blocking",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// A blocked goroutine costs nothing. The rows do not include what the loop does
				// with a value.
				Fraction: rule.Fraction{Expect: 1, Low: 0.9, High: 1},
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop that tries something which does not block, and tries again when it
fails, polls millions of times a second: a select with an empty default, a
CompareAndSwap, TryLock or TryAcquire, a flag, the length of a channel, or a
call that is repeated at once until it returns no error, whether or not the loop
counts and logs its failures. One processor is busy doing nothing, and in a
container with a CPU quota the whole program is throttled for it.
So does a loop that waits only in an inner loop over elements of which there are
none, and one that only asks a context or the clock whether to go on.
runtime.Gosched in between does not help: the scheduler finds the same goroutine
again, which takes more CPU than the attempt.

Block instead. Without the default, select waits until a case is ready; for
periodic work, add a case with a time.Ticker. A sync.Mutex spins for a moment and
then sleeps until it is unlocked. For a state that changes, use a sync.Cond, or
a channel that is closed when it does. Before another attempt at a call that
failed, pause, and longer each time.

It is fine where most iterations do useful work, and in a short spin with a
bounded number of iterations before blocking. The rule reports loops whose
default does nothing and, by counted executions, those of which at most one
iteration in a hundred does anything other than try, also in a function that the
loop calls. What the scheduler spends below Gosched is part of their cost.

Seen in the field: jackc/pgconn#39, livepeer/go-livepeer#1619,
cschleiden/go-workflows#237, bitfinexcom/bitfinex-api-go#56 (from 100 % of a
processor to 1 %), phuslu/lru#11 (why a lock of one's own that spins is slower),
hashicorp/waypoint#1168 and matrixorigin/matrixone#24654 (retries).`

// prepare returns the lines that find loops that poll, by counted executions, and those whose whole
// body is a select with an idle default, each once, at the first of its lines.
func prepare(p *rule.Pass) []finder.Line {
	counted := &search{pass: p, known: map[*ast.ForStmt]*polling{}, lines: map[gocode.Pos]*polling{}}
	total := p.Table.Totals.TotalSeconds
	found := map[ast.Node]bool{}
	idle := finder.Line{
		Start: finder.Sites(func(s *site.Site) rule.Match { return rule.Match{Site: s, CPU: s.CPU} }),
		Judge: func(c *finder.Case) bool {
			loop, sel := spinning(c.Place)
			if loop == nil || found[sel] || counted.known[loop] != nil {
				return false
			}
			c.CPU = around(c, loop, sel)
			spent, _ := stacks.Sum(c.CPU)
			if float64(spent)/1e9 < leastShare*total {
				return false
			}
			found[sel] = true
			c.Confidence = rule.Measured
			c.Cause = "The select has a default that does nothing, in a loop: while no channel is ready the goroutine spins."
			c.Fix = "Remove the default, so that select blocks. For periodic work, add a case with a time.Ticker."
			c.Evidence = []rule.Evidence{{
				What:    "the loop's CPU",
				Value:   units.Percent(float64(spent) / 1e9 / total),
				Command: evidence.ListCommand(p, "cpu", c.Site.Function),
			}}
			return true
		},
	}
	if p.Syntax == nil {
		return []finder.Line{idle}
	}
	return []finder.Line{{Start: finder.Frames(counted.line), Judge: counted.describe}, idle}
}

// spinning returns the loop around the line whose whole body is a select with an idle default.
func spinning(p *gocode.Place) (loop *ast.ForStmt, sel *ast.SelectStmt) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		f, ok := n.(*ast.ForStmt)
		if !ok || loop != nil || syntax.Line(p, f.Pos()) > p.Line || syntax.Line(p, f.End()) < p.Line {
			return true
		}
		if f.Post != nil || len(f.Body.List) != 1 {
			return true // it counts its iterations, or has other statements
		}
		s, ok := f.Body.List[0].(*ast.SelectStmt)
		if !ok {
			return true
		}
		for _, c := range s.Body.List {
			if c := c.(*ast.CommClause); c.Comm == nil && idle(p, c.Body) && !serves(p, s) {
				loop, sel = f, s
			}
		}
		return true
	})
	return loop, sel
}

// idle reports whether statements do nothing but yield the processor.
func idle(p *gocode.Place, body []ast.Stmt) bool {
	for _, s := range body {
		switch s := s.(type) {
		case *ast.EmptyStmt:
		case *ast.BranchStmt:
			if s.Tok != token.CONTINUE {
				return false
			}
		case *ast.ExprStmt:
			call, ok := s.X.(*ast.CallExpr)
			if !ok || p.CalleeName(call) != "runtime.Gosched" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// serves reports whether the line is in the body of a case: it handles a value.
func serves(p *gocode.Place, s *ast.SelectStmt) bool {
	for _, c := range s.Body.List {
		c := c.(*ast.CommClause)
		if c.Comm != nil && len(c.Body) > 0 && syntax.Line(p, c.Body[0].Pos()) <= p.Line && p.Line <= syntax.Line(p, c.End()) {
			return true
		}
	}
	return false
}

// around returns the CPU rows of the polling: those of the loop and its select, not those of the
// bodies of cases.
func around(c *finder.Case, loop *ast.ForStmt, sel *ast.SelectStmt) []*site.Row {
	place, at := c.Place, c.Site
	from, to := syntax.Line(place, loop.Pos()), syntax.Line(place, loop.End())
	var rows []*site.Row
	for _, s := range c.Pass.Table.Sites {
		if s.File != at.File || s.Line < from || s.Line > to || s.Function != at.Function {
			continue
		}
		one := *place
		one.Line = s.Line
		if serves(&one, sel) {
			continue
		}
		rows = append(rows, stacks.Select(s.CPU, func(r *site.Row) bool {
			return stacks.Leaf(r) || stacks.Calls(r, "runtime.select*", "runtime.chan*", "runtime.Gosched", "runtime.empty*", "runtime.asyncPreempt*")
		})...)
	}
	return rows
}
