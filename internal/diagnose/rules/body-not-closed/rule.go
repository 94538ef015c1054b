// Package bodynotclosed finds responses of HTTP clients whose body is not closed on some path.
package bodynotclosed

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/httpconn"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
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
recording. It reports the call after which the code returns, or continues its
loop, without closing the body, and calls whose response is dropped; in modules,
those that wait for responses in the trace.

Seen in the field: OffchainLabs/nitro#3756, getsentry/sentry-go#316.`

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
	asks := func(fn *types.Func) bool { return answers(p, fn) }
	for _, place := range append(p.Syntax.Calls(asks), inModules(p)...) {
		for _, call := range syntax.Calls(place) {
			if !asks(place.Callee(call)) {
				continue
			}
			how := leaves(p, place, call)
			if how == "" {
				continue
			}
			at := place.Fset.Position(call.Pos())
			s := traced.SiteAt(p, exectrace.Line{Function: syntax.ProfileName(place), File: at.Filename, Line: at.Line})
			if s == nil || slices.ContainsFunc(matches, func(m rule.Match) bool { return m.Site.File == s.File && m.Site.Line == s.Line }) {
				continue
			}
			matches = append(matches, match(p, place, s, how))
		}
	}
	return matches
}

// inModules returns the lines of modules that the program depends on where goroutines wait for
// answers in the trace. Of the other calls in modules nothing shows that they run.
func inModules(p *rule.Pass) (places []*gocode.Place) {
	for _, l := range traced.Requesting(p) {
		s := traced.SiteAt(p, l)
		if s == nil || s.Owner.Kind != gocode.Dependency {
			continue
		}
		if place := p.Place(s); place != nil {
			places = append(places, place)
		}
	}
	return places
}

// match returns the match of a line after which a function leaves a body open, as how says.
func match(p *rule.Pass, place *gocode.Place, s *site.Site, how string) rule.Match {
	return rule.Match{
		Site:       s,
		Confidence: rule.Likely, // that bodies stay open is measured, that it is those of this line is not
		Cause: fmt.Sprintf("%s %s. %d connections of HTTP clients wait for their body to be closed, with two goroutines each, and most came during the recording (goroutines: %.0f at its start, %.0f at its end).",
			syntax.FuncName(place), how, p.OpenBodies, p.Goroutines.First, p.Goroutines.Last),
		Fix: "Defer resp.Body.Close() right after the check of the error, before any other return; read a small rest of the body first, so that the connection is used again.",
		Evidence: []rule.Evidence{{
			What: "connections that wait for a body to be read or closed", Value: fmt.Sprint(p.OpenBodies),
			Command: evidence.PartCommand(p, "goroutine", "net/http.(*persistConn).readLoop"),
		}},
	}
}

// answers reports whether a function returns a response, whose body its callers have to close: it
// sends a request with a client of net/http, or is a method of an interface or a function of the
// program or of a module that returns what a client returns.
func answers(p *rule.Pass, fn *types.Func) bool {
	if fn == nil || fn.Name() == "RoundTrip" {
		return false
	}
	if fn.Pkg() == nil || symbol.Standard(fn.Pkg().Path()) {
		return funcname.Match(fn.FullName(), funcname.TypedAll(httpconn.Calls())...)
	}
	results := fn.Signature().Results()
	if results.Len() == 0 || results.At(0).Type().String() != "*net/http.Response" {
		return false
	}
	in, ok := p.Syntax.Declared(fn)
	if !ok {
		return results.Len() <= 2
	}
	closes := false // itself: it returns the rest of the response
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Close" {
			body, ok := ast.Unparen(sel.X).(*ast.SelectorExpr)
			closes = closes || ok && body.Sel.Name == "Body"
		}
		return !closes
	})
	return !closes
}

// leaves says, for a sentence, how a function leaves a response open that a call returns: it drops
// the response, or returns or continues a loop without closing the body, where that ran while
// executions were counted. It is "" if the function closes the body, or passes the response or its
// body elsewhere before. After the call failed, there is no body. A function that returns the
// response may leave it open on another path, such as that of an unexpected status.
func leaves(pass *rule.Pass, p *gocode.Place, call *ast.CallExpr) string {
	if dropped(p, call) {
		return fmt.Sprintf("drops the response on line %d, so that nothing can close its body", syntax.Line(p, call.Pos()))
	}
	resp := syntax.Result(p, call)
	if resp == nil || !syntax.Local(p, resp) || syntax.IsResult(p, resp) || p.Func == nil || !syntax.Inside(p.Func, resp.Pos()) {
		return ""
	}
	closings, returned, ok := closings(p, call, resp)
	if !ok {
		return ""
	}
	unused := false // a path that closes nothing, and never ran
	open := func(n ast.Node) bool {
		ran, counted := evidence.ExecutionsAt(pass, p, n.Pos())
		if counted && ran.PerUnit == 0 {
			unused = unused || n.Pos() > call.End() && !onError(p, n, call, resp)
			return false
		}
		if returned && (!counted || returns(p, n, resp)) {
			return false
		}
		return n.Pos() > call.End() && !slices.ContainsFunc(closings, func(id *ast.Ident) bool { return id.Pos() < n.End() && (len(closings) > 1 || covers(p, id, n)) }) &&
			!onError(p, n, call, resp)
	}
	how := ""
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if how != "" {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == p.Func
		case *ast.ReturnStmt:
			if open(n) {
				how = fmt.Sprintf("returns on line %d without closing the body of the response", syntax.Line(p, n.Pos()))
			}
		case *ast.BranchStmt:
			loop := p.LoopAround(call)
			if n.Tok == token.CONTINUE && loop != nil && p.LoopAround(n) == loop && syntax.Inside(loop, resp.Pos()) && open(n) {
				how = fmt.Sprintf("continues its loop on line %d without closing the body of the response", syntax.Line(p, n.Pos()))
			}
		}
		return true
	})
	if how == "" && len(closings) == 0 && !returned && !unused {
		how = "never closes the body of the response"
	}
	return how
}

