// Package flushpermessage finds loops that flush a buffer after each piece although the next one is
// available.
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
				// n flushes become one, or one per full buffer; the writes remain.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 0.99},
				Specificity: 1,
			},
			Start: finder.Calls{Functions: []string{"bufio.(*Writer).Flush", "encoding/csv.(*Writer).Flush", "os.(*File).Sync"}},
			Judge: judge,
		},
	}
}

const doc = `A bufio.Writer saves system calls by delaying writes; a Flush after each piece
undoes that. File.Sync after each piece is even more expensive: it waits for the
disk.

When all pieces are available, and the loop does not wait between them, one
Flush (and one Sync, if at all) after the loop writes the same bytes.

It is fine when the other side waits for each piece, or when each piece must be
on the disk before the next one: batching is then a decision about durability,
and the rule only reports the cost. It leaves alone loops that wait between
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
	c.Cause = fmt.Sprintf("The loop on line %d calls %s after each piece, although the next one is available: a system call per piece.", syntax.Line(c.Place, loop.Pos()), syntax.Text(call))
	c.Fix = fmt.Sprintf("Call %s once, after the loop.", syntax.Text(call))
	if strings.HasSuffix(c.Name(), "Sync") {
		c.Confidence = rule.Likely // each piece may have to be durable before the next
		c.Fix = fmt.Sprintf("Call %s once, after the loop, unless each piece must be on the disk before the next one starts.", syntax.Text(call))
	}
	return true
}

// every reports whether a call is in the loop's body itself, not under a condition that selects
// some iterations.
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
