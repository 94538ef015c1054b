// Package bigintperdigit finds big numbers that are divided or multiplied once for each digit.
package bigintperdigit

import (
	"fmt"
	"go/ast"
	"go/types"
	"math"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is bigint-per-digit.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "bigint-per-digit",
		Kind:  rule.CPU,
		Title: "Big number divided or multiplied once for each digit",
		Doc:   doc,
		Uses:  []rule.Need{rule.NeedCounts},
		Finder: finder.Line{
			Claim: rule.Claim{
				// Measured for bases 10 and 58 (amd64, Go 1.26), with one operation for as
				// many digits as fit in a word: 0.41 to 0.85 for numbers of 16 and 32
				// bytes, 0.74 to 0.97 for 64 to 2,000.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.97},
				Specificity: 1,
			},
			Start: finder.Calls{Functions: []string{
				"math/big.(*Int).DivMod", "math/big.(*Int).QuoRem", "math/big.(*Int).Div", "math/big.(*Int).Quo",
				"math/big.(*Int).Mod", "math/big.(*Int).Rem", "math/big.(*Int).Mul",
			}},
			Judge: judge,
		},
	}
}

const doc = `A loop writes a big.Int in base 58 by dividing it by 58 until it is zero, or
reads one by multiplying with 58 and adding a digit. Each operation goes through
the whole number, so the time grows with the square of its length, and each
division allocates.

Divide by the largest power of the base that fits in a word, 58^10, and take ten
digits from the remainder as a uint64: a tenth of the big divisions. To read,
collect ten digits in a uint64 before each multiplication. For a base up to 62,
big.Int.Text and SetString do it faster still for long numbers: translate their
digits into those of the other alphabet. For powers of two use Bytes, SetBytes
or FillBytes.

The rule reports divisions and multiplications by a small constant, in a loop
that divides the quotient, or multiplies the product, again; in a function that
calls itself with the quotient, or that a loop calls for each digit. Where
iterations were counted, there must be more of them than a word has digits.

It is fine for numbers that fit in a few words.

Seen in the field: btcsuite/btcutil#183 (base 58).`

// largest is the largest constant that is taken for the base of digits.
const largest = math.MaxUint16

func judge(c *finder.Case) bool {
	if c.Pass.Syntax == nil {
		return false
	}
	for _, call := range c.Calls {
		if f := find(c.Pass.Syntax, c.Place, call); f != nil && f.long(c) {
			f.describe(c)
			return true
		}
		if f := perCall(c, call); f != nil {
			f.describe(c)
			return true
		}
	}
	return false
}

// found is a loop that works on a big number digit by digit.
type found struct {
	call   *ast.CallExpr
	loop   ast.Node // nil if each call of the function works on one digit
	number ast.Expr
	base   int64
	divide bool
	words  string // which calls those are
}

func find(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) *found {
	around := loops.Around(p, call)
	if len(around) == 0 {
		return nil
	}
	f := operation(s, p, call)
	if f == nil {
		return nil
	}
	if f.loop = around[0]; !f.carried(p, syntax.Receiver(call)) {
		return nil
	}
	return f
}

// operation returns what a call does if it divides or multiplies a number by a small constant.
func operation(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) *found {
	if syntax.Receiver(call) == nil || len(call.Args) < 2 {
		return nil
	}
	f := &found{call: call, divide: !strings.HasSuffix(p.CalleeName(call), ".Mul")}
	f.number = call.Args[0]
	base, ok := small(s, p, call.Args[1])
	if !ok && !f.divide { // multiplication is commutative
		f.number = call.Args[1]
		base, ok = small(s, p, call.Args[0])
	}
	if f.base = base; !ok {
		return nil
	}
	return f
}

// carried reports whether the next iteration works on what this one leaves of the number.
func (f *found) carried(p *gocode.Place, z ast.Expr) bool {
	v, part := syntax.Var(p, f.number)
	if v == nil || part || syntax.Inside(f.loop, v.Pos()) && !syntax.Inside(header(f.loop), v.Pos()) {
		return false
	}
	if f.divide && slices.ContainsFunc(syntax.Assigned(p, v), func(e ast.Expr) bool { return word(p, e) }) {
		return false
	}
	if w, _ := syntax.Var(p, z); w == v {
		return true
	}
	if f.divide && divided(p, f.loop, v) {
		return true // x.Mod(x, …) beside x.Div(x, …), or x = q
	}
	return !f.divide && assigned(p, f.loop, v)
}

