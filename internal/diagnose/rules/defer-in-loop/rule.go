// Package deferinloop finds defer statements in loops.
package deferinloop

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// proc are the runtime's functions for a defer whose record is on the heap.
var proc = []string{"runtime.deferproc*", "runtime.newdefer*"}

// Rule is defer-in-loop.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "defer-in-loop",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "A defer in a loop runs only when the function returns",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// In a function of its own the defer is open-coded: about 2 ns instead of 30
				// (golang/go#14939, golang/proposal 34481).
				Fraction: rule.Fraction{Expect: 0.85, Low: 0.6, High: 0.97},
			},
			Start: finder.Sites(func(s *site.Site) rule.Match { return finder.Take(s, func(*site.Row) bool { return true }) }),
			Judge: func(c *finder.Case) bool { return record(c) || held(c) },
		},
	}
}

const doc = `Outside of loops, the compiler inlines deferred calls at the function's returns:
a defer costs a store. In a loop the number of defers is not known at compile
time. Each defer allocates a record on the heap (and a closure for its
arguments) and links it into the goroutine's list, and none of them runs before
the function returns. Files stay open and locks stay held until then.

Move the body of the loop into a function of its own, or call the function at
the end of the body. The next iteration can then reuse buffers that a Close
returns to a pool.

It is fine when the loop has one or two iterations, and when everything must stay
open or locked until the function returns. The rule reports a line that opens
something in a loop only if what it opens is not stored, and if ten or more were
open at once while executions were counted.

Seen in the field: cockroachdb/cockroach#137605 (48 places), apache/arrow#8046,
golang/go#14939, hashicorp/go-extract#105 (readers of all files of an archive).`

// record claims what a defer statement on the line costs itself.
func record(c *finder.Case) bool {
	m := finder.TakeCallsAndOwn(c.Site, proc...)
	if m.Empty() {
		return false
	}
	stmt, loop := deferred(c.Place)
	if stmt == nil || needed(c.Place, stmt) {
		return false
	}
	c.CPU, c.Allocs, c.Mutex, c.Block, c.Live = m.CPU, m.Allocs, m.Mutex, m.Block, m.Live
	c.Callees = m.Callees
	what := syntax.Text(stmt.Call.Fun)
	if _, ok := ast.Unparen(stmt.Call.Fun).(*ast.FuncLit); ok {
		what = fmt.Sprintf("a function literal (line %d)", syntax.Line(c.Place, stmt.Pos()))
	}
	c.Cause = fmt.Sprintf("The loop on line %d defers %s in every iteration: each defer allocates a record on the heap, and none runs before %s returns.",
		syntax.Line(c.Place, loop.Pos()), what, syntax.FuncName(c.Place))
	c.Fix = "Move the loop body into its own function, or call it at the end of the body instead of deferring it."
	return true
}

// deferred returns the defer statement on the line, and the loop of more than two iterations around
// it.
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
