// Package formatthenappend finds strings that are formatted only to be copied into a buffer.
package formatthenappend

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// formatter is a function that returns a new string and has a twin that appends.
type formatter struct {
	call string // as types write it
	row  string // as profiles write it
	twin string
}

var formatters = []formatter{
	{"strconv.Itoa", "strconv.Itoa", "strconv.AppendInt"},
	{"strconv.FormatInt", "strconv.FormatInt", "strconv.AppendInt"},
	{"strconv.FormatUint", "strconv.FormatUint", "strconv.AppendUint"},
	{"strconv.FormatFloat", "strconv.FormatFloat", "strconv.AppendFloat"},
	{"strconv.Quote", "strconv.Quote", "strconv.AppendQuote"},
	{"strconv.QuoteToASCII", "strconv.QuoteToASCII", "strconv.AppendQuoteToASCII"},
	{"(time.Time).Format", "time.Time.Format", "Time.AppendFormat"},
}

// Rule is format-then-append.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "format-then-append",
		Kind:  rule.Alloc,
		Title: "String formatted only to be copied into a buffer",
		Doc:   doc,
		// The rows are what the temporary string costs: its allocation, not the digits,
		// which the twin makes too. The rest pays for growing the buffer a little more.
		Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
		Specificity: 1,
		Find:        find,
	}
}

const doc = `strconv.Itoa, FormatFloat, Quote or Time.Format make a string on the heap. When
the next thing that happens to it is that it is appended, written or formatted
into something larger, the string was only a detour: every one of these
functions has a twin (AppendInt, AppendFloat, AppendQuote, AppendFormat) that
puts the digits straight into a []byte, for example
b.AvailableBuffer of a bytes.Buffer or bufio.Writer.

It is fine when the string is kept, returned, compared or used as a key. Small
numbers (0 to 99) are not allocated by Itoa at all; the rule speaks only where
the profile shows the allocation.

Seen in the field: quasilyte/go-perfguard#62, and the left-pad service of
"Profiling and optimizing Go web applications" (artem.krylysov.com, 2017).`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, s := range p.Table.Sites {
		for _, f := range formatters {
			m := rule.TakeCalls(s, f.row)
			m.CPU = rule.Rows(m.CPU, copying)
			if !allocated(m) {
				continue
			}
			place := p.Place(s)
			if place == nil {
				continue // without the source nothing is known of where the string goes
			}
			sink, ok := allSink(place, rule.CallsOf(place, f.call))
			if !ok {
				continue
			}
			m.Cause = fmt.Sprintf("%s makes a string that is only %s: it is allocated, copied once and thrown away.", f.call, sink)
			m.Fix = fmt.Sprintf("Append the digits straight to the buffer with %s.", f.twin)
			m.Confidence = p.Weigh(s, false)
			m.Evidence = p.Compiler(s)
			matches = append(matches, m)
		}
	}
	return matches, nil
}

// allocated tells whether the profile shows that the string is made on the heap:
// a short one that does not escape is made on the stack.
func allocated(m rule.Match) bool {
	return len(m.Allocs) > 0 || slices.ContainsFunc(m.CPU, func(r *site.Row) bool { return r.Class == site.Malloc })
}

// copying are the CPU rows of making the string from the digits.
func copying(r *site.Row) bool {
	return r.Class == site.Malloc || r.Class == site.Assist || r.Below("runtime.slicebytetostring")
}

// allSink tells whether the results of all calls go nowhere but into buffers,
// and how the first does.
func allSink(p *gocode.Place, calls []*ast.CallExpr) (string, bool) {
	var how string
	for _, call := range calls {
		f := flow{place: p, seen: map[types.Object]bool{}}
		if !f.sinks(call) {
			return "", false
		}
		if how == "" && len(f.ways) > 0 {
			slices.Sort(f.ways)
			how = rule.List(slices.Compact(f.ways))
		}
	}
	return how, how != ""
}

