// Package flushpermessage finds loops that flush a buffer after each piece although the next one is
// available.
package flushpermessage

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/durable"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// writers are functions that write out what a buffer holds; compressors end a block, too.
var (
	writers     = []string{"bufio.(*Writer).Flush", "encoding/csv.(*Writer).Flush", "os.(*File).Sync"}
	responses   = []string{"net/http.(*response).Flush*", "net/http.(*http2responseWriter).Flush*", "net/http.(*ResponseController).Flush"}
	compressors = []string{
		"compress/gzip.(*Writer).Flush", "compress/flate.(*Writer).Flush", "compress/zlib.(*Writer).Flush",
		"github.com/klauspost/compress/gzip.(*Writer).Flush", // which calls the one of its own flate, as that of zlib does
		"github.com/klauspost/compress/zlib.(*Writer).Flush", "github.com/klauspost/compress/zstd.(*Encoder).Flush",
		"github.com/klauspost/compress/s2.(*Writer).Flush", "github.com/klauspost/pgzip.(*Writer).Flush", "github.com/andybalholm/brotli.(*Writer).Flush",
	}
)

// Rule is flush-per-message.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "flush-per-message",
		Kind:  rule.IO,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Buffer flushed in every iteration of a loop",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// n flushes become one, or one per full buffer; the writes remain.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 1,
			},
			Start: finder.Callers{Functions: slices.Concat(writers, responses, compressors, durable.Transactions())},
			Judge: judge,
		},
	}
}

const doc = `A bufio.Writer saves system calls by delaying writes; a Flush after each piece
undoes that. File.Sync after each piece is even more expensive: it waits for the
disk. Flush of a compressor ends a block: what follows starts with new tables,
and the output grows. Flush of an HTTP response sends a chunk.

When all pieces are available, and the loop does not wait between them, one
Flush (and one Sync, if at all) after the loop writes the same bytes. A function
that writes one piece and flushes leaves no choice to a caller that has many: a
loop, or a function that writes the header and the body of a message. Where each
request syncs a file that others sync as well, one sync serves all of them.

It is fine when the other side waits for each piece, or when each piece must be
on the disk before the next one: batching is then a decision about durability,
and the rule only reports the cost. It leaves alone loops that wait between
iterations.

Seen in the field: SamSaffron/term-llm#571, lyft/gostats#32, coder/websocket#563
(half of a server's CPU in write calls), rabbitmq/amqp091-go#141 (a flush for
each of the three frames of a message).`

func judge(c *finder.Case) bool {
	if c.Calls = syntax.CallsOf(c.Place, funcname.TypedAll(durable.Transactions())...); len(c.Calls) > 0 {
		return loops.Repeating(c.Place, c.Calls[0]) == nil && perRequest(c)
	}
	c.Calls = syntax.CallsOf(c.Place, append(funcname.TypedAll(slices.Concat(writers, responses, compressors)), flusher)...)
	if len(c.Calls) == 0 { // deferred calls run at the line that returns
		c.Calls = deferred(c.Place)
		return len(c.Calls) > 0 && inCaller(c)
	}
	var loop ast.Node
	ok := c.All(func(call *ast.CallExpr) bool {
		if loop = loops.Repeating(c.Place, call); loop == nil {
			loop = loops.Each(c.Place)
		}
		return loop != nil && !loops.Waits(c.Place, loop) && every(c.Place, loop, call) && loops.FromOutside(c.Place, loop, flushed(c.Place, call))
	})
	if !ok {
		all := *c.Match
		if inCaller(c) {
			return true
		}
		*c.Match = all
		if inSequence(c) {
			return true
		}
		*c.Match = all
		return perRequest(c)
	}
	call := c.Calls[0]
	c.Cause = fmt.Sprintf("The loop on line %d calls %s after each piece, although the next one is available: a system call per piece.", syntax.Line(c.Place, loop.Pos()), syntax.Text(call))
	c.Fix = fmt.Sprintf("Call %s once, after the loop.", syntax.Text(call))
	if funcname.Match(c.Name(), funcname.TypedAll(compressors)...) {
		c.Confidence = rule.Likely // a reader may wait for each piece
		// The work of compressing the pieces themselves remains.
		c.Fraction = &rule.Fraction{Expect: 0.8, Low: 0.4, High: 0.97}
		c.Cause = fmt.Sprintf("The loop on line %d calls %s after each piece, although the next one is available: each call ends a block of the compressor, and each block has its own tables, so the text also compresses worse.",
			syntax.Line(c.Place, loop.Pos()), syntax.Text(call))
		c.Fix = fmt.Sprintf("Call %s once per batch, after the loop, if no reader waits for each piece.", syntax.Text(call))
	}
	if c.Name() == flusher || funcname.Match(c.Name(), funcname.TypedAll(responses)...) {
		c.Confidence = rule.Likely // the client may wait for each piece
	}
	if strings.HasSuffix(c.Name(), "Sync") {
		c.Confidence = rule.Likely // each piece may have to be durable before the next
		c.Fix = fmt.Sprintf("Call %s once, after the loop, unless each piece must be on the disk before the next one starts.", syntax.Text(call))
	}
	return true
}

