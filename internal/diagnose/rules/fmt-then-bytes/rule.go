// Package fmtthenbytes finds text that is formatted into a string only to be converted to bytes or
// written.
package fmtthenbytes

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

var printers = []string{"fmt.Sprintf", "fmt.Sprint", "fmt.Sprintln"}

// Rule is fmt-then-bytes.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "fmt-then-bytes",
		Kind:  rule.Alloc,
		Title: "Text formatted into a string only to become bytes",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are those that allocate the string and copy it. Formatting directly to
				// the writer saves both, appending to nil saves one of the two.
				Fraction:    rule.Fraction{Expect: 0.75, Low: 0.45, High: 0.95},
				Specificity: 2,
			},
			Start: finder.Rows(take),
			Judge: guilty,
		},
	}
}

const doc = `fmt.Sprintf formats into a buffer and copies that into a new string. A
conversion to []byte copies the string again; w.Write and w.WriteString copy it
once more. The string itself is not needed.

fmt.Fprintf passes the formatted bytes directly to the writer; fmt.Appendf
appends them to a slice that can be reused.

It is fine where the string has other uses too; a variable that is only read
there makes no difference. Fprintf calls Write once, as the
original code does.

Seen in the field: the fmtappendf analyzer of
golang.org/x/tools/go/analysis/passes/modernize, and staticcheck's QF1012.`

// take returns the rows of the string and of the conversion: of the printer's cost, only the
// allocation of the string.
func take(s *site.Site) rule.Match {
	m := finder.Take(s, func(r *site.Row) bool {
		if stacks.Calls(r, "runtime.stringtoslicebyte*") {
			return true
		}
		if !stacks.Calls(r, printers...) {
			return false
		}
		// The printer's own frame is the last one outside of the runtime.
		for i := r.Owner - 2; i >= 0; i-- {
			if !strings.HasPrefix(r.Stack[i].Function, "runtime.") {
				return false
			}
		}
		return r.Owner == 1 || funcname.Match(r.Stack[r.Owner-2].Function, "runtime.slicebytetostring*")
	}, printers...)
	return m
}

func guilty(c *finder.Case) bool {
	p, m := c.Place, c.Match
	calls := syntax.CallsOf(p, printers...)
	if len(calls) == 0 {
		return false
	}
	converted := ast.Node(nil)
	for _, call := range calls {
		text := textOf(p, call)
		name := p.CalleeName(call)
		if cause, fix, ok := printed(p, text, name); ok {
			m.Cause, m.Fix = cause, fix
			continue
		}
		conversion, w := destination(p, text)
		if conversion == nil && w == nil {
			return false
		}
		if conversion != nil && syntax.Line(p, conversion.Pos()) == p.Line {
			converted = conversion
		}
		if w == nil {
			m.Cause = fmt.Sprintf("%s makes a string that is immediately copied into a []byte: two allocations for one text.", name)
			m.Fix = fmt.Sprintf("Use %s, with a slice that is reused if there is one.", strings.Replace(name, "Sprint", "Append", 1))
			continue
		}
		m.Cause = fmt.Sprintf("%s makes a string that is written to %s and discarded.", name, syntax.Text(w))
		m.Fix = fmt.Sprintf("Use %s(%s, …).", strings.Replace(name, "Sprint", "Fprint", 1), address(p, w))
	}
	m.Fix = safety.DestinationOf(p, calls).Advise(m.Fix)
	if converted != nil && syntax.AllocatesOnly(p, append(boxing(p, calls), converted)...) && !boxes(p, calls) {
		m.Allocs = append(m.Allocs, stacks.Select(m.Site.Allocs, stacks.Leaf)...)
	}
	return true
}

// boxing returns the calls as nodes.
func boxing(_ *gocode.Place, calls []*ast.CallExpr) (nodes []ast.Node) {
	for _, c := range calls {
		nodes = append(nodes, c)
	}
	return nodes
}

// boxes reports whether the line allocates memory for the printers' arguments.
func boxes(p *gocode.Place, calls []*ast.CallExpr) bool {
	for _, c := range calls {
		if len(syntax.Boxed(p, c)) > 0 {
			return true
		}
	}
	return false
}

// textOf returns the expression that stands for the text of a call: the call itself, or the only
// use of the variable that it is assigned to, if that runs as often.
func textOf(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	v := syntax.Result(p, call)
	if v == nil || !syntax.Local(p, v) || syntax.IsResult(p, v) || len(syntax.Assigned(p, v)) != 1 {
		return call
	}
	reads := syntax.Reads(p, v)
	if len(reads) != 1 || len(loops.Around(p, reads[0])) != len(loops.Around(p, call)) || !syntax.Inside(syntax.Body(p), reads[0].Pos()) {
		return call
	}
	for _, n := range p.Enclosing(reads[0]) {
		if lit, ok := n.(*ast.FuncLit); ok && lit != p.Func {
			return call
		}
	}
	return reads[0]
}

// destination returns the conversion to bytes whose operand is a text, and the writer that the text
// is written to; both nil when the string is needed.
func destination(p *gocode.Place, text ast.Expr) (conversion *ast.CallExpr, writer ast.Expr) {
	outer, ok := syntax.Parent(p, text).(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	if t, is := p.Conversion(outer); is {
		if !bytes(t) {
			return nil, nil
		}
		conversion = outer
		if outer, ok = syntax.Parent(p, conversion).(*ast.CallExpr); !ok {
			return conversion, nil
		}
		return conversion, written(p, outer, ".Write")
	}
	if p.CalleeName(outer) == "io.WriteString" && len(outer.Args) == 2 {
		return nil, outer.Args[0]
	}
	return nil, written(p, outer, ".WriteString")
}

// written returns the writer of a call w.Write(x) or w.WriteString(x).
func written(p *gocode.Place, call *ast.CallExpr, method string) ast.Expr {
	if !strings.HasSuffix(p.CalleeName(call), ")"+method) || len(call.Args) != 1 {
		return nil
	}
	w := syntax.Receiver(call)
	sig, ok := p.TypeOf(call.Fun).(*types.Signature)
	if w == nil || !ok || sig.Results().Len() != 2 || !writes(p.TypeOf(w)) {
		return nil
	}
	return w
}

// writes reports whether values of the type, or pointers to them, have the Write method of
// io.Writer.
func writes(t types.Type) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, "Write")
	fn, ok := obj.(*types.Func)
	return ok && fn.Signature().Params().Len() == 1 && bytes(fn.Signature().Params().At(0).Type())
}

// address returns a writer as an argument of Fprintf.
func address(p *gocode.Place, w ast.Expr) string {
	t := p.TypeOf(w)
	if _, ptr := t.Underlying().(*types.Pointer); !ptr && !types.IsInterface(t) {
		return "&" + syntax.Text(w)
	}
	return syntax.Text(w)
}

func bytes(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}
