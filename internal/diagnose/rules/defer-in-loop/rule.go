// Package deferinloop finds defer statements that pile up in a loop.
package deferinloop

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// proc are the runtime's entries for a defer that cannot be laid out on the stack.
var proc = []string{"runtime.deferproc*", "runtime.newdefer*"}

// Rule is defer-in-loop.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "defer-in-loop",
		Kind:  rule.CPU,
		Title: "defer in a loop is kept on the heap until the function returns",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// In a function of its own the defer is open-coded: some 2 ns for some 30 (golang/go#14939,
				// golang/proposal 34481).
				Fraction: rule.Fraction{Expect: 0.85, Low: 0.6, High: 0.97},
			},
			Loop: find,
		},
	}
}

const doc = `A defer that runs a fixed number of times is compiled into the function's end
and costs a store. In a loop the compiler cannot know how many there will be:
each defer makes a record on the heap (and a closure for its arguments), links
it into the goroutine's list, and none of them runs before the function returns.
Files stay open and locks stay held until then.

Move the body of the loop into a function of its own, or call the function at
the end of the body.

It is fine when the loop runs once or twice, and when everything really must
last until the end.

Seen in the field: cockroachdb/cockroach#137605 (48 places), apache/arrow#8046,
golang/go#14939.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		place := p.Place(s)
		if place == nil {
			continue // the runtime's record alone does not show the loop
		}
		stmt, loop := deferred(place)
		if stmt == nil {
			continue
		}
		m := finder.TakeCallsAndOwn(s, proc...)
		if m.Empty() {
			continue
		}
		m.Cause = fmt.Sprintf("The loop on line %d defers %s in every iteration: each makes a record on the heap, and none runs before %s returns.",
			syntax.Line(place, loop.Pos()), syntax.Text(stmt.Call.Fun), syntax.FuncName(place))
		m.Fix = "Move the loop body into its own function, or call it at the end of the body instead of deferring it."
		m.Confidence = evidence.Weigh(p, s, false)
		matches = append(matches, m)
	}
	return matches, nil
}

// deferred returns the defer statement on the line that a loop may run more than twice.
func deferred(p *gocode.Place) (*ast.DeferStmt, ast.Node) {
	var found *ast.DeferStmt
	var around ast.Node
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		d, ok := n.(*ast.DeferStmt)
		if !ok || found != nil || syntax.Line(p, d.Pos()) != p.Line {
			return found == nil
		}
		for _, loop := range loops.Around(p, d) {
			if !loops.AtMost(p, loop, d, 2) {
				found, around = d, loop
				break
			}
		}
		return found == nil
	})
	return found, around
}