// deferred returns the flush that a function defers.
func deferred(p *gocode.Place) (calls []*ast.CallExpr) {
	body := syntax.Body(p)
	if body == nil {
		return nil
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			if funcname.Match(p.CalleeName(n.Call), append(funcname.TypedAll(slices.Concat(writers, responses, compressors)), flusher)...) {
				calls = append(calls, n.Call)
			}
		}
		return true
	})
	return calls
}

// levels is how many callers away from the flush the loop may be.
const levels = 2

// inCaller judges a function that writes a piece and flushes, and that a loop of a caller calls for
// each piece.
func inCaller(c *finder.Case) bool {
	call := c.Calls[0]
	w := flushed(c.Place, call)
	if len(c.Calls) > 1 || len(loops.Around(c.Place, call)) > 0 || !every(c.Place, c.Place.Func, call) || answered(c.Place, call) {
		return false
	}
	var by loops.Caller
	c.Keep(func(r *site.Row) bool {
		at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return *f == c.Site.Frame })
		l, ok := loops.Calling(c.Pass.Syntax, r.Stack, at, levels)
		if !ok || loops.Waits(l.Place, l.Loop) || !every(l.Place, l.Loop, l.Call) || !l.Shares(c.Place, w) {
			return false
		}
		by = l
		return true
	})
	if c.Empty() {
		return false
	}
	c.Confidence = rule.Likely // the other side may wait for each piece
	c.Cause = fmt.Sprintf("%s calls %s after each piece, and the loop on line %d of %s calls it for each piece although the next one is available: a system call per piece.",
		syntax.FuncName(c.Place), syntax.Text(call), by.Line(), by.Name())
	c.Fix = fmt.Sprintf("Leave the flush to the caller: call %s once, after the loop on line %d of %s.", syntax.Text(call), by.Line(), by.Name())
	if funcname.Match(c.Name(), funcname.TypedAll(compressors)...) {
		c.Fraction = &rule.Fraction{Expect: 0.8, Low: 0.4, High: 0.97}
	}
	return true
}

// answered reports whether a function waits for an answer to what it flushes, by the names of what
// it calls then: without the flush, it would wait forever.
func answered(p *gocode.Place, flush *ast.CallExpr) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < flush.End() || p.Callee(call) == nil {
			return !found
		}
		name := p.Callee(call).Name()
		found = found || slices.ContainsFunc([]string{"Read", "Recv", "Receive", "Decode", "Discard", "Peek", "Scan"}, func(reads string) bool { return strings.HasPrefix(name, reads) })
		return !found
	})
	return found
}

// flusher is the method by which handlers flush a response.
const flusher = "(net/http.Flusher).Flush"

// flushed returns the expression that a call flushes: w of w.(http.Flusher).Flush(), too.
func flushed(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	to := syntax.Receiver(call)
	if to == nil {
		return call.Fun
	}
	if as, ok := syntax.Origin(p, to).(*ast.TypeAssertExpr); ok {
		return as.X
	}
	if v := syntax.LocalVar(p, to); v != nil {
		// f, ok := w.(http.Flusher)
		if a, ok := declaring(p, v).(*ast.AssignStmt); ok && len(a.Rhs) == 1 {
			if as, ok := ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr); ok {
				return as.X
			}
		}
	}
	return call.Fun
}

func declaring(p *gocode.Place, v *types.Var) ast.Node {
	stmt, _ := syntax.Declared(p, v)
	return stmt
}

// every reports whether a call is in the loop's body itself, not under a condition that selects
// some iterations: one that all iterations decide alike does not.
func every(p *gocode.Place, loop, call ast.Node) bool {
	var child ast.Node = call
	for _, n := range p.Enclosing(call) {
		switch n := n.(type) {
		case *ast.IfStmt:
			if (child == n.Body || child == n.Else) && !alike(p, loop, n) {
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

// alike reports whether a condition has the same value in each iteration: it asks only for what
// does not change in the loop, such as whether the writer is an http.Flusher. In a function that
// writes one piece, that question is about the writer alone.
func alike(p *gocode.Place, loop ast.Node, cond *ast.IfStmt) bool {
	if cond.Init == nil {
		if b, ok := ast.Unparen(cond.Cond).(*ast.BinaryExpr); ok && b.Op == token.NEQ && p.Info.Types[b.Y].IsNil() {
			return loops.Invariant(p, loop, b.X)
		}
		return loops.Steady(p, loop, cond.Cond)
	}
	a, ok := cond.Init.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 {
		return false
	}
	as, ok := ast.Unparen(a.Rhs[0]).(*ast.TypeAssertExpr)
	if _, asked := ast.Unparen(cond.Cond).(*ast.Ident); !ok || !asked {
		return false
	}
	return loops.Body(loop) == nil || loops.Invariant(p, loop, as.X)
}
