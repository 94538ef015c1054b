// Package bodynotdrained finds HTTP responses that are closed unread, which costs the connection.
package bodynotdrained

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is body-not-drained.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "body-not-drained",
		Kind:  rule.IO,
		Title: "Response body closed unread, so the connection is not used again",
		Doc:   doc,
		// The rows are all that the program spends on new connections; others may cause some of it.
		Fraction: rule.Fraction{Expect: 0.85, Low: 0.4, High: 1},
		Find:     find,
	}
}

const doc = `An HTTP/1 client can use a connection again only when the last response has been
read to its end. Body.Close before that closes the connection, and the next
request pays for a new one: the dial, perhaps a DNS query and a TLS handshake,
and two goroutines.

Read the rest before closing, up to a bound: io.CopyN(io.Discard, resp.Body,
64<<10), or io.Copy when the server is trusted.

It is fine when bodies are huge and not wanted: then closing is the cheaper way.
A body that is decoded to its end, or empty, needs nothing.

Seen in the field: google/go-github#317, drand/drand#386.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	dials := p.ClientDials()
	if len(dials) == 0 {
		return nil, nil // the connections are used again
	}
	s := rule.Search{Callees: rule.ClientCalls(), Judge: func(c *rule.Case) bool {
		if !c.All(func(call *ast.CallExpr) bool { return unread(c.Place, call) }) {
			return false
		}
		c.BlameDials(dials)
		c.Cause = fmt.Sprintf("%s closes the body of %s without reading it, which closes the connection: the next request dials again.", rule.FuncName(c.Place), rule.Text(c.Calls[0]))
		c.Fix = "Read the body to its end before closing it: io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))."
		return true
	}}
	return s.Find(p), nil
}

// unread reports whether the function closes the response of a call and never reads its body.
func unread(p *gocode.Place, call *ast.CallExpr) bool {
	resp := rule.Result(p, call)
	if resp == nil || !rule.Local(p, resp) {
		return false
	}
	closed := false
	for _, use := range rule.Uses(p, resp) {
		path := p.Enclosing(use)
		if len(path) < 1 {
			return false // in a closure: it may be read there
		}
		if sel, ok := path[0].(*ast.SelectorExpr); ok && sel.X == use {
			if sel.Sel.Name != "Body" {
				continue // the status, the header
			}
			if !closes(path) {
				return false
			}
			closed = true
			continue
		}
		switch n := path[0].(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) > 0 && n.Lhs[0] == use {
				continue // where it is made
			}
		case *ast.BinaryExpr:
			continue // compared with nil
		}
		return false
	}
	return closed
}

// closes reports whether resp.Body, whose path is given, is the receiver of Close.
func closes(path []ast.Node) bool {
	if len(path) < 3 {
		return false
	}
	sel, ok := path[1].(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Close" {
		return false
	}
	_, call := path[2].(*ast.CallExpr)
	return call
}
