package serialcalls

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastKinds is the minimum number of functions that wait below the call of a loop: otherwise
	// all of its calls ask the same, and one question for all is better.
	leastKinds = 2
	// mostSame is how many calls in one pass of the loop may wait in the same function: io-in-loop
	// reports more.
	mostSame = 2.5
)

// looped finds loops that call a method of different types, which wait for different services, one
// after the other.
func looped(p *rule.Pass, f *awaited.Function, total float64) (matches []rule.Match) {
	for _, s := range f.Looped {
		place := p.Place(p.Site(s.Frame))
		if place == nil || s.Ways < leastKinds || s.Seconds < leastShare*total {
			continue
		}
		loop := loops.Around(place, s.Call)[0]
		entries, ok := evidence.ReachedAt(p, place, loop.Pos())
		if !ok || entries <= 0 || s.Same*s.Runs > mostSame*entries || s.Runs < leastKinds*entries || !free(place, loop, s.Call) {
			continue
		}
		items := s.Runs / entries
		part := 1 - 1/items
		saved := part * s.Seconds
		if saved < leastShare*total {
			continue
		}
		m := rule.Match{
			Site:       p.Site(s.Frame),
			Confidence: rule.Likely, // that they are independent is what the function looks like
			Saving:     traced.Saved(p, s.Seconds, total, rule.Fraction{Expect: fraction.Expect * part * part, Low: fraction.Low * part, High: part}),
			Cause: fmt.Sprintf("The loop on %s calls %s one after the other for %s elements each time it is reached, although no call uses the result of another: each waits for a service of its own, and requests spend %s of their time waiting there.",
				syntax.Where(place, loop.Pos()), syntax.Text(s.Call.Fun), units.Number(items), units.Percent(s.Seconds/total)),
			Fix: "Start all calls together and wait for all (errgroup, or a goroutine and a channel for each), and give each a place of its own for its result: the request then waits only for the slowest one. If one of them decides whether the others may run, leave the order unchanged.",
			Evidence: []rule.Evidence{
				{What: "time of requests waiting below this call", Value: units.Percent(s.Seconds/total) + " of " + units.Seconds(total), Command: evidence.ViewCommand(p, "requests")},
				{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s calls each time the loop is reached, which wait in %d functions", units.Number(items), s.Ways)},
			},
		}
		matches = append(matches, m)
	}
	return matches
}

// free reports whether the calls of a loop may run at the same time: each gets an element, none
// gets what an earlier one returned, none changes something, and no result ends the loop.
func free(p *gocode.Place, loop ast.Node, call *ast.CallExpr) bool {
	return awaited.PerItem(p, loop, call) && (!awaited.Changes(p, call) || asksOnly(p, call)) && !ends(p, loop)
}

// asksOnly reports whether a call only asks for the state of something, by its name, and its result
// is kept: one that is only tested may decide whether the loop goes on.
func asksOnly(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || awaited.Writes(p, call) {
		return false
	}
	if _, dropped := syntax.Parent(p.Outer(), call).(*ast.ExprStmt); dropped {
		return false
	}
	return slices.ContainsFunc(awaited.Words(fn.Name()), func(w string) bool {
		return slices.Contains([]string{"alive", "check", "health", "healthy", "ping", "probe", "ready", "status"}, strings.ToLower(w))
	})
}

// ends reports whether a loop may end early: by break, or by return other than with an error.
func ends(p *gocode.Place, loop ast.Node) bool {
	found := false
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt:
			return false
		case *ast.BranchStmt:
			found = found || n.Tok.String() == "break" || n.Tok.String() == "goto"
		case *ast.ReturnStmt:
			found = found || len(n.Results) == 0 || !syntax.IsError(p.TypeOf(n.Results[len(n.Results)-1]))
		}
		return !found
	})
	return found
}
