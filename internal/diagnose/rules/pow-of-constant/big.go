package powofconstant

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// tabled judges powers of big numbers whose base is a constant: there are few of them.
func tabled(c *finder.Case) bool {
	for _, call := range c.Calls {
		if len(call.Args) != 3 || !absent(c.Place, call.Args[2]) || !loops.PerCall(c.Place, call) {
			continue
		}
		base, ok := bigConstant(c.Place, call.Args[0])
		if _, constant := bigConstant(c.Place, call.Args[1]); !ok || constant {
			continue
		}
		c.Cause = fmt.Sprintf("%s computes a power of %s again on each call, with a multiplication for each bit of the exponent, and allocates the result.", syntax.Text(call), base)
		c.Fix = fmt.Sprintf("Keep the powers of %s in a table that is indexed by the exponent, and extend it when a larger power is needed.", base)
		c.Fraction = &rule.Fraction{Expect: 0.9, Low: 0.6, High: 1} // who changes the result still needs a copy
		return true
	}
	return false
}

func absent(p *gocode.Place, e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	_, isNil := p.Object(id).(*types.Nil)
	return isNil
}

// bigConstant returns the text of the constant that a big.Int is created from, here or where a
// variable that is not set again is declared.
func bigConstant(p *gocode.Place, e ast.Expr) (string, bool) {
	call, ok := ast.Unparen(syntax.Origin(p, e)).(*ast.CallExpr)
	if !ok || p.CalleeName(call) != "math/big.NewInt" || len(call.Args) != 1 {
		return "", false
	}
	value, ok := p.Const(call.Args[0])
	if !ok {
		return "", false
	}
	return value.ExactString(), true
}
