// Package sprintfsimple finds fmt.Sprintf calls that only join a few basic values.
package sprintfsimple

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// printers are the functions that the rule is about.
var printers = []string{"fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln"}

// concat are the runtime's functions that concatenate strings.
const concat = "runtime.concatstring*"

// ofStrings and ofNumbers are the part of the calls' cost that the fix saves. For strings alone: 70
// ns became 13 (yarpc/yarpc-go#2445), 92 became 12 (containerd/containerd#8672), and 156 became 53
// in BenchmarkFix. The low end is for results that escape, which those benchmarks do not have. With
// a number to format about half: 386 ns became 186 (osrg/gobgp#2623), 217 became 82. If pieces are
// concatenated only to be written, with the concatenation: 616 ns became 109; the low end is for
// lines that save less. Two pairs of recordings of examples/leftpad saved about 0.9 of the cost of
// strings alone, and 0.8 of the line with a number.
func ofStrings() rule.Fraction { return rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.92} }
func ofNumbers() rule.Fraction { return rule.Fraction{Expect: 0.6, Low: 0.35, High: 0.82} }
func ofJoined() rule.Fraction  { return rule.Fraction{Expect: 0.7, Low: 0.5, High: 0.88} }

// Rule is sprintf-simple.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sprintf-simple",
		Kind:  rule.Alloc,
		Title: "fmt.Sprintf where a concatenation would do",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// The fix saves parsing the format, boxing the arguments and the copy out of the
				// printer's buffer. The string of the result and the formatting of numbers remain.
				Fraction: ofNumbers(),
			},
			Lines: lines(),
		},
	}
}

const doc = `fmt.Sprintf parses its format at run time, puts every argument into an
interface (which allocates for strings and most numbers), formats into a
buffer and copies that into a new string. For a format of plain %s, %d, %x, %v, %q
and %t with strings, numbers and booleans, a + b and strconv do the same in a
fraction of the time. If the text is only written, append the pieces to a buffer
and make no string at all.

It is fine in code that is not hot. The rule leaves alone calls whose rewrite
would not print the same: widths and flags (other than leading zeros of integers
that a loop formats), values with a String, Error, Format or GoString method,
pointers, formats that are not constant.

Seen in the field: istio/istio#20320, mitchellh/mapstructure#215,
prometheus/statsd_exporter#279.`

// lines are the patterns to find: one for each function.
func lines() []finder.Line {
	var lines []finder.Line
	for _, printer := range printers {
		lines = append(lines, finder.Line{
			Start: finder.Sites(func(s *site.Site) rule.Match { return finder.TakeCalls(s, printer) }),
			Judge: func(c *finder.Case) bool { return judge(c, printer) },
			Unseen: finder.Words{
				Cause: fmt.Sprintf("%s formats a string here; the source is not available, so the format is unknown.", printer),
				Fix:   "If the format is of plain %s, %d and %v with strings and numbers, concatenate with + and strconv instead; in a query pass the values as arguments.",
			}.Fill,
		})
	}
	return lines
}

func judge(c *finder.Case, printer string) bool {
	calls := syntax.CallsOf(c.Place, printer)
	texts, ok := rewrites(c.Place, calls, printer)
	if !ok {
		return false
	}
	*c.Match = take(c.Site, c.Place, calls, printer)
	c.Fraction = fraction(*c.Match, texts)
	c.Cause = cause(c.Place, calls, printer)
	c.Fix = safety.DestinationOf(c.Place, calls).Advise(fix(texts)) + padded(texts)
	c.Confidence = evidence.Weigh(c.Pass, c.Site, true)
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return true
}

// take returns the rows of a line that the fix touches.
func take(s *site.Site, place *gocode.Place, calls []*ast.CallExpr, printer string) rule.Match {
	callees := []string{printer}
	if _, written := flow.Copied(place, calls); written {
		callees = append(callees, concat) // pieces in a buffer need not be joined
	}
	if onlyBoxing(place, calls) {
		return finder.TakeCallsAndOwn(s, append(callees, "runtime.convT*")...)
	}
	return finder.TakeCalls(s, callees...)
}

// fraction returns the part of a match's cost that the rewrites save.
func fraction(m rule.Match, texts []string) *rule.Fraction {
	f := ofNumbers()
	switch {
	case slices.ContainsFunc(m.CPU, func(r *site.Row) bool { return stacks.Calls(r, concat) }):
		f = ofJoined()
	case !strings.Contains(strings.Join(texts, ""), "strconv."):
		f = ofStrings()
	}
	return &f
}

