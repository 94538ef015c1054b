package bigintperdigit

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// levels is how many callers away from the operation the loop may be.
const levels = 2

// perCall returns the operation if the function works on one digit per call: it calls itself with
// the quotient, or a caller's loop calls it for each digit; nil if it does not.
func perCall(c *finder.Case, call *ast.CallExpr) *found {
	p := c.Place
	if len(loops.Around(p, call)) > 0 {
		return nil
	}
	f := operation(c.Pass.Syntax, p, call)
	if f == nil {
		return nil
	}
	z := syntax.Receiver(call)
	if f.divide && again(p, call, z, f.number) {
		f.words = syntax.FuncName(p) + ", which calls itself for the next digit,"
		return f
	}
	if !syntax.Same(p, z, f.number) {
		return nil
	}
	var by *loops.Caller
	for _, r := range c.CPU {
		at := slices.IndexFunc(r.Stack, func(x *site.Frame) bool { return *x == c.Site.Frame })
		if l, ok := loops.Calling(c.Pass.Syntax, r.Stack, at, levels); ok && l.Shares(p, f.number) && f.iterates(c, l) {
			by = &l
			break
		}
	}
	if by == nil {
		return nil
	}
	f.words = fmt.Sprintf("%s, which the loop on line %d of %s calls,", syntax.FuncName(p), by.Line(), by.Name())
	return f
}

// iterates reports whether a caller's loop runs longer than for a number of one word, as counted.
func (f *found) iterates(c *finder.Case, by loops.Caller) bool {
	l, ok := c.Pass.Counts.Loop(by.Frame.Owner.Package, by.Frame.File, by.Line())
	return ok && l.Iterations > float64(f.inWord())
}

// again reports whether a function passes the quotient of a number that it got to itself.
func again(p *gocode.Place, call *ast.CallExpr, z, number ast.Expr) (found bool) {
	given := syntax.ParamIndex(syntax.SignatureOf(p), syntax.LocalVar(p, number))
	if given < 0 || p.Func != ast.Node(p.Decl) {
		return false
	}
	quotient := func(e ast.Expr) bool {
		v := syntax.LocalVar(p, e)
		return v != nil && (v == syntax.Result(p, call) || v == syntax.LocalVar(p, z))
	}
	self, _ := p.Info.Defs[p.Decl.Name].(*types.Func)
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if next, ok := n.(*ast.CallExpr); ok && self != nil && p.Callee(next) == self && given < len(next.Args) {
			found = found || quotient(next.Args[given])
		}
		return !found
	})
	return found
}
