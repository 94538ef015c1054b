package variablesizemake

import (
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// leastGathered is the minimum mean number of iterations of the loop, if they were counted.
const leastGathered = 2

// gathers judges a line of a loop that copies elements into a slice of its own for each iteration:
//
//	buf := append([]byte{first}, append(head, tail...)...)
//
// The compiler says that it does not escape, so the next iteration can fill the same memory.
func gathers(c *finder.Case) bool {
	p := c.Place
	words, known := evidence.Escapes(c.Pass, c.Site)
	if !known || len(words) > 0 {
		return false
	}
	for _, call := range syntax.Calls(p) {
		loop := p.LoopAround(call)
		if loop == nil || p.Drives(loop) || !freshAppend(p, call) {
			continue
		}
		v := declared(p, call)
		if v == nil || !syntax.Inside(loop, v.Pos()) {
			continue
		}
		line := syntax.Line(p, loop.Pos())
		times := ""
		if l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, line); ok {
			if l.Iterations < leastGathered {
				continue
			}
			times = fmt.Sprintf(", %s times each time that it is reached", units.Number(l.Iterations))
		}
		c.Confidence = rule.Measured
		c.Cause = fmt.Sprintf("The loop on line %d allocates %s again in each iteration%s, and uses it only there: append to a slice without room for the elements allocates for all of them.", line, v.Name, times)
		c.Fix = fmt.Sprintf("Declare %[1]s before the loop, and fill it with append(%[1]s[:0], …), which reuses its memory in the next iteration.", v.Name)
		return true
	}
	return false
}

// freshAppend reports whether a call appends to a slice that the expression itself creates.
func freshAppend(p *gocode.Place, call *ast.CallExpr) bool {
	if p.CalleeName(call) != "append" || len(call.Args) < 2 || !call.Ellipsis.IsValid() {
		return false
	}
	switch x := ast.Unparen(call.Args[0]).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.CallExpr: // []byte(nil), append([]byte{}, …)
		if _, conversion := p.Conversion(x); conversion {
			id, ok := ast.Unparen(x.Args[0]).(*ast.Ident)
			return ok && id.Name == "nil"
		}
		return freshAppend(p, x)
	}
	return false
}

// declared returns the variable that a statement declares with a call as its value; nil for none.
func declared(p *gocode.Place, call *ast.CallExpr) *ast.Ident {
	a, ok := syntax.Parent(p, call).(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 1 {
		return nil
	}
	id, _ := a.Lhs[0].(*ast.Ident)
	return id
}