// rewrites returns for each call an expression with the same result; false when
// one of the calls has none, or there are no calls.
func rewrites(p *gocode.Place, calls []*ast.CallExpr, printer string) ([]string, bool) {
	var texts []string
	for _, call := range calls {
		var parts []string
		var ok bool
		switch {
		case call.Ellipsis.IsValid():
		case printer == "fmt.Sprintf":
			parts, ok = formatted(p, call)
		default:
			parts, ok = printed(p, call, printer == "fmt.Sprintln")
		}
		if !ok {
			return nil, false
		}
		texts = append(texts, strings.Join(parts, " + "))
	}
	return texts, len(texts) > 0
}

// formatted returns the operands of a concatenation that equals a Sprintf with a simple constant
// format.
func formatted(p *gocode.Place, call *ast.CallExpr) (parts []string, ok bool) {
	if len(call.Args) == 0 {
		return nil, false
	}
	format, ok := syntax.ConstString(p, call.Args[0])
	if !ok {
		return nil, false
	}
	args := call.Args[1:]
	literal := ""
	flush := func() {
		if literal != "" {
			parts = append(parts, fmt.Sprintf("%q", literal))
			literal = ""
		}
	}
	for len(format) > 0 {
		text, rest, verb := strings.Cut(format, "%")
		literal += text
		if !verb {
			break
		}
		if rest == "" {
			return nil, false
		}
		width := ""
		if rest[0] == '0' { // leading zeros
			width = rest[1 : 1+strings.IndexFunc(rest[1:]+"x", func(c rune) bool { return c < '0' || c > '9' })]
			rest = rest[1+len(width):]
			if width == "" || rest == "" || p.LoopAround(call) == nil {
				return nil, false // outside of loops Sprintf is worth its cost
			}
		}
		c := rest[0]
		format = rest[1:]
		if c == '%' && width == "" {
			literal += "%"
			continue
		}
		if len(args) == 0 {
			return nil, false
		}
		part, ok := convert(p, args[0], c)
		if !ok || width != "" && !isInteger(p, args[0]) {
			return nil, false
		}
		if width != "" {
			part = fmt.Sprintf("%s(%s, %s)", padding, part, width)
		}
		flush()
		parts = append(parts, part)
		args = args[1:]
	}
	flush()
	return parts, len(args) == 0 && len(parts) > 0
}

// printed returns the operands of a concatenation with the same result as a call of Sprint or
// Sprintln. Sprint puts a space between operands when neither is a string.
func printed(p *gocode.Place, call *ast.CallExpr, line bool) (parts []string, ok bool) {
	for i, arg := range call.Args {
		part, ok := convert(p, arg, 'v')
		if !ok {
			return nil, false
		}
		if i > 0 && (line || !syntax.IsString(p, arg) && !syntax.IsString(p, call.Args[i-1])) {
			parts = append(parts, `" "`)
		}
		parts = append(parts, part)
	}
	if line {
		parts = append(parts, `"\n"`)
	}
	return parts, len(call.Args) > 0
}

// convert returns the string expression that formats an argument as a verb does; false
// when there is no simple one.
func convert(p *gocode.Place, arg ast.Expr, verb byte) (string, bool) {
	t := p.Info.TypeOf(arg)
	if t == nil || formatsItself(t) {
		return "", false
	}
	b, ok := types.Default(t).Underlying().(*types.Basic)
	if !ok {
		return "", false
	}
	_, named := types.Unalias(t).(*types.Named)
	x := types.ExprString(ast.Unparen(arg))
	as := func(kind types.BasicKind, name string) string {
		if b.Kind() == kind && !named {
			return x
		}
		return name + "(" + x + ")"
	}
	info := b.Info()
	switch {
	case info&types.IsString != 0 && (verb == 's' || verb == 'v'):
		return as(types.String, "string"), true
	case info&types.IsString != 0 && verb == 'q':
		return "strconv.Quote(" + as(types.String, "string") + ")", true
	case info&types.IsUnsigned != 0 && verb == 'x':
		return "strconv.FormatUint(" + as(types.Uint64, "uint64") + ", 16)", true
	case info&types.IsInteger != 0 && verb == 'x':
		return "strconv.FormatInt(" + as(types.Int64, "int64") + ", 16)", true
	case info&types.IsUnsigned != 0 && (verb == 'd' || verb == 'v'):
		return "strconv.FormatUint(" + as(types.Uint64, "uint64") + ", 10)", true
	case b.Kind() == types.Int && (verb == 'd' || verb == 'v'):
		return "strconv.Itoa(" + as(types.Int, "int") + ")", true
	case info&types.IsInteger != 0 && (verb == 'd' || verb == 'v'):
		return "strconv.FormatInt(" + as(types.Int64, "int64") + ", 10)", true
	case b.Kind() == types.Float64 && verb == 'v':
		return "strconv.FormatFloat(" + as(types.Float64, "float64") + ", 'g', -1, 64)", true
	case b.Kind() == types.Float32 && verb == 'v':
		return "strconv.FormatFloat(float64(" + x + "), 'g', -1, 32)", true
	case info&types.IsBoolean != 0 && (verb == 't' || verb == 'v'):
		return "strconv.FormatBool(" + as(types.Bool, "bool") + ")", true
	}
	return "", false
}

