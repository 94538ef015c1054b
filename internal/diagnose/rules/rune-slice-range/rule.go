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
	conv, fix := iterated(c.Place)
	if conv == nil {
		return false
	}
	if len(syntax.Calls(c.Place)) > 1 {
		*c.Match = finder.TakeCalls(c.Site, convert) // other calls on the line may allocate as well
	}
	c.Cause = fmt.Sprintf("%s decodes the whole string into a slice of four bytes per rune, and the slice is iterated over only once.", syntax.Text(conv))
	c.Fix = fix
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return true
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
