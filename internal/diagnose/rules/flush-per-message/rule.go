// Package flushpermessage finds loops over what is at hand that flush after each piece.
package flushpermessage

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is flush-per-message.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "flush-per-message",
		Kind:  rule.IO,
		Title: "Buffer flushed in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// n flushes become one, or one per full buffer; what is written stays.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 0.99},
				Specificity: 1,
			},
			Start: finder.Calls{Functions: []string{"bufio.(*Writer).Flush", "encoding/csv.(*Writer).Flush", "os.(*File).Sync"}},
			Judge: judge,
		},
	}
}

const doc = `A bufio.Writer saves system calls by not writing at once; a Flush
after each piece takes that back. File.Sync after each piece is even more
expensive: it waits for the disk.

When all pieces are at hand, and the loop does nothing else between them that
somebody could wait for, one Flush (and one Sync, if at all) after the loop
leaves the same bytes behind.

It is fine when each piece is awaited by the other side, or must be on the disk
before the next one starts: then batching is a decision about durability, and the
rule only says what it costs. It leaves loops alone that wait between their
iterations.

Seen in the field: SamSaffron/term-llm#571, lyft/gostats#32, coder/websocket#563
(half of a server's CPU in write calls).`

func judge(c *finder.Case) bool {
	var loop ast.Node
	ok := c.All(func(call *ast.CallExpr) bool {
		loop = loops.Repeating(c.Place, call)
		return loop != nil && !loops.Waits(c.Place, loop) && every(c.Place, loop, call) && loops.FromOutside(c.Place, loop, call.Fun)
	})
	if !ok {
		return false
	}
	call := c.Calls[0]
	c.Cause = fmt.Sprintf("The loop on line %d calls %s after each piece, though the next one is at hand: a system call per piece.", syntax.Line(c.Place, loop.Pos()), syntax.Text(call))
	c.Fix = fmt.Sprintf("Call %s once, after the loop.", syntax.Text(call))
	if strings.HasSuffix(c.Name(), "Sync") {
		c.Confidence = rule.Likely // each piece may have to be safe before the next
		c.Fix = fmt.Sprintf("Call %s once, after the loop, unless each piece must be on the disk before the next one starts.", syntax.Text(call))
	}
	return true
}

// every reports whether a call stands in the loop's body itself, not behind a condition that picks some
// iterations.
func every(p *gocode.Place, loop, call ast.Node) bool {
	var child ast.Node = call
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.IfStmt:
			if child == n.Body || child == n.Else {
				return false
			}
		case *ast.CaseClause, *ast.CommClause:
			return false
		}
		if n == loop {
			return true
		}
		child = n
	}
	return false
}
