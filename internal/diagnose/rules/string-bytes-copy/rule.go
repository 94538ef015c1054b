// Package stringbytescopy finds conversions between strings and bytes for calls that have a variant
// for the other type.
package stringbytescopy

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// copying are the runtime's functions that convert.
var copying = []string{"runtime.slicebytetostring*", "runtime.stringtoslicebyte*"}

// searching are functions that exist for strings and for bytes, and whose results do not refer to
// their arguments.
var searching = []string{
	"Compare", "Contains", "ContainsAny", "ContainsRune", "Count", "EqualFold", "HasPrefix", "HasSuffix",
	"Index", "IndexAny", "IndexByte", "IndexRune", "LastIndex", "LastIndexAny", "LastIndexByte",
}

// variants maps functions for strings to their variants for bytes.
var variants = []struct{ text, bytes string }{
	{"unicode/utf8.ValidString", "unicode/utf8.Valid"},
	{"unicode/utf8.RuneCountInString", "unicode/utf8.RuneCount"},
	{"(*regexp.Regexp).MatchString", "(*regexp.Regexp).Match"},
	{"(*regexp.Regexp).FindStringIndex", "(*regexp.Regexp).FindIndex"},
	{"(*regexp.Regexp).FindStringSubmatchIndex", "(*regexp.Regexp).FindSubmatchIndex"},
}

// Rule is string-bytes-copy.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "string-bytes-copy",
		Kind:  rule.Alloc,
		Title: "String copied to bytes, or back, where a variant of the call needs no copy",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.85, High: 1}, // the variant copies nothing
				Specificity: 1,
			},
			Start: finder.Rows(take),
			Judge: guilty,
		},
	}
}

const doc = `[]byte(s) and string(b) copy, since a string must never change; above 32 bytes
they also allocate. Often the next call only reads the copy and has a variant
for the original type: strings.Contains and bytes.Contains, MatchString and
Match, Write and WriteString. A map lookup m[string(b)] does not copy, if the
conversion is in the index itself.

A text that is made from bytes, passed to functions of package strings and made
into bytes again is copied twice: []byte(strings.TrimSpace(string(b))) is
bytes.TrimSpace(b).

A function of the program that only reads its bytes, such as a parser, can read
the string as well: add a variant, or make it generic over ~string | ~[]byte.

It is fine when the text is kept: a copy is then necessary. The compiler makes
conversions in comparisons, range clauses and switches free. The rule does not
advise sharing the memory with package unsafe: code that changes the bytes later
would change the string.

Seen in the field: staticcheck's SA6001 (map lookups) and SA6006 (WriteString),
and mirror, a linter of these pairs (butuzov/mirror).`

// take returns the rows of copying, and the line's own allocations, which the judge narrows.
func take(s *site.Site) rule.Match {
	m := finder.TakeOwn(s)
	m.CPU = stacks.Select(s.CPU, func(r *site.Row) bool { return stacks.Calls(r, copying...) })
	m.Callees = copying
	return m
}

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	var causes, fixes []string
	var guilty []ast.Node
	trips := trips(p)
	for _, t := range trips {
		guilty = append(guilty, t.nodes()...)
		causes, fixes = append(causes, t.cause()), append(fixes, t.fix())
	}
	for _, n := range syntax.Allocating(p) {
		call, ok := n.(*ast.CallExpr)
		if !ok || !conversion(p, call) || slices.Contains(guilty, ast.Node(call)) {
			continue
		}
		cause, fix := judge(p, call)
		if cause == "" {
			continue
		}
		guilty = append(guilty, call)
		causes, fixes = append(causes, cause), append(fixes, fix)
	}
	if len(guilty) == 0 || conversions(p) > len(guilty)-calls(trips) {
		return false // the rows are of all conversions on the line
	}
	if !syntax.AllocatesOnly(p, guilty...) {
		m.Allocs, m.Live = nil, nil
	}
	if len(m.CPU) == 0 && len(m.Allocs) == 0 {
		return false
	}
	if len(trips) > 0 { // one of the copies may be necessary
		m.Fraction = &rule.Fraction{Expect: 0.8, Low: 0.45, High: 1}
	}
	m.Cause = strings.Join(causes, " ")
	m.Fix = strings.Join(fixes, " ")
	return true
}

// conversions returns the number of the line's conversions between strings and bytes that may copy.
func conversions(p *gocode.Place) (n int) {
	for _, x := range syntax.Allocating(p) {
		if call, ok := x.(*ast.CallExpr); ok && conversion(p, call) {
			n++
		}
	}
	return n
}

// conversion reports whether a call is string(b) or []byte(s).
func conversion(p *gocode.Place, call *ast.CallExpr) bool {
	if _, ok := p.Conversion(call); !ok || len(call.Args) != 1 {
		return false
	}
	return syntax.IsString(p, call) && isBytes(p, call.Args[0]) || isBytes(p, call) && syntax.IsString(p, call.Args[0])
}

