// Package keepaliveoff finds HTTP clients that do not reuse connections because of a setting.
package keepaliveoff

import (
	"context"
	"fmt"
	"go/ast"
	"go/constant"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/httpconn"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
)

// Rule is keepalive-off.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "keepalive-off",
		Kind:  rule.IO,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "HTTP keep-alive switched off",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are all CPU that the program spends on new connections; other requests
				// may cause some of it.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
			},
			Prepare: prepare,
		},
	}
}

const doc = `With DisableKeepAlives in the Transport, or Close in the request, every request
pays for a connection of its own: the dial, perhaps a DNS query and a TLS
handshake, two goroutines, and a port that stays in TIME-WAIT for a minute.

Remove the setting, and read response bodies to the end.

It is fine for a client that makes one request and exits, and as a guard against
a server or load balancer that mishandles reused connections; then the rule only
reports the cost of the guard.

Seen in the field: openshift-online/ocm-sdk-go#278 measured how much longer
requests took; golang/go#50984, a program bound by handshakes.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	dials := httpconn.Dials(p)
	if len(dials) == 0 {
		return finder.Line{}
	}
	spent, _ := stacks.Sum(dials)
	expensive := float64(spent)*1e-9 >= leastShare*p.Table.Totals.TotalSeconds
	elsewhere := offElsewhere(p)
	judge := func(c *finder.Case) bool {
		setting := ""
		ok := c.All(func(call *ast.CallExpr) bool {
			if setting = off(c.Place, call); setting == "" && expensive {
				setting = elsewhere
			}
			return setting != "" && loops.PerCall(c.Place, call)
		})
		if !ok {
			return false
		}
		httpconn.Blame(c, dials)
		c.Cause = fmt.Sprintf("%s makes the client of %s open a connection for each request.", setting, syntax.Text(c.Calls[0]))
		c.Fix = fmt.Sprintf("Remove %s, and read each body to its end before closing it.", setting)
		return true
	}
	return finder.Line{Start: finder.Calls{Functions: httpconn.Calls()[:5]}, Judge: judge}
}

// leastShare is the part of all CPU that new connections must take where the setting is not in the
// function that sends the request.
const leastShare = 0.05

// leastOften is how often per request a request that closes its connection must be made; leastRuns
// is that per run of a program that exits.
const (
	leastOften = 0.05
	leastRuns  = 100
)

// offElsewhere returns the only place of the program that often makes requests that close their
// connection; "" if there is none, or several.
func offElsewhere(p *rule.Pass) (setting string) {
	if p.Syntax == nil {
		return ""
	}
	n := 0
	for _, v := range p.Syntax.ValuesOf("net/http.Request", "Close") {
		ran, _ := evidence.ExecutionsAt(p, v.Place, v.Value.Pos())
		often := ran.PerUnit >= leastOften && (p.Manifest.Unit() != "run" || ran.PerUnit >= leastRuns)
		if often && isTrue(v.Place, v.Value) {
			setting = fmt.Sprintf("Close = true of the http.Request (%s)", syntax.Where(v.Place, v.Value.Pos()))
			n++
		}
	}
	if n != 1 {
		return ""
	}
	return setting
}

// off returns the setting that disables keep-alive for a call; "" when the source shows none.
func off(p *gocode.Place, call *ast.CallExpr) string {
	client := syntax.Receiver(call)
	if client == nil {
		return ""
	}
	if _, tr := syntax.Field(p, syntax.Origin(p, client), "net/http.Client", "Transport"); tr != nil {
		if _, v := syntax.Field(p, syntax.Origin(p, tr), "net/http.Transport", "DisableKeepAlives"); v != nil && isTrue(p, v) {
			return "DisableKeepAlives"
		}
	}
	if len(call.Args) == 1 && p.CalleeName(call) == "(*net/http.Client).Do" && closes(p, call.Args[0]) {
		return syntax.Text(call.Args[0]) + ".Close = true"
	}
	return ""
}

// closes reports whether the function sets Close of a request to true.
func closes(p *gocode.Place, req ast.Expr) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return !found
		}
		for i, lhs := range a.Lhs {
			sel, ok := lhs.(*ast.SelectorExpr)
			if ok && sel.Sel.Name == "Close" && syntax.Same(p, sel.X, req) && isTrue(p, a.Rhs[i]) {
				found = true
			}
		}
		return !found
	})
	return found
}

func isTrue(p *gocode.Place, e ast.Expr) bool {
	v, ok := p.Const(e)
	return ok && v.Kind() == constant.Bool && constant.BoolVal(v)
}
