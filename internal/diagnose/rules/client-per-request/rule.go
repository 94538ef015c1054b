// Package clientperrequest finds HTTP transports that are created for one request.
package clientperrequest

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

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

// Rule is client-per-request.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "client-per-request",
		Kind:  rule.IO,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "HTTP transport created for each request",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				Removes: true,
				// The rows are all CPU that the program spends on new connections; other requests
				// may cause some of it.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `An http.Transport is a pool of connections. One that is created for one call
dials, does the TLS handshake and starts two goroutines. They stay with an idle
connection that nothing will use until the server closes it.

Create the http.Client once, in a package variable or the struct that needs it.
It is safe for concurrent use. For many concurrent requests to one host raise
MaxIdleConnsPerHost; the default is 2.

The rule follows functions of the program that return a client, or something
that holds one, or that are passed one, and knows constructors of resty, req and
retryablehttp. Where it does not find the request that way (a ReverseProxy, a
factory, a chain of RoundTrippers), it reports the line that creates transports
for requests, as counted.

It is fine for one request per program, and where each tenant has certificates
of its own (keep one client per tenant then). A new http.Client without a
Transport is cheap: all of them share http.DefaultTransport.

Seen in the field: mendersoftware/deviceauth#406, sourcegraph/go-sourcegraph#41,
hashicorp/consul#14521 (a proxy for metrics).`

// levels is how many callers away from the request the client may be created.
const levels = 4

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	dials := httpconn.Dials(p)
	if len(dials) == 0 {
		return finder.Line{}
	}
	lines := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *made { return look(p.Syntax, place) })
	at := func(r *site.Row) int {
		i := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, httpconn.Calls()[:5]...) })
		if i < 0 {
			return -1
		}
		for i+1 < len(r.Stack) && funcname.Match(r.Stack[i+1].Function, httpconn.Calls()...) {
			i++ // Get calls Do
		}
		first := i + 1
		for i, end := first, min(len(r.Stack), first+levels); i < end; i++ {
			k := r.Stack[i].Owner.Kind
			if (k == gocode.Main || k == gocode.Dependency) && lines.At(r.Stack[i]) != nil && (i == first || often(p, r.Stack[first], r.Stack[i])) {
				return i
			}
		}
		return -1
	}
	if !selects(p, at) {
		return created(p, dials)
	}
	judge := func(c *finder.Case) bool {
		m := lines.At(&c.Site.Frame)
		if m == nil {
			return false
		}
		httpconn.Blame(c, dials)
		c.Cause = fmt.Sprintf("%s creates an http.Transport (line %d) for its request. The connection is dialled for one use, and its goroutines are left behind.",
			syntax.FuncName(c.Place), syntax.Line(c.Place, m.at.Pos()))
		if m.through != "" {
			c.Cause = fmt.Sprintf("%s calls %s (line %d), which creates an http.Transport, for its request. The connection is dialled for one use, and its goroutines are left behind.",
				syntax.FuncName(c.Place), m.through, syntax.Line(c.Place, m.at.Pos()))
		}
		c.Fix = "Create one http.Client with that Transport outside the function and share it: it is safe for concurrent use."
		if m.jar {
			c.Fix = "Create one http.Transport outside the function and share it: it is safe for concurrent use. Keep one client per user around it: a shared Jar would send one user's cookies with another's requests."
		}
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// selects reports whether at selects a frame of a row.
func selects(p *rule.Pass, at func(*site.Row) int) bool {
	found := false
	p.EachRow(func(r *site.Row) { found = found || at(r) >= 0 })
	return found
}

// mostRequests is how many requests one client may send on average, as counted.
const mostRequests = 2

// often reports whether a line that creates a client runs about as often as the line that sends the
// requests, which a function below it has.
func often(p *rule.Pass, sends, creates *site.Frame) bool {
	requests, ok := evidence.Executions(p, *sends)
	if !ok && sends.Owner.Kind == gocode.Dependency {
		requests, ok = evidence.Executions(p, *creates) // the module's code is not counted
	}
	clients, also := evidence.Executions(p, *creates)
	return ok && also && clients.PerUnit > 0 && requests.PerUnit <= mostRequests*clients.PerUnit && evidence.Hot(p, clients)
}

// made is a client of a call that is created, with a transport, where it is used.
type made struct {
	at      ast.Node // in the function of the call
	through string   // the function that creates it; "" if that is the function of the call itself
	jar     bool     // the client has cookies of its own
}

// look returns the client that a line uses, if the function creates it with a transport of its own,
// for this call alone; nil for none.
func look(s *gocode.Syntax, p *gocode.Place) *made {
	if p.Decl == nil {
		return nil
	}
	for _, call := range syntax.Calls(p) {
		for _, client := range clients(p, call) {
			if m := used(s, p, call, client); m != nil {
				return m
			}
		}
	}
	return nil
}

// clients returns the expressions in a call that may be a client or hold one: the receiver, and
// arguments that are passed to a function of the program.
func clients(p *gocode.Place, call *ast.CallExpr) (found []ast.Expr) {
	if x := syntax.Receiver(call); x != nil {
		found = append(found, x)
	}
	if fn := p.Callee(call); fn == nil || fn.Pkg() == nil || symbol.Standard(fn.Pkg().Path()) {
		return found
	}
	for _, arg := range call.Args {
		switch t := p.TypeOf(arg); {
		case t == nil:
		case carries(t), types.IsInterface(t):
			found = append(found, arg)
		}
	}
	return found
}

// used returns the client of a call, if the function creates it with a transport of its own for
// this call alone; nil for others.
func used(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr, client ast.Expr) *made {
	if sel, ok := ast.Unparen(client).(*ast.SelectorExpr); ok && syntax.LocalVar(p, sel.X) != nil && !syntax.Param(p, syntax.LocalVar(p, sel.X)) {
		client = sel.X // a struct of this function that holds the client
		if _, initial, ok := syntax.NewField(p, sel); ok && initial != nil {
			client = initial
		}
	}
	from := syntax.Origin(p, client)
	c := creator{syntax: s}
	if !syntax.Within(p.Decl, from) || !c.creates(p, client, mostSteps) {
		return nil
	}
	m := &made{at: from}
	if lit := c.literal; lit != nil && syntax.Within(p.Decl, lit) {
		m.at = lit
	} else if helper, ok := from.(*ast.CallExpr); ok {
		m.through = symbol.Short(p.CalleeName(helper))
	}
	if !loops.PerCall(p, m.at) || len(loops.Around(p, call)) > len(loops.Around(p, m.at)) {
		return nil
	}
	_, jar := syntax.Field(p, from, "net/http.Client", "Jar")
	m.jar = jar != nil
	return m
}

// constructors are functions of other modules that return a client with a new transport.
var constructors = []string{
	"github.com/hashicorp/go-retryablehttp.NewClient", "github.com/hashicorp/go-cleanhttp.Default*",
	"github.com/go-resty/resty*.New", "resty.dev/v*.New", "github.com/imroc/req*.C", "github.com/imroc/req*.NewClient",
}

// mostSteps is how many functions, fields and variables a client is followed through.
const mostSteps = 5

// creator searches for the creation of a transport.
type creator struct {
	syntax  *gocode.Syntax
	literal ast.Node // that creates it
}

// creates reports whether evaluating an expression creates an http.Transport: it is one, has one in
// a field, or is the result of a function that returns one.
func (c *creator) creates(p *gocode.Place, e ast.Expr, steps int) bool {
	if steps == 0 || e == nil {
		return false
	}
	if v := syntax.LocalVar(p, e); v != nil && c.assigned(p, v, steps-1) {
		return true
	}
	e = syntax.Origin(p, e)
	if !within(p, e) {
		return false // a package variable
	}
	if ref, ok := e.(*ast.UnaryExpr); ok && ref.Op == token.AND {
		e = ast.Unparen(ref.X)
	}
	switch e := e.(type) {
	case *ast.CompositeLit:
		return c.holds(p, e, steps-1)
	case *ast.CallExpr:
		if p.CalleeName(e) == "(*net/http.Transport).Clone" {
			c.literal = e
			return true
		}
		if funcname.Match(p.CalleeName(e), constructors...) {
			return true
		}
		return c.returns(p, e, steps-1)
	}
	return false
}

// within reports whether an expression is in the function around a place.
func within(p *gocode.Place, e ast.Expr) bool { return p.Decl != nil && syntax.Within(p.Decl, e) }

// holds reports whether a literal is a transport, or has a client or another wrapper of a new one
// in a field.
func (c *creator) holds(p *gocode.Place, lit *ast.CompositeLit, steps int) bool {
	t := p.TypeOf(lit)
	if t == nil {
		return false
	}
	if t.String() == "net/http.Transport" {
		c.literal = lit
		return true
	}
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return false
	}
	return slices.ContainsFunc(lit.Elts, func(elt ast.Expr) bool {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			elt = kv.Value
		}
		return c.creates(p, elt, steps)
	})
}