// padding is the function that rewrites call for leading zeros, because package strconv has none.
const padding = "pad"

// padded returns the sentence that describes that function; "" when no rewrite calls it.
func padded(texts []string) string {
	if !strings.Contains(strings.Join(texts, ""), padding+"(") {
		return ""
	}
	return " pad adds leading zeros up to that width, after the sign of a negative number; in a loop append zeros and digits (strconv.AppendInt) to one buffer."
}

func isInteger(p *gocode.Place, e ast.Expr) bool {
	t := p.Info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := types.Default(t).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// formatsItself reports whether fmt would call a method of the value.
func formatsItself(t types.Type) bool {
	set := types.NewMethodSet(t)
	for _, name := range []string{"Format", "Error", "String", "GoString"} {
		if set.Lookup(nil, name) != nil {
			return true
		}
	}
	return false
}

// onlyBoxing reports whether all that the line itself allocates are the boxed arguments of
// these calls (and the string that a + concatenates their result to, which a single
// concatenation would not allocate either).
func onlyBoxing(p *gocode.Place, calls []*ast.CallExpr) bool {
	ours := map[ast.Node]bool{}
	for _, c := range calls {
		ours[c] = true
	}
	only := true
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if n == nil || syntax.Line(p, n.Pos()) > p.Line || syntax.Line(p, n.End()) < p.Line {
			return false
		}
		if syntax.Line(p, n.Pos()) != p.Line {
			return true
		}
		switch n := n.(type) {
		case *ast.FuncLit, *ast.CompositeLit, *ast.GoStmt, *ast.DeferStmt:
			only = false
		case *ast.CallExpr:
			if !ours[n] && mayBox(p, n) {
				only = false
			}
		}
		return only
	})
	return only
}

// mayBox reports whether a call may allocate on its own line: it is a builtin that allocates,
// converts a string, or has parameters of interface type.
func mayBox(p *gocode.Place, call *ast.CallExpr) bool {
	switch p.CalleeName(call) {
	case "make", "new", "append":
		return true
	}
	if _, ok := p.Conversion(call); ok && len(call.Args) == 1 {
		return syntax.IsString(p, call) != syntax.IsString(p, call.Args[0])
	}
	sig, ok := p.Info.TypeOf(call.Fun).(*types.Signature)
	if !ok {
		return false
	}
	for v := range sig.Params().Variables() {
		t := v.Type()
		if s, ok := t.(*types.Slice); ok && sig.Variadic() {
			t = s.Elem()
		}
		if types.IsInterface(t) {
			return true
		}
	}
	return sig.Variadic()
}

func cause(p *gocode.Place, calls []*ast.CallExpr, printer string) string {
	if printer != "fmt.Sprintf" {
		return fmt.Sprintf("%s puts %s into interfaces and formats them by their types at run time, to join basic values.",
			printer, arguments(calls[0].Args))
	}
	format, _ := syntax.ConstString(p, calls[0].Args[0])
	text := fmt.Sprintf("fmt.Sprintf parses the constant format %q on every call", syntax.Short(format))
	if args := calls[0].Args[1:]; len(args) > 0 {
		text += fmt.Sprintf(" and puts %s into interfaces, to join basic values", arguments(args))
	}
	return text + "."
}

func arguments(args []ast.Expr) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = syntax.Short(types.ExprString(a))
	}
	return funcname.List(words)
}

func fix(texts []string) string {
	return fmt.Sprintf("Write %s; if the string is only written, append the pieces to a buffer instead and make no string at all.",
		funcname.List(texts))
}