// dropped reports whether nothing gets the response that a call returns.
func dropped(p *gocode.Place, call *ast.CallExpr) bool {
	switch syntax.Parent(p, call).(type) {
	case *ast.ExprStmt, *ast.GoStmt:
		return true
	}
	id, ok := syntax.AssignedTo(p, call).(*ast.Ident)
	return ok && id.Name == "_"
}

// closings returns the uses of a response that close its body, or may do so, and whether the
// function returns the response; ok is false if it or its body goes elsewhere.
func closings(p *gocode.Place, call *ast.CallExpr, resp *types.Var) (found []*ast.Ident, returned, ok bool) {
	for _, id := range syntax.Uses(p, resp) {
		if id.Pos() < call.End() {
			continue
		}
		path := p.Enclosing(id)
		switch {
		case len(path) == 0:
			found = append(found, id) // in a function literal, which may close it
		case isReturn(path[0]):
			returned = true
		case !isSelector(path[0]):
			if _, compared := path[0].(*ast.BinaryExpr); !compared && !assigned(path[0], id) && !lookedAt(p, path[0], id) {
				return nil, false, false
			}
		case path[0].(*ast.SelectorExpr).Sel.Name == "Body":
			if httpconn.Closes(p, path) || handed(p, path) {
				found = append(found, id)
			} else if goesOn(path) {
				return nil, false, false
			}
		}
	}
	return found, returned, true
}

// lookedAt reports whether a response is an argument of a function of the same package that only
// looks at its status or header.
func lookedAt(p *gocode.Place, n ast.Node, id *ast.Ident) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	i := slices.Index(call.Args, ast.Expr(id))
	if decl == nil || decl.Body == nil || i < 0 || i >= fn.Signature().Params().Len() {
		return false
	}
	in := p.Entry(decl)
	for _, use := range syntax.Uses(in, fn.Signature().Params().At(i)) {
		path := in.Enclosing(use)
		if !syntax.Within(decl.Body, use) {
			continue // the declaration of the parameter
		}
		if len(path) == 0 || !isSelector(path[0]) || path[0].(*ast.SelectorExpr).Sel.Name == "Body" {
			return false
		}
		// A method of the response, such as Write, may read the body.
		if outer, ok := syntax.Parent(in, path[0]).(*ast.CallExpr); ok && outer.Fun == path[0] {
			return false
		}
	}
	return true
}

// covers reports whether code that closes the body has run when a statement after it runs: it is
// not under a condition that the statement is not under, other than that there is a response.
func covers(p *gocode.Place, closing *ast.Ident, stmt ast.Node) bool {
	var child ast.Node = closing
	for _, n := range p.Enclosing(closing) {
		if syntax.Within(n, stmt) {
			return true
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			if (child == n.Body || child == n.Else) && !aboutResponse(p, n.Cond) {
				return false
			}
		case *ast.CaseClause, *ast.CommClause:
			return false
		}
		child = n
	}
	return true
}

// aboutResponse reports whether a condition compares something with nil: an error, or the response.
func aboutResponse(p *gocode.Place, cond ast.Expr) (found bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			tv, ok := p.Info.Types[e]
			found = found || ok && tv.IsNil()
		}
		return !found
	})
	return found
}

// returns reports whether a statement returns a response itself.
func returns(p *gocode.Place, n ast.Node, resp *types.Var) bool {
	ret, ok := n.(*ast.ReturnStmt)
	return ok && slices.ContainsFunc(ret.Results, func(e ast.Expr) bool { return syntax.Named(p, e) == resp })
}

func isReturn(n ast.Node) bool {
	_, ok := n.(*ast.ReturnStmt)
	return ok
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

// onError reports whether a return statement is below a condition on the error that a call returns,
// and on nothing in the response.
func onError(p *gocode.Place, ret ast.Node, call *ast.CallExpr, resp *types.Var) bool {
	err := errorOf(p, call)
	for _, n := range p.Enclosing(ret) {
		cond, ok := n.(*ast.IfStmt)
		if !ok || err == nil {
			continue
		}
		mentions, looks := false, false
		ast.Inspect(cond.Cond, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				mentions = mentions || p.Object(n) == err
			case *ast.SelectorExpr:
				looks = looks || syntax.LocalVar(p, n.X) == resp // err != nil || resp.StatusCode != 200
			}
			return true
		})
		// The first check of this error: a later one belongs to another call that sets the same
		// variable.
		if mentions && !looks && !setBetween(p, call, cond, err) {
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
