// Package runeslicerange finds strings that are converted to []rune only to be iterated over.
package runeslicerange

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const convert = "runtime.stringtoslicerune"

// Rule is rune-slice-range.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "rune-slice-range",
		Kind:  rule.CPU,
		Title: "String converted to []rune only to be iterated over",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are the conversion. The loop over the string does the decoding, about
				// half of it, instead: 280 ns became 129 for the whole loop over 42 bytes.
				Fraction:    rule.Fraction{Expect: 0.65, Low: 0.4, High: 0.9},
				Specificity: 1,
			},
			Start: finder.Sites(func(s *site.Site) rule.Match { return finder.TakeCallsAndOwn(s, convert) }),
			Judge: judge,
		},
	}
}

const doc = `[]rune(s) goes through the string once to count and once to decode, into four
bytes per rune; beyond 32 runes the slice is on the heap. A range over the string
itself decodes rune by rune and needs no memory. For the first rune alone, use
utf8.DecodeRuneInString.

It is fine when runes are indexed, changed or counted from the end. The index of
a range over a string counts bytes, not runes, so the rule reports only loops that
do not use the index.

Seen in the field: often enough for staticcheck's check SA6003.`

func judge(c *finder.Case) bool {
	used := "iterated over only once"
	conv, fix := iterated(c.Place)
	if conv == nil {
		if conv = shortened(c.Place); conv == nil {
			return false
		}
		used = "only cut"
		fix = fmt.Sprintf("Range over %[1]s and count its characters until the cut: the index of that one, i, cuts the string without a copy, as %[1]s[:i].", syntax.Text(conv.Args[0]))
	}
	if len(syntax.Calls(c.Place)) > 1 {
		*c.Match = finder.TakeCalls(c.Site, convert) // other calls on the line may allocate as well
	}
	c.Cause = fmt.Sprintf("%s decodes the whole string into a slice of four bytes per rune, and the slice is %s.", syntax.Text(conv), used)
	c.Fix = fix
	if by, text := again(c, conv); by != nil {
		c.Cause += fmt.Sprintf(" The loop on line %d of %s calls %s for the same text in each iteration: the time grows with the square of its length.", by.Line(), by.Name(), syntax.FuncName(c.Place))
		c.Fix = fmt.Sprintf("Convert %s once before the loop on line %d of %s, and pass the slice to %s. Or: %s", text, by.Line(), by.Name(), syntax.FuncName(c.Place), fix)
	}
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return true
}

// again returns the loop of a caller that passes the same text for the parameter that a call
// converts, and that text; nil when there is none.
func again(c *finder.Case, conv *ast.CallExpr) (by *loops.Caller, text string) {
	param := syntax.LocalVar(c.Place, conv.Args[0])
	i := syntax.ParamIndex(syntax.SignatureOf(c.Place), param)
	if param == nil || i < 0 {
		return nil, ""
	}
	for _, r := range append(c.CPU[:len(c.CPU):len(c.CPU)], c.Allocs...) {
		l, ok := loops.Calling(c.Pass.Syntax, r.Stack, r.Owner, 1)
		if !ok || !l.Direct || i >= len(l.Call.Args) || !l.Shares(c.Place, conv.Args[0]) {
			continue
		}
		passed := l.Call.Args[i]
		if v := syntax.LocalVar(l.Place, passed); v != nil && !syntax.Changes(l.Place, l.Loop, v) {
			return &l, syntax.Text(passed)
		}
	}
	return nil, ""
}

// iterated returns a conversion on the line whose result is only ranged over, or indexed with 0,
// and the fix.
func iterated(p *gocode.Place) (*ast.CallExpr, string) {
	for _, call := range syntax.Calls(p) {
		if !toRunes(p, call) {
			continue
		}
		s := syntax.Text(call.Args[0])
		switch use := user(p, call).(type) {
		case *ast.RangeStmt:
			if blank(use.Key) {
				return call, fmt.Sprintf("Range over %s itself: it yields the same runes without the slice.", s)
			}
		case *ast.IndexExpr:
			if v, ok := p.Const(use.Index); ok && constant.Compare(v, token.EQL, constant.MakeInt64(0)) {
				return call, fmt.Sprintf("Take the first rune with utf8.DecodeRuneInString(%s).", s)
			}
		}
	}
	return nil, ""
}

// shortened returns a conversion on the line of whose result only parts are used, as strings:
// string([]rune(s)[:n]).
func shortened(p *gocode.Place) *ast.CallExpr {
	for _, call := range syntax.Calls(p) {
		if !toRunes(p, call) {
			continue
		}
		if cut(p, call) {
			return call
		}
		v := syntax.Result(p, call)
		if v == nil || !syntax.Local(p, v) || syntax.IsResult(p, v) || len(syntax.Assigned(p, v)) != 1 {
			continue
		}
		cuts, only := false, true
		for _, id := range syntax.Reads(p, v) {
			length, ok := syntax.Parent(p, id).(*ast.CallExpr)
			switch {
			case ok && p.CalleeName(length) == "len":
			case cut(p, id):
				cuts = true
			default:
				only = false
			}
		}
		if cuts && only {
			return call
		}
	}
	return nil
}

// cut reports whether a slice of runes is sliced and the part converted to a string at once.
func cut(p *gocode.Place, runes ast.Expr) bool {
	part, ok := syntax.Parent(p, runes).(*ast.SliceExpr)
	if !ok || ast.Unparen(part.X) != runes {
		return false
	}
	conv, ok := syntax.Parent(p, part).(*ast.CallExpr)
	if !ok {
		return false
	}
	_, conversion := p.Conversion(conv)
	return conversion && syntax.IsString(p, conv)
}

// toRunes reports whether a call is the conversion of a string to []rune.
func toRunes(p *gocode.Place, call *ast.CallExpr) bool {
	t, ok := p.Conversion(call)
	if !ok || len(call.Args) != 1 || !syntax.IsString(p, call.Args[0]) {
		return false
	}
	slice, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := slice.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Int32
}

// user returns the statement or expression that uses a conversion, directly or through a
// variable with one use.
func user(p *gocode.Place, e ast.Expr) ast.Node {
	for _, n := range p.Enclosing(e) {
		switch n := n.(type) {
		case *ast.ParenExpr:
			continue
		case *ast.RangeStmt:
			if ast.Unparen(n.X) == e {
				return n
			}
		case *ast.IndexExpr:
			if ast.Unparen(n.X) == e {
				return n
			}
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
				return nil
			}
			id, ok := n.Lhs[0].(*ast.Ident)
			if !ok {
				return nil
			}
			v, ok := p.Object(id).(*types.Var)
			if uses := syntax.Uses(p, v); ok && syntax.Local(p, v) && len(uses) == 2 && uses[0] == id {
				if r, ok := user(p, uses[1]).(*ast.RangeStmt); ok && len(loops.Around(p, r)) == len(loops.Around(p, n)) {
					return r
				}
			}
		}
		return nil
	}
	return nil
}

func blank(key ast.Expr) bool {
	id, ok := key.(*ast.Ident)
	return key == nil || ok && id.Name == "_"
}
