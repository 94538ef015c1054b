// Package quadraticinsert finds loops that move a whole slice in every iteration.
package quadraticinsert

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

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
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Whole slice moved in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// n iterations move n²/2 elements; appending moves each about twice. With few
				// iterations the fix saves mostly allocations.
				Fraction: rule.Fraction{Expect: 0.85, Low: 0.5, High: 1},
			},
			Start: finder.Sites(moving),
			Judge: judge,
		},
	}
}

const doc = `append([]T{x}, xs...) allocates a new slice and copies all of xs after x;
slices.Insert(xs, 0, x) moves all of xs up by one; append(xs[:0], xs[1:]...) and
slices.Delete(xs, 0, 1) move all of it down; append(slices.Clone(xs), x),
slices.Concat(xs, ys) and a new slice of len(xs)+1 elements, filled by copy,
append or a loop, copy all of it to add one. In a loop that is n²/2 moves for n
elements.

Append in place: append copies only when the capacity is used up. To prepend,
append and call slices.Reverse once after the loop, or fill a slice of known
length from its end. To take from the front, use xs = xs[1:] or an
index; for a long-lived queue use a ring buffer.

The loop may be in a caller: a method that adds or removes one element by copying
all others is as quadratic when it is called for many elements. The rule reports
such a line if the execution counts show that it runs a hundred times for each
unit of work and that a move takes long, or if the copies that it allocates have
64 elements or more on average.

It is fine for a few elements, and outside of loops. The rule leaves alone loops
of at most two iterations and slices that are set again in every iteration.

Seen in the field: grafana/pyroscope#311, where prepending nodes to a slice was a
cost of every insertion into a tree. For strings, see concat-loop.`

// movers are the functions that the line calls to move elements.
var movers = []string{
	"runtime.growslice", "runtime.memmove", "runtime.typedslicecopy", "runtime.slicecopy", "runtime.mallocgc*",
	"runtime.bulkBarrierPreWrite*", "runtime.makeslice*", "slices.Insert[*", "slices.Delete[*", "slices.Concat[*", "slices.Clone[*",
	"slices.Clip[*", "slices.Grow[*", "bytes.Clone",
}

// moving selects the rows of the line itself and of the moves that it makes.
func moving(s *site.Site) rule.Match {
	return finder.Take(s, func(r *site.Row) bool { return stacks.Leaf(r) || moves(r) }, movers...)
}

func moves(r *site.Row) bool { return stacks.Calls(r, movers...) }

func judge(c *finder.Case) bool {
	stmt, how := moved(c.Place)
	var loop ast.Node
	if stmt != nil {
		loop = growing(c.Place, stmt)
	}
	if loop == nil {
		return adds(c) || splices(c) || reassembles(c) || shifts(c)
	}
	xs := syntax.Text(stmt.Lhs[0])
	c.Cause = fmt.Sprintf("Every iteration of the loop on line %d %s: n iterations move n²/2 elements.", syntax.Line(c.Place, loop.Pos()), how.what(xs))
	c.Fix = how.fix(xs)
	return true
}

// way is how a statement moves a slice.
type way int

const (
	prepends way = iota + 1
	inserts
	removes
	cuts
	copies
)

func (w way) what(xs string) string {
	switch w {
	case prepends:
		return "allocates a new slice and copies all of " + xs + " to its end"
	case inserts:
		return "moves all of " + xs + " up to make room in front"
	case cuts:
		return "moves the rest of " + xs + " down to close a gap"
	case copies:
		return "allocates a new slice and copies all of " + xs + " into it"
	}
	return "moves or copies all of " + xs + " to take one element from the front"
}

func (w way) fix(xs string) string {
	switch w {
	case copies:
		return fmt.Sprintf("Append in place, %s = append(%s, x), which copies only when the capacity is used up: n additions copy about 2n elements. Readers of an older slice do not see what is appended after its end, if each slice is appended to only once.", xs, xs)
	case cuts:
		return fmt.Sprintf("Move each element that stays to its final place once: write it at a second index that follows the first, and cut %s once after the loop (slices.DeleteFunc does so).", xs)
	case removes:
		return fmt.Sprintf("Take from the front with %s = %s[1:], or with an index; for a long-lived queue use a ring buffer.", xs, xs)
	}
	return fmt.Sprintf("Append to %s and call slices.Reverse once after the loop, or fill a slice of known length from its end.", xs)
}

