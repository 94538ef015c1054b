// Package formattedtocompare finds values that are formatted or encoded only to compare or to hash
// their texts.
package formattedtocompare

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is formatted-to-compare.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "formatted-to-compare",
		Kind:  rule.CPU,
		Title: "Values formatted only to compare or hash their texts",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Comparing the parts takes some nanoseconds, and most values differ in the first.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 2, // what the formatting does is of no use
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `a.String() == b.String() formats both values, allocates two texts, compares
them and discards them: 100 ns to a microsecond, where a comparison of the values
themselves takes a few nanoseconds, and mostly ends at the first part that
differs. The same holds for fmt.Sprint, and for hexadecimal texts of two keys.

Two times are often compared by the texts of their days. Time.Date returns the
three numbers, and a day has bounds with which times compare.

So it is with a value that is encoded (JSON, YAML, protobuf) only to hash the
text, as for a revision or a fingerprint: the encoder visits each field and builds
a text, of which a few bytes remain. Mostly the value was just decoded from bytes
that are at hand, whose hash says the same.

Compare the values: == for numbers, arrays and structs of them, slices.Equal,
Equal or Cmp of net.IP, time.Time and big.Int. Give a type of your own a method
Equal or Compare that compares its parts, the most different one first. Hash the
bytes that were received, where they are decoded (with io.TeeReader if they are
read from a stream); if the value comes from elsewhere, write the fields that
decide to the hash.

It is fine where the text is the identity: when values that differ have the same
text. The rule reports comparisons of two texts that the same method formats
(String, or one of the program that builds a text of its object), or a function of
fmt or strconv, or one of the program that only calls such a function, on the line
or for two variables that are only compared, and times formatted by a constant
layout of whole days for a comparison. Of encoders it reports those whose
text has no other use than a hash or a comparison; if the value is not seen to be
decoded, or is changed after that, as a hint. It leaves signatures alone.

Seen in the field: hashicorp/go-version formats both versions first when it
compares them (Version.Compare); hyperjumptech/grule-rule-engine#339 (the text of
each rule made twice to check that a copy of it is complete);
fluxcd/source-controller#1035 (an index of charts encoded again for its revision).`

// formats are functions that format a value, as the type checker names them. Methods String are
// others. Times and decimals have texts that leave something out, so that other values have the
// same.
var formats = []string{
	"fmt.Sprint", "strconv.Itoa", "strconv.FormatInt", "strconv.FormatUint",
	"encoding/hex.EncodeToString", "(*encoding/base64.Encoding).EncodeToString", "(*math/big.Int).Text",
}

// comparison is a comparison of two texts that the same function formats.
type comparison struct {
	name   string // of the function or method, without package and receiver
	a, b   ast.Expr
	op     string
	values types.Type // of the values, if both are receivers
}

func prepare(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	return []finder.Line{comparing(p), hashing(p), calendar()}
}

// comparing returns the line for two values that one function formats for a comparison.
func comparing(p *rule.Pass) finder.Line {
	lines := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *comparison { return comparisonAt(place) })
	formatting := func(r *site.Row) int {
		i := lines.Nearest(r)
		if i <= 0 || !strings.HasSuffix(r.Stack[i-1].Function, "."+lines.At(r.Stack[i]).name) {
			return -1
		}
		return i
	}
	return finder.Line{Start: finder.Frames(formatting), Judge: func(c *finder.Case) bool {
		found := lines.At(&c.Site.Frame)
		if found == nil {
			return false
		}
		c.Live = nil
		if len(c.CPU) > 0 {
			if i := formatting(c.CPU[0]); i > 0 { // what it does itself is of no use either
				c.Callees = []string{c.CPU[0].Stack[i-1].Function}
			}
		}
		found.describe(c)
		return true
	}}
}

// comparisonAt returns the comparison for which a line formats values; nil for none.
func comparisonAt(p *gocode.Place) (found *comparison) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		b, ok := n.(*ast.BinaryExpr)
		if !ok || found != nil {
			return found == nil
		}
		switch b.Op {
		case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
			found = compared(p, b)
		}
		return found == nil
	})
	return found
}

// compared returns a comparison of two texts of one function; nil for others.
func compared(p *gocode.Place, b *ast.BinaryExpr) *comparison {
	if !syntax.IsString(p, b.X) {
		return nil
	}
	x, isCall := only(p, b.X).(*ast.CallExpr)
	y, isOther := only(p, b.Y).(*ast.CallExpr)
	if !isCall || !isOther || syntax.Line(p, x.Pos()) != p.Line && syntax.Line(p, y.Pos()) != p.Line {
		return nil
	}
	fn := p.Callee(x)
	if fn == nil || fn != p.Callee(y) || len(x.Args) != len(y.Args) {
		return nil
	}
	found := &comparison{name: fn.Name(), op: b.Op.String()}
	switch name := p.CalleeName(x); {
	case fn.Name() == "String" && fn.Signature().Recv() != nil && len(x.Args) == 0:
		if funcname.Match(name, "(*strings.Builder).String", "(*bytes.Buffer).String") {
			return nil // their texts are all that they have
		}
		found.a, found.b = syntax.Receiver(x), syntax.Receiver(y)
		found.values = p.TypeOf(found.a)
	case funcname.Match(name, formats...):
		if found.a, found.b = subjects(p, x, y, fn.Signature().Recv() != nil); found.a == nil {
			return nil
		}
	case len(x.Args) == 0 && fn.Signature().Recv() != nil && buildsText(p, fn):
		found.a, found.b = syntax.Receiver(x), syntax.Receiver(y)
		found.values = p.TypeOf(found.a)
	case format(p, fn):
		if found.a, found.b = subjects(p, x, y, fn.Signature().Recv() != nil); found.a == nil {
			return nil
		}
	default:
		return nil
	}
	return found
}