func isBytes(p *gocode.Place, e ast.Expr) bool {
	t := p.TypeOf(e)
	if t == nil {
		return false
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}

// judge returns why a conversion is not needed; "" when it is.
func judge(p *gocode.Place, call *ast.CallExpr) (cause, fix string) {
	uses := []ast.Expr{call}
	at := p
	if to := syntax.AssignedTo(p, call); to != nil {
		v := syntax.LocalVar(p, to)
		if v == nil || len(syntax.Assigned(p, v)) != 1 {
			return "", ""
		}
		uses, at = nil, p.Outer()
		for _, id := range syntax.Reads(p, v) {
			uses = append(uses, id)
		}
	}
	toString := syntax.IsString(p, call)
	for _, use := range uses {
		what, variant := instead(at, use, toString, use == call)
		if variant == "" {
			return "", ""
		}
		cause = fmt.Sprintf("%s copies %s only for %s.", syntax.Text(call), syntax.Text(call.Args[0]), what)
		fix = fmt.Sprintf("Use %s, which needs no copy.", variant)
		if variant == readerVariant {
			fix = fmt.Sprintf("Let %s read the string without a copy: add a variant for strings, or one function for both (func f[T ~string | ~[]byte](text T)). It only reads its argument.", what)
		}
		if compares(variant) && safety.Secret(p, call.Args[0]) {
			fix = safety.ConstantTime
		}
	}
	return cause, fix
}

// readerVariant marks a variant that does not exist yet.
const readerVariant = "reader"

// compares reports whether a function compares two whole texts.
func compares(name string) bool {
	return funcname.Match(name, "bytes.Compare", "bytes.EqualFold", "strings.Compare", "strings.EqualFold")
}

// instead returns the purpose of a use of the copy, and what to call instead; direct is true for
// the conversion itself, false for a variable that holds the copy.
func instead(p *gocode.Place, use ast.Expr, toString, direct bool) (what, variant string) {
	switch n := syntax.Parent(p, use).(type) {
	case *ast.IndexExpr:
		if t := p.TypeOf(n.X); t != nil && toString && !direct && ast.Unparen(n.Index) == use && looksUp(p, n) {
			if _, ok := t.Underlying().(*types.Map); ok {
				return "a lookup in " + syntax.Text(n.X), syntax.Text(n.X) + "[string(…)] with the conversion in the index"
			}
		}
	case *ast.CallExpr:
		if n.Fun == use {
			return "", ""
		}
		name := p.CalleeName(n)
		if t := twinOf(p, n, name, use, toString); t != "" {
			return name, t
		}
		if !toString && onlyReads(p, n, use) && p.Callee(n).Pkg() == p.Pkg {
			return symbol.Short(name), readerVariant
		}
	}
	return "", ""
}

// looksUp reports whether a map's element is read, not assigned.
func looksUp(p *gocode.Place, elem ast.Expr) bool {
	switch n := syntax.Parent(p, elem).(type) {
	case *ast.AssignStmt:
		for _, lhs := range n.Lhs {
			if ast.Unparen(lhs) == elem {
				return false
			}
		}
	case *ast.IncDecStmt:
		return false
	}
	return true
}

// twinOf returns the call that replaces a function with a converted argument.
func twinOf(p *gocode.Place, call *ast.CallExpr, name string, use ast.Expr, toString bool) string {
	from, to := "bytes", "strings"
	if toString {
		from, to = to, from
	}
	for _, f := range searching {
		if name == from+"."+f && len(call.Args) > 0 && ast.Unparen(call.Args[0]) == use && othersFree(p, call, toString) {
			return to + "." + f
		}
	}
	for _, t := range variants {
		if toString && name == t.text {
			return t.bytes
		}
		if !toString && name == t.bytes {
			return t.text
		}
	}
	if len(call.Args) != 1 {
		return ""
	}
	w := syntax.Receiver(call)
	switch {
	case w == nil:
	case !toString && strings.HasSuffix(name, ").Write") && hasMethod(p, w, "WriteString"):
		return syntax.Text(w) + ".WriteString"
	case !toString && name == "(net/http.ResponseWriter).Write":
		return "io.WriteString(" + syntax.Text(w) + ", …)"
	case toString && strings.HasSuffix(name, ").WriteString") && hasMethod(p, w, "Write"):
		return syntax.Text(w) + ".Write"
	}
	return ""
}

// othersFree reports whether the variant takes the other arguments of a search without a copy:
// constants, single bytes and runes, or arguments that are converted like the first.
func othersFree(p *gocode.Place, call *ast.CallExpr, toString bool) bool {
	for _, arg := range call.Args[1:] {
		if _, constant := p.Const(arg); constant {
			continue
		}
		if b, ok := p.TypeOf(arg).Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
			continue
		}
		conv, ok := ast.Unparen(arg).(*ast.CallExpr)
		if !ok || !conversion(p, conv) || syntax.IsString(p, conv) != toString {
			return false
		}
	}
	return true
}

// hasMethod reports whether a writer has the method of io.StringWriter or io.Writer.
func hasMethod(p *gocode.Place, w ast.Expr, name string) bool {
	t := p.TypeOf(w)
	if t == nil {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, p.Pkg, name)
	fn, ok := obj.(*types.Func)
	return ok && fn.Signature().Params().Len() == 1 && fn.Signature().Results().Len() == 2
}