// moved returns the assignment on the line that moves the slice it assigns.
func moved(p *gocode.Place) (*ast.AssignStmt, way) {
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

// kind returns how a call whose result is assigned to xs moves it; 0 when it does not.
func kind(p *gocode.Place, call *ast.CallExpr, xs ast.Expr) way {
	switch p.CalleeName(call) {
	case "append":
		if len(call.Args) >= 2 && copyOf(p, call.Args[0], xs) {
			return copies
		}
		if len(call.Args) != 2 || !call.Ellipsis.IsValid() {
			return 0
		}
		if rest, ok := ast.Unparen(call.Args[1]).(*ast.SliceExpr); ok && syntax.EmptySlice(p, call.Args[0]) && rest.High == nil && is(p, rest.Low, 1) && syntax.Same(p, rest.X, xs) {
			return removes
		}
		if lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit); ok && len(lit.Elts) > 0 && syntax.Same(p, call.Args[1], xs) {
			return prepends
		}
		head, ok1 := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
		tail, ok2 := ast.Unparen(call.Args[1]).(*ast.SliceExpr)
		if !ok1 || !ok2 || !syntax.Same(p, head.X, xs) || !syntax.Same(p, tail.X, xs) || head.Low != nil || tail.High != nil {
			return 0
		}
		if is(p, head.High, 0) && is(p, tail.Low, 1) {
			return removes
		}
		if head.High != nil && tail.Low != nil && !last(p, call) {
			return cuts
		}
	case "slices.Concat":
		for _, arg := range call.Args {
			if len(call.Args) > 1 && syntax.Same(p, arg, xs) {
				return copies
			}
		}
	case "slices.Insert":
		if len(call.Args) > 2 && syntax.Same(p, call.Args[0], xs) && is(p, call.Args[1], 0) {
			return inserts
		}
	case "slices.Delete":
		if len(call.Args) != 3 || !syntax.Same(p, call.Args[0], xs) {
			return 0
		}
		if is(p, call.Args[1], 0) && is(p, call.Args[2], 1) {
			return removes
		}
		if !last(p, call) {
			return cuts
		}
	}
	return 0
}

// last reports whether the loop around a statement ends after it: an element was found and removed.
func last(p *gocode.Place, n ast.Node) bool {
	for _, around := range p.Enclosing(n) {
		var list []ast.Stmt
		switch b := around.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return false
		case *ast.BlockStmt:
			list = b.List
		case *ast.CaseClause:
			list = b.Body
		}
		for _, s := range list {
			if s.Pos() <= n.Pos() {
				continue
			}
			switch s := s.(type) {
			case *ast.ReturnStmt:
				return true
			case *ast.BranchStmt:
				if s.Tok == token.BREAK || s.Tok == token.GOTO {
					return true
				}
			}
		}
	}
	return false
}

func is(p *gocode.Place, e ast.Expr, n int64) bool {
	if e == nil {
		return false
	}
	v, ok := syntax.ConstInt(p, e)
	return ok && v == n
}

// growing returns the innermost loop whose iterations move the slice: the slice is declared outside
// the loop, the loop does not set it again, and it may have more than two iterations.
func growing(p *gocode.Place, stmt *ast.AssignStmt) ast.Node {
	v, _ := syntax.Var(p, stmt.Lhs[0])
	for _, loop := range loops.Around(p, stmt) {
		if v == nil || syntax.Inside(loop, v.Pos()) || startsAgain(p, loop, stmt) || !loops.FromOutside(p, loop, stmt.Lhs[0]) {
			return nil
		}
		if !loops.AtMost(p, loop, stmt, 2) {
			return loop
		}
	}
	return nil
}

// startsAgain reports whether another statement of the loop sets the slice to a new value.
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
