package busyspin

import (
	"fmt"
	"go/ast"
	"go/types"
	"math"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

// ranges examines a loop over elements inside the loop.
func (t *trying) ranges(r *ast.RangeStmt) {
	switch t.p.TypeOf(r.X).Underlying().(type) {
	case *types.Chan, *types.Signature:
		t.works = true // it may block, or do anything
		return
	}
	t.inner(r, r.Body, r.X)
}

// inner examines a loop inside the loop: it does nothing if its body does not run, because what it
// goes over has no element.
func (t *trying) inner(loop ast.Stmt, body *ast.BlockStmt, over ast.Expr) {
	if len(body.List) == 0 || over == nil {
		t.works = true
		return
	}
	first := syntax.Line(t.p, body.List[0].Pos())
	if first == syntax.Line(t.p, loop.Pos()) {
		t.works = true // its executions are those of the loop's line
		return
	}
	if runs := t.runs(t.p, body, first); runs*vain > t.of.iterations {
		t.works = true
		return
	}
	t.node(over)
	t.attempts(loop, waiting)
	if t.depth == 0 && t.of.empty == nil {
		t.of.empty = loop
	}
}

// asks reports whether a call asks whether there is anything to do: it has no arguments, returns a
// number or a bool, and is named so.
func (t *trying) asks(call *ast.CallExpr) bool {
	fn := t.p.Callee(call)
	if fn == nil || len(call.Args) > 0 || t.p.Declaration(fn) != nil || fn.Signature().Recv() == nil || fn.Signature().Results().Len() != 1 {
		return false
	}
	b, ok := fn.Signature().Results().At(0).Type().Underlying().(*types.Basic)
	if !ok || b.Info()&(types.IsBoolean|types.IsInteger) == 0 {
		return false
	}
	asks := slices.ContainsFunc(awaited.Words(fn.Name()), func(w string) bool {
		return slices.Contains([]string{"len", "length", "size", "empty", "closed", "stopped", "done", "ready", "running", "pending"}, w)
	})
	if asks {
		t.of.outside = append(t.of.outside, fn.Name())
	}
	return asks
}

// describeIdle fills in the words for a loop that has nothing to do and does not wait.
func (l *polling) describeIdle(c *finder.Case) {
	p := l.place
	loop := fmt.Sprintf("The loop on line %d of %s spins: of %s iterations%s, %s did something.", syntax.Line(p, l.loop.Pos()), syntax.FuncName(p),
		units.Count(int64(math.Round(l.iterations))), per(c.Pass), share(l.done/l.iterations))
	c.Fraction = &rule.Fraction{Expect: 1, Low: 0.9, High: 1}
	if l.empty == nil {
		c.Cause = fmt.Sprintf("%s The others only evaluate %s: the goroutine never blocks, and keeps a processor busy while there is nothing to do.", loop, syntax.Short(l.text()))
		c.Fix = "Block until something happens: in a select on the context's Done channel and on the channel or timer that brings work."
		return
	}
	over, body := overOf(l.empty)
	never := "that loop does nothing"
	if pauses(p, body, mostCallees) {
		never = "what waits in its body never runs"
	}
	c.Cause = fmt.Sprintf("%s %s on line %d has no iteration, so %s: the goroutine never blocks, and keeps a processor busy with empty iterations.",
		loop, over, syntax.Line(p, l.empty.Pos()), never)
	c.Fix = "Wait in every iteration, also when the inner loop is empty: block in a select on the context's Done channel and on the channel or timer that brings work, or return when there is nothing to do."
}

// overOf returns what an inner loop goes over, as text, and its body.
func overOf(loop ast.Node) (string, *ast.BlockStmt) {
	if r, ok := loop.(*ast.RangeStmt); ok {
		return "The loop over " + syntax.Short(syntax.Text(r.X)), r.Body
	}
	f := loop.(*ast.ForStmt)
	return "The loop with the condition " + syntax.Short(syntax.Text(f.Cond)), f.Body
}
