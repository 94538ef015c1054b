package closurepercall

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// recursive judges a line that returns a new function from a recursion over a list: the function
// for an element calls the one for the next, which the same function creates.
func recursive(c *finder.Case) bool {
	p := c.Place
	if p.Decl == nil || p.Func != ast.Node(p.Decl) || len(c.Allocs) == 0 {
		return false
	}
	for _, n := range syntax.Allocating(p) {
		lit, ok := n.(*ast.FuncLit)
		if !ok || !returned(p, lit) || !syntax.AllocatesOnly(p, lit) {
			continue
		}
		call := nextStage(p)
		if call == nil {
			continue
		}
		c.Cause = fmt.Sprintf("%s returns a new function for each element of a list: line %d calls it again for the next one. The chain is built again each time, with a function for every stage.",
			syntax.FuncName(p), syntax.Line(p, call.Pos()))
		c.Fix = "Build the chain once, where the list or the route is set up, in a loop from the last element to the first; what differs from call to call belongs in the arguments or the context."
		c.Confidence = rule.Likely // what the stages depend on is not known
		return true
	}
	return false
}

// returned reports whether a function literal is a result of its function, directly or through a
// conversion (http.HandlerFunc).
func returned(p *gocode.Place, lit *ast.FuncLit) bool {
	n := syntax.Parent(p, lit)
	if call, ok := n.(*ast.CallExpr); ok {
		if _, conversion := p.Conversion(call); !conversion {
			return false
		}
		n = syntax.Parent(p, call)
	}
	_, ok := n.(*ast.ReturnStmt)
	return ok
}

// nextStage returns the call with which the function around a place calls itself for the rest of a
// list, by a part of it or the next index; nil for none.
func nextStage(p *gocode.Place) (next *ast.CallExpr) {
	fn := p.Info.Defs[p.Decl.Name]
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || next != nil || fn == nil || p.Callee(call) != fn {
			return next == nil
		}
		if slices.ContainsFunc(call.Args, rest) {
			next = call
		}
		return next == nil
	})
	return next
}

// rest reports whether an argument is a part of a list or the index after another.
func rest(arg ast.Expr) bool {
	switch x := ast.Unparen(arg).(type) {
	case *ast.SliceExpr:
		return x.Low != nil || x.High != nil
	case *ast.BinaryExpr:
		return x.Op == token.ADD || x.Op == token.SUB
	}
	return false
}
