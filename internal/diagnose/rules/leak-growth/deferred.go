package leakgrowth

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastDeferred is how many defers must be pending at a time, on average over the calls of the
// function.
const leastDeferred = 10

// deferred returns the defer statement that retains live rows: in a loop that calls what allocated
// them, in a function that seldom or never returns; nil if there is none. A deferred call keeps its
// arguments until the function returns.
func deferred(pass *rule.Pass, live []*site.Row) *keep {
	for _, r := range live {
		for _, f := range r.Stack {
			if f.Owner.Kind != gocode.Main || pass.Syntax == nil {
				continue
			}
			e, ok := evidence.Executions(pass, *f)
			if !ok || e.PerUnit <= 0 || e.PerUnit < leastDeferred*e.Calls {
				continue
			}
			if place, ok := pass.Syntax.At(f.File, f.Line); ok {
				if k := deferredAt(place, e.PerCall, e.Calls); k != nil {
					return k
				}
			}
		}
	}
	return nil
}

// deferredAt is deferred for a line that runs that often per call of its function: the line of the
// defer statement, or one whose result the deferred call uses.
func deferredAt(p *gocode.Place, perCall, calls float64) *keep {
	for _, n := range p.Nodes {
		if d, ok := n.(*ast.DeferStmt); ok && len(loops.Around(p, d)) > 0 {
			return describeDefer(p, d, perCall, calls)
		}
	}
	for _, call := range p.Calls() {
		v := syntax.Result(p, call)
		if v == nil {
			continue
		}
		stmt := loops.Deferred(p, call, v, func(d *ast.DeferStmt) bool {
			uses := false
			ast.Inspect(d.Call, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				uses = uses || ok && p.Object(id) == v
				return !uses
			})
			return uses
		})
		if stmt != nil {
			return describeDefer(p, stmt, perCall, calls)
		}
	}
	return nil
}

func describeDefer(p *gocode.Place, stmt *ast.DeferStmt, perCall, calls float64) *keep {
	what := "a function"
	if _, literal := stmt.Call.Fun.(*ast.FuncLit); !literal {
		what = syntax.Text(stmt.Call.Fun)
	}
	until := "after " + units.Some(perCall, "iteration")
	if calls == 0 {
		until = "which it did not do while executions were counted"
	}
	return &keep{
		words: fmt.Sprintf("%s defers %s in a loop: what each iteration makes stays until %s returns, %s.", syntax.Where(p, stmt.Pos()), what, syntax.FuncName(p), until),
		fix:   "Release it before the next iteration: move the body of the loop into its own function, or call it at the end of the body instead of deferring it.",
	}
}