// only returns what a variable is that is only compared, or the expression itself.
func only(p *gocode.Place, e ast.Expr) ast.Expr {
	v := syntax.LocalVar(p, e)
	if v == nil || len(syntax.Uses(p, v)) != 2 {
		return ast.Unparen(e)
	}
	_, value := syntax.Declared(p, v)
	if value == nil {
		return e
	}
	return ast.Unparen(value)
}

// format reports whether a function of the package does nothing but format its parameters, so that
// different values have different texts: it returns a call of fmt.Sprint or of fmt.Sprintf with
// plain verbs.
func format(p *gocode.Place, fn *types.Func) bool {
	decl := p.Declaration(fn)
	if decl == nil || decl.Body == nil || len(decl.Body.List) != 1 {
		return false
	}
	ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return false
	}
	call, ok := ast.Unparen(ret.Results[0]).(*ast.CallExpr)
	if !ok {
		return false
	}
	args := call.Args
	switch p.CalleeName(call) {
	case "fmt.Sprintf":
		text, constant := syntax.ConstString(p, call.Args[0])
		if !constant || !plain(text) {
			return false
		}
		args = args[1:]
	case "fmt.Sprint":
	default:
		return false
	}
	in := p.Entry(decl)
	for _, arg := range args {
		if v, _ := syntax.Var(in, arg); v == nil || !syntax.Param(in, v) {
			return false
		}
	}
	return len(args) > 0
}

// plain reports whether a format leaves nothing out: it has no precision.
func plain(format string) bool {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		if i == len(format) || !strings.ContainsRune("dsvqxXtcU", rune(format[i])) {
			return false
		}
	}
	return true
}

// subjects returns what two calls of one function format, if all else is the same: one argument, or
// the receiver. Both are nil for others.
func subjects(p *gocode.Place, x, y *ast.CallExpr, method bool) (a, b ast.Expr) {
	all := func(c *ast.CallExpr) []ast.Expr {
		if method {
			return append([]ast.Expr{syntax.Receiver(c)}, c.Args...)
		}
		return c.Args
	}
	xs, ys := all(x), all(y)
	for i := range min(len(xs), len(ys)) {
		if constant, ok := p.Const(xs[i]); ok {
			if other, ok := p.Const(ys[i]); ok && constant.ExactString() == other.ExactString() {
				continue
			}
		}
		if syntax.Same(p, xs[i], ys[i]) {
			continue
		}
		if a != nil {
			return nil, nil
		}
		a, b = xs[i], ys[i]
	}
	return a, b
}

func (f *comparison) describe(c *finder.Case) {
	c.Confidence = rule.Likely // values that differ may have the same text
	c.Cause = fmt.Sprintf("%s and %s are formatted by %s only to be compared (%s): both texts are made in full, allocated and discarded, although the values could be compared part by part.",
		syntax.Text(f.a), syntax.Text(f.b), f.name, f.op)
	c.Fix = "Compare the values: " + f.advice(c.Place) + "."
}

// advice returns how to compare two values.
func (f *comparison) advice(p *gocode.Place) string {
	t := f.values
	if t == nil {
		t = p.TypeOf(f.a)
	}
	ordered := f.op != "==" && f.op != "!="
	methods := types.NewMethodSet(t)
	for _, name := range []string{"Equal", "Compare", "Cmp"} {
		// The package's own method may be what formats them.
		if m := methods.Lookup(p.Pkg, name); m != nil && m.Obj().Pkg() != p.Pkg && (name != "Equal" || !ordered) {
			return fmt.Sprintf("%s.%s(%s)", syntax.Text(f.a), name, syntax.Text(f.b))
		}
	}
	if _, pointer := t.Underlying().(*types.Pointer); !pointer && !types.IsInterface(t) && types.Comparable(t) && !ordered {
		return fmt.Sprintf("%s %s %s", syntax.Text(f.a), f.op, syntax.Text(f.b))
	}
	if name := equal(t); name != "" && !ordered {
		return fmt.Sprintf("%s(%s, %s)", name, syntax.Text(f.a), syntax.Text(f.b))
	}
	if ordered {
		return "a method Compare that compares the parts, the most significant first"
	}
	return "a method Equal that compares the parts, the most different one first (slices.Equal for lists)"
}

// equal returns the function that compares maps or lists of a type; "" if their elements cannot be
// compared by ==.
func equal(t types.Type) string {
	switch t := t.Underlying().(type) {
	case *types.Map:
		if types.Comparable(t.Elem()) {
			return "maps.Equal"
		}
	case *types.Slice:
		if types.Comparable(t.Elem()) {
			return "slices.Equal"
		}
	}
	return ""
}
