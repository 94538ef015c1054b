// Package jointhenwrite finds strings that are concatenated or joined only to be copied into a
// buffer.
package jointhenwrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/safety"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	concat = "runtime.concatstring*"
	join   = "strings.Join"
)

// Rule is join-then-write.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "join-then-write",
		Kind:  rule.Alloc,
		Title: "String put together only to be copied into a buffer",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows allocate the string and copy its parts. The parts have to be copied into
				// the buffer, as the string was.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.95},
				Specificity: 0, // rules about loops and queries give better advice
			},
			Start: finder.Rows(take),
			Judge: judge,
		},
	}
}

const doc = `A row of a table, a line of a log or an object of an encoder is put together as
a string: "'" + name + "'", strings.Join of the row's values. Then the string is
appended to a list that is joined, or written to a buffer, and dropped. Each of
its bytes is copied two or three times, into memory that is garbage at once.

Let the function that makes the string append to the buffer instead: pass it a
[]byte and return the longer one, or a *bytes.Buffer, *bufio.Writer or
*strings.Builder. Numbers and times have variants that append (AppendInt,
AppendFormat). Keep the buffer for the next use.

It is fine where the string has other uses, or is short and made seldom. The
rule follows strings through variables, lists of strings, and functions that
return them, and reports those that are only copied.

Seen in the field: kube-reporting/metering-operator#325 (values of a statement),
golang/go#49546 (a method of strings.Builder that joins, proposed).`

// take returns the rows of concatenations and joins, and what the line allocates itself.
func take(s *site.Site) rule.Match {
	m := finder.TakeCalls(s, concat, join)
	m.Callees = nil
	if own := finder.TakeOwn(s); len(own.Allocs) > 0 {
		m.Allocs = append(m.Allocs, own.Allocs...)
	}
	return m
}

func judge(c *finder.Case) bool {
	p := c.Place
	texts, joins := concatenations(p), syntax.CallsOf(p, join)
	made := texts
	for _, call := range joins {
		made = append(made, call)
	}
	if len(made) == 0 {
		return false
	}
	sink, far, ok := flow.CopiedFar(c.Pass.Syntax, p, made)
	if !ok || strings.Contains(sink, "formatted into") || slices.ContainsFunc(made, func(e ast.Expr) bool { return early(p, e) }) {
		return false
	}
	alone := len(texts) > 0 && !slices.ContainsFunc(syntax.Allocating(p), func(n ast.Node) bool {
		return !slices.ContainsFunc(texts, func(e ast.Expr) bool { return syntax.Within(e, n) })
	})
	c.Keep(func(r *site.Row) bool { return !stacks.Leaf(r) || alone })
	if bytes, _ := stacks.Sum(c.Allocs); bytes == 0 {
		return false // the compiler keeps a short string on the stack
	}
	what := "A concatenation"
	if len(texts) == 0 {
		what = "strings.Join"
	}
	c.Confidence = rule.Likely // no syntax shows what the buffer's growth costs
	c.Cause = fmt.Sprintf("%s in %s makes a string that is only %s, and then discarded: its bytes are copied once more than needed, into memory that is garbage at once.",
		what, syntax.FuncName(p), sink)
	c.Fix = "Append the parts directly to the buffer, and numbers with strconv.AppendInt and its like; keep the buffer for the next use."
	if far {
		c.Fix = fmt.Sprintf("Let %s append the parts to a buffer that it gets (a []byte that it returns longer, a *bytes.Buffer or *bufio.Writer), and numbers with strconv.AppendInt and its like; keep the buffer for the next use.",
			syntax.FuncName(p))
	}
	for _, e := range made {
		if s := safety.Destination(p, e); s != safety.NoSink {
			c.Fix = s.Advise(c.Fix)
			break
		}
	}
	c.Evidence = evidence.Compiler(c.Pass, c.Site)
	return true
}

// early reports whether a string is given to a variable that only a branch after it uses: what it
// is put together from may change before.
func early(p *gocode.Place, e ast.Expr) bool {
	v := syntax.LocalVar(p, syntax.AssignedTo(p, e))
	if v == nil {
		return false
	}
	for _, id := range syntax.Reads(p, v) {
		for _, n := range p.Outer().Enclosing(id) {
			if block, ok := n.(*ast.BlockStmt); ok {
				if !syntax.Within(block, e) {
					return true
				}
				break
			}
		}
	}
	return false
}

// concatenations returns the outermost concatenations on the line that are not constant and do not
// grow a variable, which concat-loop reports.
func concatenations(p *gocode.Place) (found []ast.Expr) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		e, ok := n.(*ast.BinaryExpr)
		if !ok || e.Op != token.ADD || !syntax.IsString(p, e) {
			return true
		}
		if syntax.Line(p, e.OpPos) != p.Line && syntax.Line(p, e.Pos()) != p.Line {
			return true
		}
		if _, constant := p.Const(e); !constant {
			found = append(found, e)
		}
		return false
	})
	return found
}
