package foldcompare

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// prefixed judges conversions of whole texts of which only a constant start or end is compared.
func prefixed(c *finder.Case) bool {
	converter := c.Name()
	var test *ast.CallExpr
	if !c.All(func(call *ast.CallExpr) bool {
		uses, at := usesOf(c.Place, call)
		for _, use := range uses {
			if test = affix(at, use, converter); test == nil {
				return false
			}
		}
		return len(uses) > 0 && len(uses) <= mostTexts
	}) {
		return false
	}
	arg := syntax.Text(c.Calls[0].Args[0])
	text, _ := constantText(c.Place, test.Args[1])
	part, what := fmt.Sprintf("%s[:%d]", arg, len(text)), "the first"
	if strings.HasSuffix(c.Place.CalleeName(test), "HasSuffix") {
		part, what = fmt.Sprintf("%s[len(%s)-%d:]", arg, arg, len(text)), "the last"
	}
	c.Cause = fmt.Sprintf("%s reads and may copy all of %s, and only %s %d bytes are compared.", symbol.Short(converter), arg, what, len(text))
	c.Fix = fmt.Sprintf("Compare only these: len(%s) >= %d && %s.EqualFold(%s, %s), which makes no copy.", arg, len(text), pkg(converter), part, syntax.Text(test.Args[1]))
	return true
}

// affix returns the call that tests whether a converted text starts or ends with a constant of the
// same case; nil for another use.
func affix(p *gocode.Place, e ast.Expr, converter string) *ast.CallExpr {
	call, ok := syntax.Parent(p, e).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 || ast.Unparen(call.Args[0]) != ast.Unparen(e) || !funcname.Match(p.CalleeName(call), "strings.HasPrefix", "strings.HasSuffix", "bytes.HasPrefix", "bytes.HasSuffix") {
		return nil
	}
	text, constant := constantText(p, call.Args[1])
	if !constant || !sameCase(p, converter, call.Args[1]) {
		return nil
	}
	for i := range len(text) {
		if text[i] >= 0x80 {
			return nil // the lengths of folded letters may differ
		}
	}
	return call
}

// constantText returns the value of a constant string, also of one that is converted to bytes.
func constantText(p *gocode.Place, e ast.Expr) (string, bool) {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 1 {
		if t, is := p.Conversion(call); is && syntax.StringOrBytes(t) {
			e = call.Args[0]
		}
	}
	return syntax.ConstString(p, e)
}
