// Package bodynotclosed finds responses of HTTP clients whose body is not closed on some path.
package bodynotclosed

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/httpconn"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastOpen is the minimum number of connections that wait for a body to be closed; overClients
	// is the minimum per connection of the load, whose bodies may all be read at this moment.
	leastOpen   = 200
	overClients = 10
	// leastCame is the minimum part of their goroutines, two each, that came during the recording.
	leastCame = 0.5
)

// Rule is body-not-closed.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "body-not-closed",
		Kind:   rule.Leak,
		Title:  "Response body that is not closed keeps its connection",
		Doc:    doc,
		Urgent: true,
		Finder: finder.Program{Judge: find},
	}
}

const doc = `The body of a response must be closed, even if nobody reads it, and
whatever the status. Until then the connection is in use: its two goroutines,
its buffers (8 KiB), and a file descriptor stay, and the next request dials a
new connection. Often it is one path: a function returns early for a status that
is not 200, before the line that defers Close.

Defer resp.Body.Close() right after the check of the error. To use the
connection again, read a small rest of the body first: io.Copy(io.Discard,
io.LimitReader(resp.Body, 16<<10)).

It is fine to close later if other code reads the body. The rule counts
connections that wait for their body at the end of a recording of a service:
hundreds, and ten for each connection of the load, most of which came during the
recording. It reports the call after which the code returns without closing the
body.

Seen in the field: OffchainLabs/nitro#3756.`

func find(p *rule.Pass) []rule.Match {
	if p.Manifest == nil || p.Manifest.Target.Kind == "program" || p.Syntax == nil || p.OpenBodies < leastOpen {
		return nil
	}
	if l := p.Manifest.Load; l != nil && p.OpenBodies < int64(overClients*l.Connections) {
		return nil
	}
	if p.Goroutines.Last-p.Goroutines.First < 2*leastCame*float64(p.OpenBodies) {
		return nil
	}
	var matches []rule.Match
	asks := func(fn *types.Func) bool {
		return fn != nil && (funcname.Match(fn.FullName(), funcname.TypedAll(httpconn.Calls())...) || passes(p, fn))
	}
	for _, place := range p.Syntax.Calls(asks) {
		for _, call := range syntax.Calls(place) {
			if !asks(place.Callee(call)) {
				continue
			}
			line := leaves(place, call)
			if line == 0 {
				continue
			}
			at := place.Fset.Position(call.Pos())
			s := traced.SiteAt(p, exectrace.Line{Function: syntax.ProfileName(place), File: at.Filename, Line: at.Line})
			if s == nil {
				continue
			}
			matches = append(matches, rule.Match{
				Site:       s,
				Confidence: rule.Likely, // that bodies stay open is measured, that it is those of this line is not
				Cause: fmt.Sprintf("%s returns on line %d without closing the body of the response. %d connections of HTTP clients wait for their body to be closed, with two goroutines each, and most came during the recording (goroutines: %.0f at its start, %.0f at its end).",
					syntax.FuncName(place), line, p.OpenBodies, p.Goroutines.First, p.Goroutines.Last),
				Fix: "Defer resp.Body.Close() right after the check of the error, before any other return; read a small rest of the body first, so that the connection is used again.",
				Evidence: []rule.Evidence{{
					What: "connections that wait for a body to be read or closed", Value: fmt.Sprint(p.OpenBodies),
					Command: evidence.PartCommand(p, "goroutine", "net/http.(*persistConn).readLoop"),
				}},
			})
		}
	}
	return matches
}

// passes reports whether a function of the program returns a response, whose body its callers have
// to close.
func passes(p *rule.Pass, fn *types.Func) bool {
	results := fn.Signature().Results()
	if results.Len() == 0 || results.At(0).Type().String() != "*net/http.Response" || fn.Name() == "RoundTrip" {
		return false
	}
	_, ok := p.Syntax.Declared(fn)
	return ok
}

