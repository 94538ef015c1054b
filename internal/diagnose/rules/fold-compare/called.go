package foldcompare

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

// pkg returns the package of a converter: "strings" or "bytes".
func pkg(converter string) string {
	name, _, _ := strings.Cut(converter, ".")
	return name
}

// equality returns the call that compares a converted text with one of the same case, or with any
// if it ignores case itself; nil for another use.
func equality(p *gocode.Place, e ast.Expr, converter string) *ast.CallExpr {
	call, ok := syntax.Parent(p, e).(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil
	}
	other := call.Args[0]
	if ast.Unparen(other) == ast.Unparen(e) {
		other = call.Args[1]
	}
	switch name := p.CalleeName(call); {
	case funcname.Match(name, "strings.EqualFold", "bytes.EqualFold"):
		return call
	case name == "bytes.Equal" && sameCase(p, converter, other):
		return call
	}
	return nil
}

// called explains a comparison by a call, if it is the only one that the line converts for.
func called(c *finder.Case, equal *ast.CallExpr, compared []ast.Expr) bool {
	for _, e := range compared {
		if e != ast.Expr(equal) {
			return false
		}
	}
	if name := c.Place.CalleeName(equal); name != "bytes.Equal" {
		c.Cause = fmt.Sprintf("%s reads and may copy all of %s, although %s ignores case itself.", symbol.Short(c.Name()), syntax.Text(c.Calls[0].Args[0]), name)
		c.Fix = fmt.Sprintf("Write %s(%s, %s).", name, inner(c.Place, equal.Args[0]), inner(c.Place, equal.Args[1]))
		return true
	}
	c.Cause = fmt.Sprintf("%s reads and copies whole texts to compare them once.", syntax.Text(equal))
	c.Fix = fmt.Sprintf("Write bytes.EqualFold(%s, %s); it differs for a few letters outside of ASCII.", inner(c.Place, equal.Args[0]), inner(c.Place, equal.Args[1]))
	if safety.Secret(c.Place, equal.Args[0]) || safety.Secret(c.Place, equal.Args[1]) {
		c.Fix = "Decode both sides (encoding/hex and so on ignore case). " + safety.ConstantTime
	}
	return true
}

// before reports whether a use of a parameter comes before the statement in the function's own
// block that sets it to the converted text, or is in that.
func before(p *gocode.Place, use *ast.Ident, call *ast.CallExpr) bool {
	a := syntax.Parent(p, call)
	return use.Pos() < call.End() && p.Decl != nil && p.Func == ast.Node(p.Decl) && a != nil && syntax.Parent(p, a) == ast.Node(p.Decl.Body)
}
