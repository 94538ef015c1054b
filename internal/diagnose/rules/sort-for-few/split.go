package sortforfew

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/profile/symbol"
)

// half reports whether a function passes a part of the list to itself: f(xs[:m]), f(xs[m:]). It
// sorts the part again, so the order within it is not needed.
func (u *uses) half(n *ast.SliceExpr) bool {
	p := u.place
	if p.Decl == nil || (n.Low == nil) == (n.High == nil) || n.Slice3 {
		return false
	}
	bound := n.Low
	if bound == nil {
		bound = n.High
	}
	if _, constant := syntax.ConstInt(p, bound); constant {
		return false
	}
	call, ok := syntax.Parent(p, n).(*ast.CallExpr)
	fn, _ := p.Info.Defs[p.Decl.Name].(*types.Func)
	return ok && fn != nil && p.Callee(call) == fn && ast.Unparen(call.Fun) != ast.Expr(n)
}

// middle reports whether an element is read at the index where the function divides the list.
func (u *uses) middle(n *ast.IndexExpr) bool {
	if u.v == nil {
		return false
	}
	for _, id := range syntax.Reads(u.place, u.v) {
		part, ok := syntax.Parent(u.place, id).(*ast.SliceExpr)
		if ok && part.High != nil && u.half(part) && syntax.Same(u.place, part.High, n.Index) {
			return true
		}
	}
	return false
}

// describeSplit speaks of a recursion that sorts a list to divide it. Of the comparisons of a sort,
// n·log₂(n), finding the middle leaves about 3·n at each level.
func (f *sorted) describeSplit(c *finder.Case) {
	list := syntax.Text(f.list)
	c.Cause = fmt.Sprintf("%s sorts all of %s, and then %s passes a part of it to itself (%s, line %d), which sorts that part again: only the element at the border has to be in its place.",
		symbol.Short(c.Place.CalleeName(f.call)), list, syntax.FuncName(f.place), f.taken.text, f.taken.line)
	c.Fix = fmt.Sprintf("Select the element at the border instead of sorting %s (quickselect: partition it until that element is in place), which takes about 3·n steps; or sort once by each key before the recursion.", list)
	c.Fraction = &rule.Fraction{Expect: 0.5, Low: 0.2, High: 0.8}
	c.Confidence = rule.Likely
}
