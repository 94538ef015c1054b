// Package clientperrequest finds HTTP transports that are created for one request.
package clientperrequest

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/httpconn"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is client-per-request.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "client-per-request",
		Kind:  rule.IO,
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

It is fine for one request per program, and where each tenant has certificates
of its own (keep one client per tenant then). A new http.Client without a
Transport is cheap: all of them share http.DefaultTransport.

Seen in the field: mendersoftware/deviceauth#406, sourcegraph/go-sourcegraph#41.`

func prepare(_ context.Context, p *rule.Pass) (finder.Line, bool) {
	dials := httpconn.Dials(p)
	if len(dials) == 0 {
		return finder.Line{}, false
	}
	judge := func(c *finder.Case) bool {
		var made ast.Node
		ok := c.All(func(call *ast.CallExpr) bool {
			made = transport(c.Place, syntax.Receiver(call))
			return made != nil && loops.PerCall(c.Place, made) && len(loops.Around(c.Place, call)) <= len(loops.Around(c.Place, made))
		})
		if !ok {
			return false
		}
		httpconn.Blame(c, dials)
		c.Cause = fmt.Sprintf("%s creates an http.Transport (line %d) for its request. The connection is dialled for one use, and its goroutines are left behind.",
			syntax.FuncName(c.Place), syntax.Line(c.Place, made.Pos()))
		c.Fix = "Create one http.Client with that Transport outside the function and share it: it is safe for concurrent use."
		if jar(c) {
			c.Fix = "Create one http.Transport outside the function and share it: it is safe for concurrent use. Keep one client per user around it: a shared Jar would send one user's cookies with another's requests."
		}
		return true
	}
	return finder.Line{Start: finder.Calls{Functions: httpconn.Calls()[:5]}, Judge: judge}, true
}

// jar reports whether a client of the calls has cookies of its own.
func jar(c *finder.Case) bool {
	return !c.All(func(call *ast.CallExpr) bool {
		_, value := syntax.Field(c.Place, syntax.Origin(c.Place, syntax.Receiver(call)), "net/http.Client", "Jar")
		return value == nil
	})
}

// transport returns the literal of the http.Transport that the function creates for a client, also
// through variables that are set once; nil when the transport comes from elsewhere.
func transport(p *gocode.Place, client ast.Expr) ast.Node {
	if client == nil {
		return nil
	}
	_, value := syntax.Field(p, syntax.Origin(p, client), "net/http.Client", "Transport")
	if value == nil {
		return nil
	}
	lit, _ := syntax.Field(p, syntax.Origin(p, value), "net/http.Transport", "")
	if lit == nil || p.Decl == nil || !syntax.Within(p.Decl, lit) {
		return nil
	}
	return lit
}
