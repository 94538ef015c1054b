// Package formattedforlength finds values that are formatted only to get the length of the text.
package formattedforlength

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is formatted-for-length.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "formatted-for-length",
		Kind:  rule.Alloc,
		Title: "Value formatted only to get the length of its text",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// Counting digits takes about ten comparisons or one logarithm; for large numbers,
				// an estimate from the bits and one comparison.
				Fraction: rule.Fraction{Expect: 0.85, Low: 0.5, High: 1},
				Removes:  true,
			},
			Start: finder.Rows(take),
			Judge: judge,
		},
	}
}

const doc = `len(x.String()) builds the whole text, counts its bytes and discards it. For a
number that takes a division per digit and an allocation, though the length
follows from comparisons or from the number of its bits.

Count instead of formatting: compare with powers of ten, use bits.Len64 and one
comparison, math/big's BitLen for large numbers. Where the text is needed
later, format it once and keep it.

It is fine where the text has other uses too. The rule reports only calls inside
len(…), and variables that only len reads.

Seen in the field: shopspring/decimal#301 (digits counted by formatting, eight
times slower).`

// formats are functions that format a number, as the type checker names them.
var formats = []string{
	"strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint", "(*math/big.Int).Text",
}

// take returns the rows of the line's calls.
func take(s *site.Site) rule.Match {
	return finder.Take(s, func(r *site.Row) bool { return stacks.Callee(r) != "" })
}

func judge(c *finder.Case) bool {
	p, m := c.Place, c.Match
	for _, call := range syntax.Calls(p) {
		name := p.CalleeName(call)
		if !formatting(p, call, name) || !onlyLength(p, call) {
			continue
		}
		callees := calleesOf(m, p, name)
		if len(callees) == 0 {
			continue
		}
		keep := func(r *site.Row) bool { return stacks.Calls(r, callees...) }
		*m = finder.Take(m.Site, keep, callees...)
		m.Live = nil
		if m.Empty() {
			return false
		}
		m.Cause = fmt.Sprintf("%s formats %s, and only the length of the text is used.", funcname.Short(name), subject(call))
		m.Fix = "Count instead: compare with powers of ten, or use math/bits.Len64 (BitLen of a big.Int) and one comparison."
		return true
	}
	return false
}

// formatting reports whether a call formats a value: one of formats, or a method String without
// arguments.
func formatting(p *gocode.Place, call *ast.CallExpr, name string) bool {
	if funcname.Match(name, formats...) {
		return true
	}
	fn := p.Callee(call)
	return fn != nil && fn.Name() == "String" && fn.Signature().Recv() != nil && len(call.Args) == 0 &&
		!funcname.Match(name, "(*strings.Builder).String", "(*bytes.Buffer).String")
}

// subject returns the value that a call formats.
func subject(call *ast.CallExpr) string {
	if len(call.Args) == 0 {
		if r := syntax.Receiver(call); r != nil {
			return syntax.Text(r)
		}
	}
	return syntax.Text(call.Args[len(call.Args)-1])
}

// onlyLength reports whether the result of a call is used only by len.
func onlyLength(p *gocode.Place, call *ast.CallExpr) bool {
	if length(p, call) {
		return true
	}
	v := syntax.Result(p, call)
	if v == nil || !syntax.Local(p, v) || syntax.IsResult(p, v) {
		return false
	}
	reads := syntax.Reads(p, v)
	for _, id := range reads {
		if !length(p, id) {
			return false
		}
	}
	return len(reads) > 0
}

// length reports whether an expression is the argument of len.
func length(p *gocode.Place, e ast.Expr) bool {
	around := p.Enclosing(e)
	if len(around) == 0 {
		return false
	}
	call, ok := around[0].(*ast.CallExpr)
	return ok && p.CalleeName(call) == "len"
}

// calleesOf returns the names in profiles of the functions that the line calls under the type
// checker's name.
func calleesOf(m *rule.Match, p *gocode.Place, name string) (callees []string) {
	seen := map[string]bool{}
	for _, rows := range [][]*site.Row{m.CPU, m.Allocs} {
		for _, r := range rows {
			callee := stacks.Callee(r)
			typed := funcname.Typed(callee)
			if rest, ok := cutMain(typed); ok {
				typed = p.Pkg.Path() + rest
			}
			if !seen[callee] && typed == name {
				seen[callee] = true
				callees = append(callees, callee)
			}
		}
	}
	return callees
}

func cutMain(name string) (string, bool) {
	if len(name) > 5 && name[:5] == "main." {
		return name[4:], true
	}
	return "", false
}
