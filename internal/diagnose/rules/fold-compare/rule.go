// Package foldcompare finds strings that are converted to one case only to be compared or looked
// up.
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
		Title: "Strings converted to one case only to be compared or looked up",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// EqualFold took 27 ns where two ToLower took 193, or 71 when both were in lower
				// case already. It also stops at the first difference.
				Fraction: rule.Fraction{Expect: 0.75, Low: 0.5, High: 1}, // of long strings only the start up to the first difference is read
			},
			Start: finder.Calls{Functions: []string{"strings.ToLower", "strings.ToUpper", "bytes.ToLower", "bytes.ToUpper"}},
			Judge: judge,
		},
	}
}

const doc = `strings.ToLower(a) == strings.ToLower(b) reads both strings to their ends, makes
a new string for each one with an upper-case letter, compares them once, and
discards them. strings.EqualFold allocates nothing and stops at the first
difference.

bytes.Equal of two converted slices is the same, with bytes.EqualFold.

The same holds for a string that is converted for a variable or a switch only to
be compared with a few constants, and for strings.HasPrefix(strings.ToLower(s),
"bearer "): compare s[:7]. It also holds for m[strings.ToLower(name)]: the copy
serves one lookup in a map. Write the letters into an array on the stack and
look up m[string(buf[:n])], a conversion that does not copy.

It is fine where the converted string has other uses, or is compared with many
strings. The rule reports lookups only where the conversion allocates, because
it returns a text that is in the right case unchanged. The two differ for a few
letters outside of ASCII: EqualFold considers the Kelvin sign and k, or the long
s and s, equal, as Unicode's simple folding does.

Seen in the field: often enough for staticcheck's check SA6005;
vitessio/vitess#7606 and AfterShip/clickhouse-sql-parser#318 (keywords of a
tokenizer), DataDog/go-sqllexer#43 (28 to 46 % less time).`

func judge(c *finder.Case) bool {
	if lookedUp(c) || prefixed(c) {
		return true
	}
	var compared []ast.Expr
	ok := c.All(func(call *ast.CallExpr) bool {
		uses, is := comparisons(c.Place, call)
		compared = append(compared, uses...)
		return is
	})
	if !ok || len(compared) == 0 {
		return false
	}
	if equal, ok := compared[0].(*ast.CallExpr); ok && called(c, equal, compared) {
		return true
	}
	b, one := compared[0].(*ast.BinaryExpr)
	if len(c.Calls) == 1 && (!one || syntax.Result(c.Place, c.Calls[0]) != nil) {
		arg := c.Calls[0].Args[0]
		what := "compare it with " + units.Some(float64(len(compared)), "text")
		c.Cause = fmt.Sprintf("%s reads and may copy all of %s only to %s.", syntax.Text(c.Calls[0]), syntax.Text(arg), what)
		c.Fix = fmt.Sprintf("Compare with %s.EqualFold(%s, …), which makes no copy and stops at the first difference; it differs for a few letters outside of ASCII.", pkg(c.Name()), syntax.Text(arg))
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
	c.Fix = fmt.Sprintf("Write %sstrings.EqualFold(%s, %s); it differs for a few letters outside of ASCII.",
		not, inner(c.Place, b.X), inner(c.Place, b.Y))
	if safety.Secret(c.Place, b.X) || safety.Secret(c.Place, b.Y) {
		c.Fix = "Decode both sides (encoding/hex and so on ignore case). " + safety.ConstantTime
	}
	return true
}

// mostTexts is the number of texts that a converted string is compared with up to which EqualFold
// is cheaper than one conversion.
const mostTexts = 4

// comparisons returns the texts that the result of a conversion is compared with, if it has no
// other use: in an expression, as the tag of a switch, or through a variable.
func comparisons(p *gocode.Place, call *ast.CallExpr) ([]ast.Expr, bool) {
	converter := p.CalleeName(call)
	uses, at := usesOf(p, call)
	var out []ast.Expr
	for _, use := range uses {
		if b, ok := comparison(at, use, converter); ok {
			out = append(out, b)
			continue
		}
		if equal := equality(at, use, converter); equal != nil {
			out = append(out, equal)
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

// usesOf returns the expressions that stand for the result of a conversion: the call itself or, if
// it is assigned to a local variable, the uses of that. There are none where it has uses that are
// not known.
func usesOf(p *gocode.Place, call *ast.CallExpr) (uses []ast.Expr, at *gocode.Place) {
	v := syntax.Result(p, call)
	if v == nil {
		return []ast.Expr{call}, p
	}
	if !syntax.Local(p, v) || syntax.IsResult(p, v) || len(syntax.Assigned(p, v)) != 1 {
		return nil, p
	}
	for _, id := range syntax.Reads(p, v) {
		if before(p, id, call) {
			continue
		}
		uses = append(uses, id)
	}
	return uses, p.Outer()
}

// cases returns the texts of a switch whose tag is a converted string, if they are of that case.
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

// comparison returns the == or != with a converted string as operand, if the other side has the
// same case too: it is converted by the same function, or is a constant in that case.
func comparison(p *gocode.Place, converted ast.Expr, converter string) (*ast.BinaryExpr, bool) {
	var child ast.Node = converted
	for _, n := range p.Enclosing(converted) {
		switch n := n.(type) {
		case *ast.ParenExpr:
			child = n
			continue
		case *ast.CallExpr:
			if t, ok := p.Conversion(n); ok && syntax.StringOrBytes(t) && pkg(converter) == "bytes" {
				child = n // comparing string(b) makes no copy
				continue
			}
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
	call, ok := ast.Unparen(other).(*ast.CallExpr)
	if ok && len(call.Args) == 1 {
		if t, is := p.Conversion(call); is && syntax.StringOrBytes(t) {
			return sameCase(p, converter, call.Args[0])
		}
	}
	if text, ok := syntax.ConstString(p, other); ok {
		if strings.HasSuffix(converter, ".ToLower") {
			return strings.ToLower(text) == text
		}
		return strings.ToUpper(text) == text
	}
	return ok && p.CalleeName(call) == converter || converted(p, other, converter)
}

// converted reports whether an expression is a local variable that gets only converted texts: in
// its declaration or, for a parameter, in a statement of the function's own block.
func converted(p *gocode.Place, e ast.Expr, converter string) bool {
	v := syntax.LocalVar(p, e)
	if v == nil || p.Decl == nil {
		return false
	}
	p = p.Outer()
	values := syntax.Assigned(p, v)
	for _, value := range values {
		call, ok := ast.Unparen(value).(*ast.CallExpr)
		if !ok || p.CalleeName(call) != converter || call.Pos() > e.Pos() {
			return false
		}
	}
	if len(values) == 0 {
		return false
	}
	if stmt, first := syntax.Declared(p, v); stmt != nil {
		_, spec := stmt.(*ast.ValueSpec)
		return spec || first != nil
	}
	a := syntax.Parent(p, values[0])
	return len(values) == 1 && syntax.Parent(p, a) == ast.Node(p.Decl.Body)
}

// inner returns the operand of a conversion, or the expression itself.
func inner(p *gocode.Place, e ast.Expr) string {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if ok && len(call.Args) == 1 && syntax.Text(call.Fun) == "string" {
		return "string(" + inner(p, call.Args[0]) + ")"
	}
	if ok && len(call.Args) == 1 &&
		funcname.Match(p.CalleeName(call), "strings.ToLower", "strings.ToUpper", "bytes.ToLower", "bytes.ToUpper") {
		return syntax.Text(call.Args[0])
	}
	return syntax.Text(e)
}
