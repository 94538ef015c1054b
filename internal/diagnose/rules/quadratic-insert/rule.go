// Package quadraticinsert finds slices that grow at their front in a loop.
package quadraticinsert

import (
	"context"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is quadratic-insert.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "quadratic-insert",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole slice moved in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				// n iterations move n²/2 elements; appending moves each about twice. For a handful of
				// iterations the allocations are what is saved.
				Fraction: rule.Fraction{Expect: 0.85, Low: 0.5, High: 0.98},
			},
			Loop: find,
		},
	}
}

const doc = `append([]T{x}, xs...) allocates a new slice and copies all of xs behind x;
slices.Insert(xs, 0, x) moves all of xs up by one; append(xs[:0], xs[1:]...) and
slices.Delete(xs, 0, 1) move all of it down. In a loop that is n²/2 moves for n
elements.

To build front first: append, and slices.Reverse once after the loop, or fill
from the end of a slice of known length. To take from the front: xs = xs[1:], or
an index; a queue that lives long wants a ring.

The loop may be in a caller: a method that removes one element by copying all
that follow, called for each that has to go, is as quadratic. There the counters
tell: the line runs a hundred times for each unit of work, and each move takes
its time.

It is fine for a few elements, and outside of loops. The rule leaves alone loops
that run at most twice and slices that start again in every iteration.

Seen in the field: grafana/pyroscope#311, where putting nodes in front of a
slice was a cost of every insertion into a tree; the same shape in strings is
concat-loop.`

// movers are what the line calls to move elements.
var movers = []string{
	"runtime.growslice", "runtime.memmove", "runtime.typedslicecopy", "runtime.slicecopy", "runtime.mallocgc*",
	"runtime.bulkBarrierPreWrite*", "runtime.makeslice*", "slices.Insert[*", "slices.Delete[*",
}

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		place := p.Place(s)
		if place == nil {
			continue // a move is no mistake unless the loop is seen
		}
		stmt, how := moves(place)
		var loop ast.Node
		if stmt != nil {
			loop = growing(place, stmt)
		}
		if loop == nil {
			if m, ok := shifts(p, s, place); ok {
				matches = append(matches, m)
			}
			continue
		}
		m := finder.Take(s, moving, movers...)
		if m.Empty() {
			continue
		}
		xs := syntax.Text(stmt.Lhs[0])
		m.Cause = fmt.Sprintf("Every iteration of the loop on line %d %s: n iterations move n²/2 elements.", syntax.Line(place, loop.Pos()), how.what(xs))
		m.Fix = how.fix(xs)
		m.Confidence = evidence.Weigh(p, s, false)
		matches = append(matches, m)
	}
	return matches, nil
}

func moving(r *site.Row) bool { return stacks.Leaf(r) || stacks.Calls(r, movers...) }

// way is how a statement moves a slice.
type way int

const (
	prepends way = iota + 1
	inserts
	removes
)

func (w way) what(xs string) string {
	switch w {
	case prepends:
		return "allocates a new slice and copies all of " + xs + " to its end"
	case inserts:
		return "moves all of " + xs + " up to make room in front"
	}
	return "moves all of " + xs + " down to fill the front"
}

func (w way) fix(xs string) string {
	if w == removes {
		return fmt.Sprintf("Take from the front with %s = %s[1:], or walk with an index; a queue that lives long wants a ring.", xs, xs)
	}
	return fmt.Sprintf("Append to %s and call slices.Reverse once after the loop, or fill a slice of known length from its end.", xs)
}

// moves returns the assignment on the line that moves the slice it assigns.
func moves(p *gocode.Place) (*ast.AssignStmt, way) {
	var found *ast.AssignStmt
	var how way
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if found != nil || !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN {
			return found == nil
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || syntax.Line(p, call.Lparen) != p.Line {
			return true
		}
		if w := kind(p, call, a.Lhs[0]); w != 0 {
			found, how = a, w
		}
		return found == nil
	})
	return found, how
}

// kind says how a call that is assigned to xs moves it; 0 when it does not.
func kind(p *gocode.Place, call *ast.CallExpr, xs ast.Expr) way {
	switch p.CalleeName(call) {
	case "append":
		if len(call.Args) != 2 || !call.Ellipsis.IsValid() {
			return 0
		}
		if _, literal := ast.Unparen(call.Args[0]).(*ast.CompositeLit); literal && syntax.Same(p, call.Args[1], xs) {
			return prepends
		}
		head, ok1 := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
		tail, ok2 := ast.Unparen(call.Args[1]).(*ast.SliceExpr)
		if ok1 && ok2 && syntax.Same(p, head.X, xs) && syntax.Same(p, tail.X, xs) && head.Low == nil && is(p, head.High, 0) && is(p, tail.Low, 1) && tail.High == nil {
			return removes
		}
	case "slices.Insert":
		if len(call.Args) > 2 && syntax.Same(p, call.Args[0], xs) && is(p, call.Args[1], 0) {
			return inserts
		}
	case "slices.Delete":
		if len(call.Args) == 3 && syntax.Same(p, call.Args[0], xs) && is(p, call.Args[1], 0) && is(p, call.Args[2], 1) {
			return removes
		}
	}
	return 0
}

func is(p *gocode.Place, e ast.Expr, n int64) bool {
	if e == nil {
		return false
	}
	v, ok := p.Const(e)
	return ok && constant.Compare(v, token.EQL, constant.MakeInt64(n))
}

// growing returns the innermost loop whose iterations move the slice: it comes from outside, is
// not started again in it, and the loop may run more than twice.
func growing(p *gocode.Place, stmt *ast.AssignStmt) ast.Node {
	v, _ := syntax.Var(p, stmt.Lhs[0])
	for _, loop := range loops.Around(p, stmt) {
		if v == nil || syntax.Inside(loop, v.Pos()) || startsAgain(p, loop, stmt) || indexed(p, loop, stmt.Lhs[0]) {
			return nil
		}
		if !loops.AtMost(p, loop, stmt, 2) {
			return loop
		}
	}
	return nil
}

// startsAgain reports whether another statement of the loop sets the slice.
func startsAgain(p *gocode.Place, loop ast.Node, stmt *ast.AssignStmt) bool {
	found := false
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a == stmt {
			return !found
		}
		for i, lhs := range a.Lhs {
			if syntax.Same(p, lhs, stmt.Lhs[0]) && (len(a.Lhs) != len(a.Rhs) || !strings.Contains(types.ExprString(a.Rhs[i]), types.ExprString(lhs))) {
				found = true
			}
		}
		return !found
	})
	return found
}

// indexed reports whether the slice is chosen by a variable of the loop: each iteration may have
// another.
func indexed(p *gocode.Place, loop ast.Node, xs ast.Expr) bool {
	found := false
	ast.Inspect(xs, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := p.Object(id).(*types.Var); ok && !v.IsField() && syntax.Inside(loop, v.Pos()) {
				found = true
			}
		}
		return !found
	})
	return found
}