// assigned reports whether a field of a local variable gets a new transport, or something that has
// one: client.Transport = &http.Transport{…}.
func (c *creator) assigned(p *gocode.Place, v *types.Var, steps int) bool {
	if p.Decl == nil || syntax.Param(p, v) {
		return false
	}
	found := false
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || found || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return !found
		}
		sel, ok := ast.Unparen(a.Lhs[0]).(*ast.SelectorExpr)
		found = ok && syntax.LocalVar(p, sel.X) == v && carries(p.TypeOf(sel)) && c.creates(p, a.Rhs[0], steps)
		return !found
	})
	return found
}

// carries reports whether a field's type is that of a client or a transport.
func carries(t types.Type) bool {
	if t == nil {
		return false
	}
	switch strings.TrimPrefix(t.String(), "*") {
	case "net/http.RoundTripper", "net/http.Transport", "net/http.Client":
		return true
	}
	return false
}

// returns reports whether a function of the program returns, on each call, something with a new
// transport.
func (c *creator) returns(p *gocode.Place, call *ast.CallExpr, steps int) bool {
	if _, conversion := p.Conversion(call); conversion {
		return false
	}
	in, ok := c.syntax.Declared(p.Callee(call))
	if !ok {
		return false
	}
	found := false
	ast.Inspect(in.Decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) > 0 && !found && loops.PerCall(in, n) {
				inner := creator{syntax: c.syntax}
				found = inner.creates(in, n.Results[0], steps)
			}
		}
		return !found
	})
	return found
}
