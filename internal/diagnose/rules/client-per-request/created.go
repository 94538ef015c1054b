package clientperrequest

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/httpconn"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// creation is a node of the program that creates a transport each time that it is evaluated.
type creation struct {
	*gocode.Place
	node ast.Node
	what string
	counts.Executions
}

// created returns the line that creates most transports, if it does so on a hot path and clients
// dial. It does not depend on how the requests get their transport.
func created(p *rule.Pass, dials []*site.Row) finder.Line {
	if p.Counts == nil {
		return finder.Line{}
	}
	var most *creation
	for _, c := range creations(p.Syntax) {
		ran, ok := evidence.ExecutionsAt(p, c.Place, c.node.Pos())
		if !ok || !evidence.Hot(p, ran) || !loops.PerCall(c.Place, c.node) || most != nil && most.PerUnit >= ran.PerUnit {
			continue
		}
		c.Executions = ran
		most = &c
	}
	if most == nil || sent(p) > mostSent*most.PerUnit {
		return finder.Line{}
	}
	file := most.Fset.Position(most.node.Pos()).Filename
	at := func(r *site.Row) int {
		return slices.IndexFunc(r.Stack, func(f *site.Frame) bool {
			return f.Line == most.Line && f.Owner.Kind == gocode.Main && f.File == file
		})
	}
	judge := func(c *finder.Case) bool {
		httpconn.Blame(c, dials)
		c.Cause = fmt.Sprintf("%s creates an http.Transport (%s) each time it runs, %s per %s%s. Each has a pool of connections of its own: no request finds one that is open already, so each dials, and its connection stays idle until it times out.",
			syntax.FuncName(most.Place), most.what, evidence.Times(most.PerUnit), p.Manifest.Unit(), most.callers(p.Syntax))
		c.Fix = "Create the transport once, where its settings are known (when the program starts, or one for each target in a map), keep it in a field, and use it for all requests: it is safe for concurrent use."
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// mostSent is how many requests the program may send for each transport that it creates: one that
// serves a batch of requests keeps its connections during the batch.
const mostSent = 4

// sent returns how many requests the program sends for each unit of work, by the counted lines that
// send them.
func sent(p *rule.Pass) (perUnit float64) {
	senders := append(httpconn.Calls(), "net/http.(*Transport).RoundTrip", "net/http/httputil.(*ReverseProxy).ServeHTTP")
	seen := map[gocode.Pos]bool{}
	p.EachRow(func(r *site.Row) {
		for i, f := range r.Stack {
			if k := f.Owner.Kind; i == 0 || k != gocode.Main && k != gocode.Dependency || !funcname.Match(r.Stack[i-1].Function, senders...) {
				continue
			}
			if at := (gocode.Pos{File: f.File, Line: f.Line}); !seen[at] {
				seen[at] = true
				ran, _ := evidence.Executions(p, *f)
				perUnit += ran.PerUnit
			}
			return
		}
	})
	return perUnit
}

// creations returns what creates a transport in the main module.
func creations(s *gocode.Syntax) (all []creation) {
	for _, l := range s.Literals("net/http.Transport") {
		all = append(all, creation{Place: l.Place, node: l.Lit, what: fmt.Sprintf("line %d", l.Line)})
	}
	makes := func(name string) bool {
		return name == "(*net/http.Transport).Clone" || funcname.Match(name, constructors...)
	}
	for _, place := range s.Calls(func(fn *types.Func) bool { return makes(fn.FullName()) }) {
		for _, call := range place.Calls() {
			if name := place.CalleeName(call); makes(name) {
				all = append(all, creation{Place: place, node: call, what: fmt.Sprintf("%s on line %d", symbol.Short(name), place.Line)})
			}
		}
	}
	return all
}

// callers describes the places that call the function around a creation; "" if they are unknown or
// many.
func (c *creation) callers(s *gocode.Syntax) string {
	if c.Decl == nil {
		return ""
	}
	self := c.Info.Defs[c.Decl.Name]
	var where []string
	for _, from := range s.Calls(func(fn *types.Func) bool { return fn == self }) {
		where = append(where, fmt.Sprintf("line %d in %s", from.Line, syntax.FuncName(from)))
	}
	where = slices.Compact(where)
	if len(where) == 0 || len(where) > 3 {
		return ""
	}
	return ", called on " + funcname.List(where)
}
