// Package formattedforlength finds values that are formatted only to get the length of the text.
package formattedforlength

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
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

A value that is encoded as JSON for its size, such as a metric or a limit, costs
more than that: take the size where it is encoded or received anyway.

It is fine where the text has other uses too. The rule reports only calls inside
len(…), and variables that only len reads.

Seen in the field: shopspring/decimal#301 (digits counted by formatting, eight
times slower).`

// formats are functions that format a value, as the type checker names them.
var formats = []string{
	"strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint", "(*math/big.Int).Text", "strconv.FormatFloat", "(time.Time).Format", "strings.Join",
}

// encoders are functions that encode a value, as the type checker names them.
var encoders = []string{"encoding/json.Marshal", "encoding/json.MarshalIndent", "encoding/xml.Marshal", "gopkg.in/yaml.v*.Marshal", "github.com/goccy/go-json.Marshal"}

// number reports whether a call formats a whole number, whose digits can be counted.
func number(p *gocode.Place, call *ast.CallExpr, name string) bool {
	switch {
	case funcname.Match(name, "fmt.Sprint", "fmt.Sprintf"):
		return kind(p, call.Args[len(call.Args)-1])&types.IsInteger != 0
	case funcname.Match(name, "strconv.FormatFloat", "(time.Time).*"):
		return false
	case strings.HasSuffix(name, ".String"):
		t := types.TypeString(p.TypeOf(syntax.Receiver(call)), nil)
		return strings.Contains(t, "math/big.") || strings.Contains(strings.ToLower(t), "decimal") || kind(p, syntax.Receiver(call))&types.IsInteger != 0
	}
	return true
}

// kind returns what basic type an expression has; 0 for others.
func kind(p *gocode.Place, e ast.Expr) types.BasicInfo {
	t := p.TypeOf(e)
	if t == nil {
		return 0
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Info()
	}
	return 0
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
		m.Cause = fmt.Sprintf("%s formats %s, and only the length of the text is used.", symbol.Short(name), subject(call))
		m.Fix = "Count instead: compare with powers of ten, or use math/bits.Len64 (BitLen of a big.Int) and one comparison."
		switch {
		case funcname.Match(name, encoders...):
			m.Cause = fmt.Sprintf("%s encodes %s, and only the length of the text is used.", symbol.Short(name), subject(call))
			m.Fix = "Take the length where the value is encoded or received anyway, or estimate it from the lengths of its parts."
			m.Fraction = &rule.Fraction{Expect: 0.8, Low: 0.2, High: 1} // a size that must be exact needs the text
			m.Confidence = rule.Likely
		case name == "strings.Join":
			m.Cause = fmt.Sprintf("strings.Join copies all of %s into one text, and only the length of the text is used.", syntax.Text(call.Args[0]))
			m.Fix = "Add the lengths of the parts and of the separators."
		case strings.HasPrefix(name, "fmt.") && kind(p, call.Args[len(call.Args)-1])&types.IsString != 0:
			m.Fix = "Add the lengths of the parts."
		case strings.HasSuffix(name, ".String") && !number(p, call, name):
			m.Fix = "Compute the length from the parts of the value; or keep the text, if it is needed later."
		case !number(p, call, name):
			m.Fix = "Append the text to an array on the stack and take the length of that: var b [64]byte and len(strconv.AppendFloat(b[:0], …)), AppendFormat of a time; or keep the text, if it is needed later."
		}
		return true
	}
	return false
}

// formatting reports whether a call formats a value: one of formats, or a method String without
// arguments.
func formatting(p *gocode.Place, call *ast.CallExpr, name string) bool {
	if funcname.Match(name, formats...) || funcname.Match(name, encoders...) {
		return true
	}
	if name == "fmt.Sprint" && len(call.Args) == 1 || name == "fmt.Sprintf" && len(call.Args) == 2 {
		return kind(p, call.Args[len(call.Args)-1])&(types.IsNumeric|types.IsString) != 0 && !call.Ellipsis.IsValid()
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
	if a, ok := syntax.Parent(p, call).(*ast.AssignStmt); ok && a.Tok == token.ADD_ASSIGN {
		return false // a part of a longer text
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