// leaves returns the line of the first return statement after a call that returns a response that
// the function reaches without closing the body; 0 if there is none, or if the response or its body
// is passed elsewhere before. After the call failed, there is no body.
func leaves(p *gocode.Place, call *ast.CallExpr) int {
	resp := syntax.Result(p, call)
	if resp == nil || !syntax.Local(p, resp) {
		return 0
	}
	var closed *ast.Ident // the first use that closes the body, or may do so
	for _, id := range syntax.Uses(p, resp) {
		if id.Pos() < call.End() {
			continue
		}
		path := p.Enclosing(id)
		closing := false
		switch {
		case len(path) == 0:
			closing = true // in a function literal, which may close it
		case !isSelector(path[0]):
			if _, compared := path[0].(*ast.BinaryExpr); !compared && !assigned(path[0], id) {
				return 0 // the response goes elsewhere
			}
		case path[0].(*ast.SelectorExpr).Sel.Name == "Body":
			if closing = httpconn.Closes(p, path) || handed(p, path); !closing && goesOn(path) {
				return 0
			}
		}
		if closing && (closed == nil || id.Pos() < closed.Pos()) {
			closed = id
		}
	}
	line := 0
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if line == 0 && n.Pos() > call.End() && (closed == nil || n.Pos() < closed.Pos()) && !onError(p, n, call) {
				line = syntax.Line(p, n.Pos())
			}
		}
		return line == 0
	})
	return line
}

func isSelector(n ast.Node) bool {
	_, ok := n.(*ast.SelectorExpr)
	return ok
}

// assigned reports whether an identifier is on the left of an assignment.
func assigned(n ast.Node, id *ast.Ident) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, lhs := range a.Lhs {
		if lhs == ast.Expr(id) {
			return true
		}
	}
	return false
}

// handed reports whether resp.Body, whose path is given, is an argument of a function that may
// close it: any but those of the standard library, which read.
func handed(p *gocode.Place, path []ast.Node) bool {
	if len(path) < 2 {
		return false
	}
	call, ok := path[1].(*ast.CallExpr)
	if !ok || call.Fun == path[0] {
		return false
	}
	fn := p.Callee(call)
	return fn == nil || fn.Pkg() == nil || !symbol.Standard(fn.Pkg().Path())
}

// goesOn reports whether resp.Body itself is returned, stored, or wrapped in a value, so that other
// code closes it.
func goesOn(path []ast.Node) bool {
	if len(path) < 2 {
		return true
	}
	switch path[1].(type) {
	case *ast.ReturnStmt, *ast.AssignStmt, *ast.KeyValueExpr, *ast.CompositeLit:
		return true
	}
	return false
}

// onError reports whether a return statement is below a condition on the error that a call returns.
func onError(p *gocode.Place, ret ast.Node, call *ast.CallExpr) bool {
	err := errorOf(p, call)
	for _, n := range p.Enclosing(ret) {
		cond, ok := n.(*ast.IfStmt)
		if !ok || err == nil {
			continue
		}
		mentions := false
		ast.Inspect(cond.Cond, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			mentions = mentions || ok && p.Object(id) == err
			return !mentions
		})
		// The first check of this error: a later one belongs to another call that sets the same
		// variable.
		if mentions && !setBetween(p, call, cond, err) {
			return true
		}
	}
	return false
}

// errorOf returns the variable that the error of a call is assigned to; nil for none.
func errorOf(p *gocode.Place, call *ast.CallExpr) (err types.Object) {
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && len(a.Rhs) == 1 && ast.Unparen(a.Rhs[0]) == ast.Expr(call) && len(a.Lhs) == 2 {
			if id, ok := a.Lhs[1].(*ast.Ident); ok {
				err = p.Object(id)
			}
		}
		return err == nil
	})
	return err
}

// setBetween reports whether a variable is set again between a call and a statement.
func setBetween(p *gocode.Place, call *ast.CallExpr, stmt ast.Node, v types.Object) bool {
	set := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || a.Pos() <= call.End() || a.Pos() >= stmt.End() {
			return true
		}
		for _, lhs := range a.Lhs {
			if id, ok := lhs.(*ast.Ident); ok && p.Object(id) == v {
				set = true
			}
		}
		return true
	})
	return set
}
