// Package busyspin finds loops that ask a channel again and again instead of waiting for it.
package busyspin

import (
	"context"
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
		Title: "A loop that spins until a channel is ready",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// A goroutine that waits costs nothing; what the loop did when something came is not in the rows.
				Fraction: rule.Fraction{Expect: 1, Low: 0.9, High: 1},
			},
			Loop: find,
		},
	}
}

const doc = `A select with an empty default does not block. In a loop it polls millions of
times a second: one processor is busy doing nothing, and in a container with a
CPU quota the whole program is throttled for it. runtime.Gosched in the default
does not help when nobody else wants to run.

Remove the default: select then blocks until a case is ready. For periodic work,
add a case with a time.Ticker.

It is fine where the default does work that has to be done, and in a short spin
before waiting whose number of iterations is bounded: the rule speaks only of loops
that do nothing in the default.

Seen in the field: jackc/pgconn#39, livepeer/go-livepeer#1619,
bitfinexcom/bitfinex-api-go#56 (from 100 % of a processor to 1 %).`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	total := p.Table.Totals.TotalSeconds
	var matches []rule.Match
	told := map[ast.Node]bool{}
	for _, s := range p.Table.Sites {
		place := p.Place(s)
		if place == nil || len(s.CPU) == 0 {
			continue
		}
		loop, sel := spinning(place)
		if loop == nil || told[sel] {
			continue
		}
		m := rule.Match{Site: s, CPU: around(p, place, s, loop, sel), Confidence: rule.Measured}
		spent, _ := stacks.Sum(m.CPU)
		if float64(spent)/1e9 < leastShare*total {
			continue
		}
		told[sel] = true
		m.Cause = "The select has a default that does nothing, in a loop: while no channel is ready the goroutine spins."
		m.Fix = "Remove the default, so that select blocks. For periodic work, add a case with a time.Ticker."
		m.Evidence = []rule.Evidence{{What: "the loop's CPU", Value: units.Percent(float64(spent) / 1e9 / total), Command: evidence.ListCommand(p, "cpu", s.Function)}}
		matches = append(matches, m)
	}
	return matches, nil
}

// spinning finds the endless loop around the line that does nothing but select with an idle default.
func spinning(p *gocode.Place) (loop *ast.ForStmt, sel *ast.SelectStmt) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		f, ok := n.(*ast.ForStmt)
		if !ok || loop != nil || syntax.Line(p, f.Pos()) > p.Line || syntax.Line(p, f.End()) < p.Line {
			return true
		}
		if f.Post != nil || len(f.Body.List) != 1 {
			return true // it counts its iterations, or does something besides
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

// idle reports whether statements do nothing but let others run.
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

// serves reports whether the line is in the body of a case: what is done when something came.
func serves(p *gocode.Place, s *ast.SelectStmt) bool {
	for _, c := range s.Body.List {
		c := c.(*ast.CommClause)
		if c.Comm != nil && len(c.Body) > 0 && syntax.Line(p, c.Body[0].Pos()) <= p.Line && p.Line <= syntax.Line(p, c.End()) {
			return true
		}
	}
	return false
}

// around are the CPU rows of the loop's lines that ask: of select itself, not of what its cases do.
func around(p *rule.Pass, place *gocode.Place, at *site.Site, loop *ast.ForStmt, sel *ast.SelectStmt) []*site.Row {
	from, to := syntax.Line(place, loop.Pos()), syntax.Line(place, loop.End())
	var rows []*site.Row
	for _, s := range p.Table.Sites {
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