// flow follows a string through a function.
type flow struct {
	place *gocode.Place
	seen  map[types.Object]bool
	ways  []string // the sinks met
}

// sinks tells whether the value of e is copied into something and used in no
// other way.
func (f *flow) sinks(e ast.Expr) bool {
	var child ast.Node = e
	for _, parent := range f.place.Enclosing(e) {
		switch n := parent.(type) {
		case *ast.ParenExpr:
		case *ast.BinaryExpr:
			if n.Op != token.ADD {
				return false
			}
			// A concatenation holds a copy: what becomes of it decides whether the
			// bytes could have been put there at once.
		case *ast.CallExpr:
			done, ok := f.argument(n, child)
			if done {
				return ok
			}
		case *ast.AssignStmt:
			return f.assigned(n, child)
		case *ast.ValueSpec:
			for i, v := range n.Values {
				if v == child && len(n.Values) == len(n.Names) {
					return f.variable(n.Names[i])
				}
			}
			return false
		default:
			return false
		}
		child = parent
	}
	return false
}

// assigned follows a value into the variable that takes it.
func (f *flow) assigned(a *ast.AssignStmt, value ast.Node) bool {
	if len(a.Lhs) != len(a.Rhs) {
		return false
	}
	for i, rhs := range a.Rhs {
		if rhs == value {
			id, ok := ast.Unparen(a.Lhs[i]).(*ast.Ident)
			return ok && f.variable(id)
		}
	}
	return false
}

// variable tells whether a local variable is read only to be copied into a sink.
func (f *flow) variable(id *ast.Ident) bool {
	v, ok := f.place.Object(id).(*types.Var)
	if !ok || v.IsField() || v.Parent() == f.place.Pkg.Scope() || f.place.Decl == nil {
		return false
	}
	if rule.IsResult(f.place, v) {
		return false
	}
	if f.seen[v] {
		return true // s += x: the value flows back into s, whose uses are being looked at
	}
	f.seen[v] = true
	reads := 0
	for _, use := range rule.Uses(f.place, v) {
		if rule.Defines(f.place, use) {
			continue
		}
		if !f.sinks(use) {
			return false
		}
		reads++
	}
	return reads > 0
}

// argument tells what a call does with a value: ok when it copies it into a
// buffer; done is false for a conversion, whose result is to be followed.
func (f *flow) argument(call *ast.CallExpr, value ast.Node) (done, ok bool) {
	p := f.place
	if call.Fun == value {
		return true, false
	}
	if t, isConversion := p.Conversion(call); isConversion {
		_, slice := t.Underlying().(*types.Slice)
		return false, slice || rule.IsString(p, call)
	}
	name := p.CalleeName(call)
	switch {
	case name == "append":
		f.ways = append(f.ways, "appended to a slice")
		return true, call.Ellipsis.IsValid() && call.Args[len(call.Args)-1] == value
	case name == "copy":
		f.ways = append(f.ways, "copied")
		return true, len(call.Args) == 2 && call.Args[1] == value
	case rule.Named(name, "fmt.Sprint*", "fmt.Append*", "fmt.Fprint*", "log.Print*", "(*log.Logger).Print*"):
		f.ways = append(f.ways, "formatted into a larger string")
		return true, true
	case name == "io.WriteString":
		f.ways = append(f.ways, "written out")
		return true, len(call.Args) == 2 && call.Args[1] == value
	case writes(p, call, name):
		f.ways = append(f.ways, "written to a buffer or writer")
		return true, true
	}
	return true, false
}

// writes tells whether a call is a Write or WriteString with the signature of io.Writer's.
func writes(p *gocode.Place, call *ast.CallExpr, name string) bool {
	if !strings.HasSuffix(name, ").Write") && !strings.HasSuffix(name, ").WriteString") {
		return false
	}
	sig, ok := p.TypeOf(call.Fun).(*types.Signature)
	return ok && sig.Params().Len() == 1 && sig.Results().Len() == 2 &&
		types.Identical(sig.Results().At(0).Type(), types.Typ[types.Int])
}
