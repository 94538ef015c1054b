// Package foldcompare finds strings that are lowered only to be compared.
package foldcompare

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is fold-compare.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "fold-compare",
		Kind:  rule.CPU,
		Title: "Strings converted to one case only to be compared",
		Doc:   doc,
		// EqualFold took 27 ns where two ToLower took 193, or 71 when both were in lower case already;
		// it also ends at the first difference.
		Fraction: rule.Fraction{Expect: 0.75, Low: 0.5, High: 0.95},
		Find:     find,
	}
}

const doc = `strings.ToLower(a) == strings.ToLower(b) walks both strings to their ends, makes
a new string for each that has an upper-case letter, compares them once, and
throws them away. strings.EqualFold compares as it goes, allocates nothing, and
stops at the first difference; different lengths of plain ASCII it tells apart
early.

It is fine where the lowered string is used again. The two differ on a few
letters outside of ASCII: EqualFold takes the Kelvin sign and k, or the long s
and s, for the same letter in every direction, as Unicode's simple folding has
it.

Seen in the field: often enough for staticcheck's check SA6005.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	return rule.Search{
		Callees: []string{"strings.ToLower", "strings.ToUpper"},
		Judge:   judge,
	}.Find(p), nil
}

func judge(c *rule.Case) bool {
	var compared *ast.BinaryExpr
	ok := c.All(func(call *ast.CallExpr) bool {
		b, is := comparison(c.Place, call)
		if is {
			compared = b
		}
		return is
	})
	if !ok {
		return false
	}
	not := ""
	if compared.Op == token.NEQ {
		not = "!"
	}
	c.Cause = fmt.Sprintf("%s walks and may copy whole strings to compare them once.", rule.Text(compared))
	c.Fix = fmt.Sprintf("Write %sstrings.EqualFold(%s, %s); it differs on a few letters outside of ASCII.",
		not, inner(c.Place, compared.X), inner(c.Place, compared.Y))
	if rule.Secret(c.Place, compared.X) || rule.Secret(c.Place, compared.Y) {
		c.Fix = "Decode both sides (encoding/hex and so on ignore case). " + rule.ConstantTime
	}
	return true
}

// comparison returns the == or != in which a conversion stands, when the other side
// is of the same case too: converted by the same function, or a constant that is so.
func comparison(p *gocode.Place, call *ast.CallExpr) (*ast.BinaryExpr, bool) {
	var child ast.Node = call
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.ParenExpr:
			child = n
			continue
		case *ast.BinaryExpr:
			other := n.X
			if child == n.X {
				other = n.Y
			}
			ok := (n.Op == token.EQL || n.Op == token.NEQ) && sameCase(p, p.CalleeName(call), other)
			return n, ok
		}
		break
	}
	return nil, false
}

func sameCase(p *gocode.Place, converter string, other ast.Expr) bool {
	if text, ok := rule.ConstString(p, other); ok {
		if converter == "strings.ToLower" {
			return strings.ToLower(text) == text
		}
		return strings.ToUpper(text) == text
	}
	call, ok := ast.Unparen(other).(*ast.CallExpr)
	return ok && p.CalleeName(call) == converter
}

// inner is what a conversion converts, or the expression itself.
func inner(p *gocode.Place, e ast.Expr) string {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 1 &&
		rule.Named(p.CalleeName(call), "strings.ToLower", "strings.ToUpper") {
		return rule.Text(call.Args[0])
	}
	return rule.Text(e)
}
