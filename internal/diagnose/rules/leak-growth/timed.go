package leakgrowth

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"time"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// mostStopped is the largest share of the timers of a line that are stopped for the others to be a
// leak.
const mostStopped = 0.5

// timed returns the timer that retains what a line makes: the function starts one with a function
// that uses it, which nobody stops, and it fires long after the recording.
func timed(w *window, p *gocode.Place) *keep {
	var made []*types.Var
	for _, n := range p.Nodes {
		a, ok := n.(*ast.AssignStmt)
		if !ok || syntax.Line(p, a.Pos()) > p.Line || syntax.Line(p, a.End()) < p.Line {
			continue
		}
		for _, lhs := range a.Lhs {
			if v := syntax.LocalVar(p, lhs); v != nil {
				made = append(made, v)
			}
		}
	}
	var found *keep
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found != nil || p.CalleeName(call) != "time.AfterFunc" || len(call.Args) != 2 {
			return found == nil
		}
		if syntax.Line(p, call.Pos()) != p.Line && !slices.ContainsFunc(made, func(v *types.Var) bool { return syntax.Mentions(p, call.Args[1], v) }) {
			return true
		}
		after, ok := duration(w.pass, p, call.Args[0])
		if ok && after.Seconds() < w.phase.Seconds || stopped(w.pass, p, call) > mostStopped {
			return true
		}
		when := "for " + syntax.Text(call.Args[0])
		if ok {
			when = "for " + after.String()
		}
		found = &keep{
			words: fmt.Sprintf("The timer that %s starts refers to it %s, and nobody stops it when it is no longer needed.", syntax.Where(p, call.Pos()), when),
			fix:   "Keep the timer that time.AfterFunc returns, and call Stop where the work that it guards has ended. Or keep the times in the entries, and let one goroutine remove those that are over.",
		}
		return false
	})
	return found
}

// duration returns the constant that a duration is.
func duration(pass *rule.Pass, p *gocode.Place, e ast.Expr) (time.Duration, bool) {
	values := flow.Constants(pass.Syntax, p, e)
	if len(values) != 1 {
		return 0, false
	}
	ns, ok := constant.Int64Val(constant.ToInt(values[0]))
	return time.Duration(ns), ok
}

// stopped returns how often the timers of a call were stopped, as a share of those that it started:
// at calls of Stop of what the call's result is assigned to. It is 1 where that is not known.
func stopped(pass *rule.Pass, p *gocode.Place, started *ast.CallExpr) float64 {
	if _, alone := syntax.Parent(p, started).(*ast.ExprStmt); alone {
		return 0
	}
	v := syntax.Named(p, syntax.AssignedTo(p, started))
	all, ok := evidence.ExecutionsAt(pass, p, started.Pos())
	if v == nil || !ok || all.PerUnit <= 0 {
		return 1
	}
	share := 0.0
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if p.CalleeName(call) == "(*time.Timer).Stop" && syntax.Named(p, syntax.Receiver(call)) == v {
				if e, counted := evidence.ExecutionsAt(pass, p, call.Pos()); counted {
					share += e.PerUnit / all.PerUnit
				} else {
					share++
				}
			}
			return true
		})
	}
	return share
}
