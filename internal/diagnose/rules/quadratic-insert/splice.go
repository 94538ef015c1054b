package quadraticinsert

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// splices judges a line that replaces elements in the middle of a slice, in a function that is
// called for each of many edits: append(xs[:i], append(more, xs[j:]...)...). The inner append
// copies the rest of the slice to a new one, the outer append copies it back.
func splices(c *finder.Case) bool {
	xs := spliced(c.Place)
	if xs == nil {
		return false
	}
	name := syntax.Text(xs)
	what := fmt.Sprintf("%s makes a new slice for the rest of %s and copies the rest there and back, for each change in its middle", syntax.FuncName(c.Place), name)
	if !describeCopies(c, elemOf(c.Place, xs), copies, name, what) {
		return false
	}
	c.Fix = fmt.Sprintf("slices.Insert and slices.Replace move the rest once, in place. If there are many changes in one pass, write what stays and what is new to a second slice, which moves each element once instead of %s as a whole.", name)
	return true
}

// spliced returns the slice xs of such a line; nil for none.
func spliced(p *gocode.Place) (xs ast.Expr) {
	for _, call := range syntax.CallsOf(p, "append") {
		if len(call.Args) != 2 || !call.Ellipsis.IsValid() {
			continue
		}
		head, ok1 := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
		inner, ok2 := ast.Unparen(call.Args[1]).(*ast.CallExpr)
		if !ok1 || !ok2 || head.Low != nil || p.CalleeName(inner) != "append" || len(inner.Args) != 2 || !inner.Ellipsis.IsValid() {
			continue
		}
		tail, ok := ast.Unparen(inner.Args[1]).(*ast.SliceExpr)
		if ok && tail.High == nil && syntax.Same(p, head.X, tail.X) {
			return head.X
		}
	}
	return nil
}
