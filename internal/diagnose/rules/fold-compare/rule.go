// Package foldcompare finds strings that are lowered only to be compared.
package foldcompare

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// Rule is fold-compare.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "fold-compare",
		Kind:  rule.CPU,
		Title: "Strings converted to one case only to be compared",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// EqualFold took 27 ns where two ToLower took 193, or 71 when both were in lower case already;
				// it also ends at the first difference.
				Fraction: rule.Fraction{Expect: 0.75, Low: 0.5, High: 0.95},
			},
			Start: finder.Calls{Functions: []string{"strings.ToLower", "strings.ToUpper"}},
			Judge: judge,
		},
	}
}

const doc = `strings.ToLower(a) == strings.ToLower(b) walks both strings to their ends, makes
a new string for each that has an upper-case letter, compares them once, and
throws them away. strings.EqualFold compares as it goes, allocates nothing, and
stops at the first difference; different lengths of plain ASCII it tells apart
early.

The same goes for a string that is lowered into a variable, or for a switch, only
to be compared with a few constants.

It is fine where the lowered string is used again, or compared with many. The two
differ on a few letters outside of ASCII: EqualFold takes the Kelvin sign and k,
or the long s and s, for the same letter in every direction, as Unicode's simple
folding has it.

Seen in the field: often enough for staticcheck's check SA6005.`

func judge(c *finder.Case) bool {
	var compared []ast.Expr
	ok := c.All(func(call *ast.CallExpr) bool {
		uses, is := comparisons(c.Place, call)
		compared = append(compared, uses...)
		return is
	})
	if !ok || len(compared) == 0 {
		return false
	}
	b, one := compared[0].(*ast.BinaryExpr)
	if len(c.Calls) == 1 && (!one || syntax.Result(c.Place, c.Calls[0]) != nil) {
		arg := c.Calls[0].Args[0]
		what := "compare it with " + units.Some(float64(len(compared)), "text")
		c.Cause = fmt.Sprintf("%s reads and may copy all of %s only to %s.", syntax.Text(c.Calls[0]), syntax.Text(arg), what)
		c.Fix = fmt.Sprintf("Compare with strings.EqualFold(%s, …), which makes no copy and ends at the first difference; it differs on a few letters outside of ASCII.", syntax.Text(arg))
		if safety.Secret(c.Place, arg) {
			c.Fix = "Decode both sides (encoding/hex and so on ignore case). " + safety.ConstantTime
		}
		return true
	}
	if !one {
		return false
	}
	not := ""
	if b.Op == token.NEQ {
		not = "!"
	}
	c.Cause = fmt.Sprintf("%s reads and may copy whole strings to compare them once.", syntax.Text(b))
	c.Fix = fmt.Sprintf("Write %sstrings.EqualFold(%s, %s); it differs on a few letters outside of ASCII.",
		not, inner(c.Place, b.X), inner(c.Place, b.Y))
	if safety.Secret(c.Place, b.X) || safety.Secret(c.Place, b.Y) {
		c.Fix = "Decode both sides (encoding/hex and so on ignore case). " + safety.ConstantTime
	}
	return true
}

// mostTexts is how many texts a lowered string is compared with until lowering it once is the better way.
const mostTexts = 4

// comparisons returns what the result of a conversion is compared in, when it is used for nothing else: directly, as the
// tag of a switch, or by a variable.
func comparisons(p *gocode.Place, call *ast.CallExpr) ([]ast.Expr, bool) {
	converter := p.CalleeName(call)
	uses := []ast.Expr{call}
	at := p
	if v := syntax.Result(p, call); v != nil {
		if !syntax.Local(p, v) || syntax.IsResult(p, v) || len(syntax.Assigned(p, v)) != 1 {
			return nil, false
		}
		uses, at = nil, p.Outer()
		for _, id := range syntax.Reads(p, v) {
			uses = append(uses, id)
		}
	}
	var out []ast.Expr
	for _, use := range uses {
		if b, ok := comparison(at, use, converter); ok {
			out = append(out, b)
			continue
		}
		texts, ok := cases(at, use, converter)
		if !ok {
			return nil, false
		}
		out = append(out, texts...)
	}
	return out, len(out) > 0 && len(out) <= mostTexts
}

// cases returns the texts of a switch whose tag is a converted string, when they are of the same case.
func cases(p *gocode.Place, tag ast.Expr, converter string) (texts []ast.Expr, ok bool) {
	s, is := syntax.Parent(p, tag).(*ast.SwitchStmt)
	if !is || ast.Unparen(s.Tag) != tag {
		return nil, false
	}
	for _, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			if !sameCase(p, converter, e) {
				return nil, false
			}
			texts = append(texts, e)
		}
	}
	return texts, len(texts) > 0
}

// comparison returns the == or != in which a converted string stands, when the other side
// is of the same case too: converted by the same function, or a constant that is so.
func comparison(p *gocode.Place, converted ast.Expr, converter string) (*ast.BinaryExpr, bool) {
	var child ast.Node = converted
	for _, n := range p.Enclosing(converted) {
		switch n := n.(type) {
		case *ast.ParenExpr:
			child = n
			continue
		case *ast.BinaryExpr:
			other := n.X
			if child == n.X {
				other = n.Y
			}
			ok := (n.Op == token.EQL || n.Op == token.NEQ) && sameCase(p, converter, other)
			return n, ok
		}
		break
	}
	return nil, false
}

func sameCase(p *gocode.Place, converter string, other ast.Expr) bool {
	if text, ok := syntax.ConstString(p, other); ok {
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
		funcname.Match(p.CalleeName(call), "strings.ToLower", "strings.ToUpper") {
		return syntax.Text(call.Args[0])
	}
	return syntax.Text(e)
}
