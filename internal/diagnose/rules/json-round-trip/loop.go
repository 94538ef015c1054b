package jsonroundtrip

import (
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// mostCallers is the number of callers up to which a parameter is followed to a loop.
const mostCallers = 4

// again says that a loop in a caller has the same value converted each time: a sentence for the
// cause, and one for the fix. They are empty if that is not seen.
func again(c *finder.Case, e ast.Expr) (cause, fix string) {
	for _, rows := range [][]*site.Row{c.CPU, c.Allocs} {
		for _, r := range rows {
			for i, f := range r.Stack {
				if f.File != c.Site.File || f.Line != c.Site.Line {
					continue
				}
				p, loop := passing(c.Pass, r, i, c.Place.Outer(), e)
				if loop == nil {
					return "", ""
				}
				line, name := syntax.Line(p, loop.Pos()), syntax.FuncName(p)
				return fmt.Sprintf(" The loop on line %d, in %s, has the same value converted in each iteration.", line, name),
					fmt.Sprintf("Convert the value once, before the loop on line %d, and pass the result on. Or avoid the text: ", line)
			}
		}
	}
	return "", ""
}

// passing returns the loop, in a caller, that passes a value from outside of it for the parameter
// that an expression is; nil for none.
func passing(pass *rule.Pass, r *site.Row, i int, p *gocode.Place, e ast.Expr) (*gocode.Place, ast.Node) {
	for range mostCallers {
		v := syntax.LocalVar(p, e)
		sig := syntax.SignatureOf(p)
		if i++; v == nil || sig == nil || !syntax.Param(p, v) || i >= len(r.Stack) {
			return nil, nil
		}
		at := syntax.ParamIndex(sig, v)
		caller, ok := pass.Syntax.At(r.Stack[i].File, r.Stack[i].Line)
		if !ok || at < 0 {
			return nil, nil
		}
		call := loops.CallTo(caller, r.Stack[i-1].Function)
		if call == nil || at >= len(call.Args) {
			return nil, nil
		}
		e = ast.Unparen(call.Args[at])
		if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
			e = u.X
		}
		if loop := loops.Repeating(caller, call); loop != nil {
			if !loops.FromOutside(caller, loop, e) {
				return nil, nil
			}
			return caller, loop
		}
		p = caller.Outer()
	}
	return nil, nil
}