// header returns the part of a loop that runs once before it: x := n is of all iterations.
func header(loop ast.Node) ast.Node {
	if l, ok := loop.(*ast.ForStmt); ok && l.Init != nil {
		return l.Init
	}
	return &ast.BadStmt{}
}

// divided reports whether a loop divides a number in place, or assigns another value to it.
func divided(p *gocode.Place, loop ast.Node, v *types.Var) bool {
	found := assigned(p, loop, v)
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !funcname.Match(p.CalleeName(call), funcname.TypedAll([]string{
			"math/big.(*Int).DivMod", "math/big.(*Int).QuoRem", "math/big.(*Int).Div", "math/big.(*Int).Quo", "math/big.(*Int).Set",
		})...) {
			return true
		}
		w, part := syntax.Var(p, syntax.Receiver(call))
		found = found || w == v && !part
		return !found
	})
	return found
}

func assigned(p *gocode.Place, loop ast.Node, v *types.Var) bool {
	return syntax.Changes(p, loops.Body(loop), v)
}

// created are functions that make a big number of one word.
func created() []string {
	return funcname.TypedAll([]string{"math/big.NewInt", "math/big.(*Int).SetInt64", "math/big.(*Int).SetUint64"})
}

// word reports whether an expression creates a number of one word.
func word(p *gocode.Place, e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && funcname.Match(p.CalleeName(call), created()...)
}

// small returns the constant that a *big.Int holds, if it can be the base of digits.
func small(s *gocode.Syntax, p *gocode.Place, e ast.Expr) (base int64, ok bool) {
	for i, source := range flow.Sources(s, p, e) {
		made, is := source.Value.(*ast.CallExpr)
		if !is || len(made.Args) != 1 || !word(source.Place, made) {
			return 0, false
		}
		n, constant := syntax.ConstInt(source.Place, made.Args[0])
		if !constant || n < 2 || n > largest || i > 0 && n != base {
			return 0, false
		}
		base, ok = n, true
	}
	return base, ok
}

// inWord returns how many digits fit in a uint64.
func (f *found) inWord() (digits int) {
	for n := uint64(1); n <= math.MaxUint64/uint64(f.base); n *= uint64(f.base) {
		digits++
	}
	return digits
}

// long reports whether the loop runs longer than for a number of one word, as far as it was
// counted.
func (f *found) long(c *finder.Case) bool {
	l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(c.Place, f.loop.Pos()))
	return !ok || l.Iterations == 0 || l.Iterations > float64(f.inWord())
}

func (f *found) describe(c *finder.Case) {
	name := syntax.Text(f.number)
	does, grows := "divides", "each digit goes through what is left of the whole number"
	if !f.divide {
		does, grows = "multiplies", "each digit goes through the whole number so far"
	}
	if f.loop != nil {
		f.words = fmt.Sprintf("The loop on line %d", syntax.Line(c.Place, f.loop.Pos()))
	}
	c.Cause = fmt.Sprintf("%s %s the big.Int %s by %d for each digit: %s, so the time grows with the square of its length.",
		f.words, does, name, f.base, grows)
	n := f.inWord()
	power := fmt.Sprintf("%d^%d", f.base, n)
	if f.divide {
		c.Fix = fmt.Sprintf("Divide by %s, which fits in a uint64, and take %d digits from the remainder as a uint64 before the next division (its leading zeros are digits, except in the last part).", power, n)
	} else {
		c.Fix = fmt.Sprintf("Collect %d digits in a uint64, then multiply once by %s, which fits in a uint64, and add them; the last part may have fewer digits.", n, power)
	}
	method := "Text"
	if !f.divide {
		method = "SetString"
	}
	switch {
	case f.base&(f.base-1) == 0 && f.divide:
		c.Fix = fmt.Sprintf("%d is a power of two: take the digits from the bits of %s.Bytes(), without a division.", f.base, name)
	case f.base&(f.base-1) == 0:
		c.Fix = fmt.Sprintf("%d is a power of two: put the digits into the bits of a []byte, and call %s.SetBytes once.", f.base, name)
	case f.base <= 62:
		c.Fix += fmt.Sprintf(" Or use (*big.Int).%s with base %d, and translate its digits 0-9a-zA-Z from or to the alphabet.", method, f.base)
	}
	c.Confidence = rule.Measured
	if f.loop == nil {
		c.Confidence = rule.Likely
		return
	}
	if l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, syntax.Line(c.Place, f.loop.Pos())); !ok || l.Iterations == 0 {
		c.Confidence = rule.Likely
	}
}
