// Package bodynotdrained finds HTTP responses that are closed without reading the body, which
// closes the connection.
package bodynotdrained

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/httpconn"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is body-not-drained.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "body-not-drained",
		Kind:  rule.IO,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Response body closed unread, so the connection is not reused",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are all CPU that the program spends on new connections; other requests
				// may cause some of it.
				Fraction: rule.Fraction{Expect: 0.85, Low: 0.4, High: 1},
			},
			Prepare: prepare,
		},
	}
}

const doc = `An HTTP/1 client can reuse a connection only after the last response has been
read to its end. If Body.Close is called before that, it closes the connection,
and the next request pays for a new one: the dial, perhaps a DNS query and a TLS
handshake, and two goroutines.

Often it is only one path that does not read: a function that decodes answers
returns early for a 404, whose body is a page. The rule counts how often.

Read the rest before closing, up to a bound: io.CopyN(io.Discard, resp.Body,
64<<10), or io.Copy when the server is trusted.

It is fine when bodies are large and not needed: closing is cheaper then. A body
that is empty, or decoded to its end, needs no draining.

Seen in the field: google/go-github#317, drand/drand#386.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	dials := httpconn.Dials(p)
	if len(dials) == 0 {
		return finder.Line{} // the connections are used again
	}
	s := &search{pass: p, client: httpconn.Calls(), known: map[gocode.Pos]verdict{}, early: map[gocode.Pos]early{}}
	judge := func(c *finder.Case) bool {
		httpconn.Blame(c, dials)
		if e, ok := s.early[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]; ok {
			e.describe(c)
			return true
		}
		c.Cause = fmt.Sprintf("%s closes the response body from line %d without reading it. That closes the connection, and the next request dials a new one.", syntax.FuncName(c.Place), c.Place.Line)
		c.Fix = "Read the body to its end before closing it: io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))."
		return true
	}
	return finder.Line{Start: finder.Frames(s.caller), Judge: judge}
}

// search caches verdicts by line.
type search struct {
	pass   *rule.Pass
	client []string // the functions of net/http that send a request
	known  map[gocode.Pos]verdict
	early  map[gocode.Pos]early // of the lines whose functions read most responses
}

// verdict is what a line does with the response that its call returns.
type verdict int

const (
	other   verdict = iota + 1 // reads it, or unknown
	passes                     // returns it to its caller
	unreads                    // closes it unread
)

// mostWrappers is the number of nested functions that only return a response up to which they are
// followed.
const mostWrappers = 4

// caller returns the index of the frame that closes a client's response without reading it: the
// line that calls the client, or one that calls a function which returns the response.
func (s *search) caller(r *site.Row) int {
	at := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, s.client...) })
	if at < 0 {
		return -1
	}
	for at+1 < len(r.Stack) && funcname.Match(r.Stack[at+1].Function, s.client...) {
		at++ // Get calls Do
	}
	for i := at + 1; i < len(r.Stack) && i <= at+mostWrappers; i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			return -1
		}
		switch s.look(f) {
		case unreads:
			return i
		case other:
			return -1
		}
	}
	return -1
}

func (s *search) look(f *site.Frame) verdict {
	pos := gocode.Pos{File: f.File, Line: f.Line}
	if v, ok := s.known[pos]; ok {
		return v
	}
	v := other
	if s.pass.Syntax != nil {
		if place, ok := s.pass.Syntax.At(f.File, f.Line); ok {
			v = s.judge(place, f)
		}
	}
	s.known[pos] = v
	return v
}

// judge examines the statement of a line whose call returns a response.
func (s *search) judge(p *gocode.Place, f *site.Frame) verdict {
	v := other
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if n == nil || syntax.Line(p, n.Pos()) > p.Line || syntax.Line(p, n.End()) < p.Line {
			return false
		}
		switch n := n.(type) {
		case *ast.ReturnStmt:
			if returnsResponse(p) {
				v = passes
			}
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				resp := syntax.LocalVar(p, lhs)
				if resp == nil || !isResponse(resp.Type()) {
					continue
				}
				switch {
				case unread(p, resp):
					v = unreads
				case returnsResponse(p):
					v = passes
				default:
					if e, ok := earlyReturn(s.pass, p, f, resp); ok {
						s.early[gocode.Pos{File: f.File, Line: f.Line}] = e
						v = unreads
					}
				}
			}
		}
		return true
	})
	return v
}

func isResponse(t types.Type) bool { return t.String() == "*net/http.Response" }

// returnsResponse reports whether the function of a place returns a response.
func returnsResponse(p *gocode.Place) bool {
	if p.Decl == nil || p.Decl.Type.Results == nil || p.Func != p.Decl {
		return false
	}
	for _, r := range p.Decl.Type.Results.List {
		if t := p.TypeOf(r.Type); t != nil && isResponse(t) {
			return true
		}
	}
	return false
}

// unread reports whether the function closes a response and never reads its body.
func unread(p *gocode.Place, resp *types.Var) bool {
	if !syntax.Local(p, resp) {
		return false
	}
	closed := false
	for _, use := range syntax.Uses(p, resp) {
		path := p.Enclosing(use)
		if len(path) < 1 {
			return false // in a closure, which may read it
		}
		if sel, ok := path[0].(*ast.SelectorExpr); ok && sel.X == use {
			if sel.Sel.Name != "Body" {
				continue // the status, the header
			}
			if !httpconn.Closes(p, path) {
				return false
			}
			closed = true
			continue
		}
		switch n := path[0].(type) {
		case *ast.AssignStmt:
			if slices.Contains(n.Lhs, ast.Expr(use)) {
				continue // the assignment of the response
			}
		case *ast.BinaryExpr:
			continue // compared with nil
		case *ast.CallExpr:
			if httpconn.ClosesIn(p, n, use) {
				closed = true
				continue
			}
		}
		return false
	}
	return closed
}
