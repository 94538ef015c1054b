// Package powofconstant finds powers that a multiplication, a shift or a table replaces.
package powofconstant

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is pow-of-constant.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "pow-of-constant",
		Kind:  rule.CPU,
		Title: "Power computed where a multiplication, a shift or a table would do",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// 20 to 50 ns become one or two (golang/go#29456).
				Fraction:    rule.Fraction{Expect: 0.93, Low: 0.8, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Lines: []finder.Line{
				{Start: finder.Calls{Functions: []string{"math.Pow", "math.pow"}, Types: []string{"math.Pow"}}, Judge: judge},
				{Start: finder.Calls{Functions: []string{"math/big.(*Int).Exp"}}, Judge: tabled},
			},
		},
	}
}

const doc = `math.Pow works for all exponents: it takes the numbers apart,
multiplies in a loop and handles a dozen special cases, in 20 to 50 ns. The
compiler does not replace it, also where the exponent is a constant.

Write x*x for math.Pow(x, 2), math.Sqrt(x) for the power 0.5, 1/x for -1,
float64(1<<n) or math.Ldexp(1, n) for powers of two, math.Pow10(n) for powers of
ten, and keep a running product where a loop needs successive powers.

Exp of a big.Int is the same for exact numbers: ten to the power of the digits
after the point takes a multiplication for each bit of the exponent, and
allocates, in each operation of a decimal. Keep the powers in a table.

It is fine for exponents that are not small numbers. The rule reports calls
whose exponent is a constant from -4 to 4 or a half, and calls of which the base
is 2 or 10; of big.Int those of a constant base without a modulus. The last bits
of a float64 can differ.

Seen in the field: golang/go#29456, celestiaorg/nmt#76 (322 ns became 114),
muesli/smartcrop#9 (half the time), ynqa/wego#54; cockroachdb/cockroach#6716 and
ccxt/ccxt#30044 (powers of ten of decimals).`

func judge(c *finder.Case) bool {
	for _, call := range c.Calls {
		instead := replacement(c.Pass.Syntax, c.Place, call)
		if instead == "" {
			continue
		}
		c.Cause = fmt.Sprintf("%s goes through the general algorithm for powers, with its loop and special cases: the compiler does not see that a few instructions would do.", syntax.Text(call))
		c.Fix = fmt.Sprintf("Write %s.", instead)
		return true
	}
	return false
}

// replacement returns what computes a power with less work; "" for nothing.
func replacement(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) string {
	if len(call.Args) != 2 {
		return ""
	}
	base, exponent := call.Args[0], call.Args[1]
	x := syntax.Text(base)
	switch b, _ := number(s, p, base); b {
	case 2:
		return fmt.Sprintf("float64(uint64(1) << %[1]s) for a whole %[1]s that is not negative, else math.Exp2(%[1]s)", syntax.Text(exponent))
	case 10:
		return fmt.Sprintf("math.Pow10(%[1]s) for a whole %[1]s", syntax.Text(exponent))
	}
	e, ok := number(s, p, exponent)
	if !ok {
		return ""
	}
	switch e {
	case 0.5:
		return fmt.Sprintf("math.Sqrt(%s)", x)
	case -0.5:
		return fmt.Sprintf("1 / math.Sqrt(%s)", x)
	case -1:
		return fmt.Sprintf("1 / (%s)", x)
	case 2:
		return product(base, x, 2)
	case 3:
		return product(base, x, 3)
	case 4:
		return fmt.Sprintf("x2 := %s, and x2*x2", product(base, x, 2))
	case -2, -3, -4:
		return fmt.Sprintf("1 / (x*x…) with x := %s", x)
	}
	return ""
}

// product writes a small power as a product.
func product(base ast.Expr, x string, n int) string {
	head := ""
	if _, plain := ast.Unparen(base).(*ast.Ident); !plain {
		head, x = "x := "+x+", and ", "x"
	}
	text := x
	for range n - 1 {
		text += "*" + x
	}
	return head + text
}

// number returns the value of a constant, also of one that all callers pass.
func number(s *gocode.Syntax, p *gocode.Place, e ast.Expr) (float64, bool) {
	values := flow.Constants(s, p, e)
	if len(values) == 0 {
		return 0, false
	}
	for _, v := range values {
		if !constant.Compare(v, token.EQL, values[0]) {
			return 0, false
		}
	}
	f, _ := constant.Float64Val(constant.ToFloat(values[0]))
	return f, true
}
