// Package idleconnsperhost finds HTTP clients that close most connections after one request.
package idleconnsperhost

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/httpconn"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// Rule is idle-conns-per-host.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "idle-conns-per-host",
		Kind:  rule.IO,
		Title: "HTTP client keeps too few idle connections per host",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are all CPU that the program spends on new connections; other clients
				// may cause some of it.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
			},
			Prepare: prepare,
		},
	}
}

const doc = `An http.Transport keeps two idle connections per host unless MaxIdleConnsPerHost
says otherwise; MaxIdleConns, of all hosts together, does not change that. When
more than two requests to one host run at a time, each connection beyond two is
closed when its request is over, and the next request dials again: a TCP (and
TLS) handshake, two goroutines, and a port in TIME-WAIT.

Set MaxIdleConnsPerHost of the Transport to the number of requests to one host
that run at a time, and MaxIdleConns at least as high.

It is fine for a client that makes one request at a time. The rule reports a call
only if new connections take at least a fiftieth of all CPU, the response is read
to its end, and no Transport in the package sets the field.

Seen in the field: golang/go#16012, letsencrypt/boulder#7349.`

const (
	leastShare   = 0.02 // of all CPU, for new connections
	leastSamples = 8
)

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	dials := httpconn.Dials(p)
	spent, n := stacks.Sum(dials)
	share := float64(spent) * 1e-9 / p.Table.Totals.TotalSeconds
	if n < leastSamples || share < leastShare || p.Manifest.Load != nil && p.Manifest.Load.Connections <= 2 {
		return finder.Line{}
	}
	judge := func(c *finder.Case) bool {
		if !drains(c.Place) || !c.All(func(call *ast.CallExpr) bool { return few(c.Place, call) }) {
			return false
		}
		httpconn.Blame(c, dials)
		c.Cause = fmt.Sprintf("The client of %s keeps two idle connections per host, since MaxIdleConnsPerHost is not set. When more requests run at a time, the other connections are closed after each and dialled again: that takes %s of CPU.",
			syntax.Text(c.Calls[0]), units.Percent(share))
		c.Fix = "Set MaxIdleConnsPerHost in the Transport to the number of requests to one host that run at a time, and MaxIdleConns at least as high."
		named(c)
		return true
	}
	return finder.Line{Start: finder.Calls{Functions: httpconn.Calls()}, Judge: judge}
}

// named adds where the only Transport of the package is made, and that its limit for all hosts does
// not help, to the words of a match.
func named(c *finder.Case) {
	var made []*ast.CompositeLit
	for _, f := range c.Place.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok && isNamed(c.Place.TypeOf(lit), "Transport") {
				made = append(made, lit)
			}
			return true
		})
	}
	if len(made) != 1 {
		return
	}
	c.Fix = strings.Replace(c.Fix, "in the Transport", fmt.Sprintf("in the Transport (%s)", syntax.Where(c.Place, made[0].Pos())), 1)
	for _, e := range made[0].Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && syntax.Text(kv.Key) == "MaxIdleConns" {
			c.Cause += fmt.Sprintf(" MaxIdleConns: %s (%s) limits the idle connections to all hosts together, and does not raise that number.", syntax.Text(kv.Value), syntax.Where(c.Place, kv.Pos()))
		}
	}
}

// drains reports whether the function around the place reads a body to its end.
func drains(p *gocode.Place) bool {
	reads := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			reads = reads || funcname.Match(p.CalleeName(call), "io.ReadAll", "io.Copy*", "(*encoding/json.Decoder).Decode", "(*bytes.Buffer).ReadFrom")
		}
		return !reads
	})
	return reads
}

// few reports whether a call's client has a Transport with the field's default: one that the
// package creates without the field, or the default one.
func few(p *gocode.Place, call *ast.CallExpr) bool {
	client := syntax.Receiver(call)
	if client == nil {
		return true // http.Get and its kin: the default client
	}
	made := 0
	for _, f := range p.Files() {
		sets := false
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if isNamed(p.TypeOf(n), "Transport") {
					made++
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && (id.Name == "MaxIdleConnsPerHost" || id.Name == "DisableKeepAlives") {
					sets = true
				}
			case *ast.SelectorExpr:
				sets = sets || n.Sel.Name == "MaxIdleConnsPerHost" || n.Sel.Name == "DisableKeepAlives"
			}
			return !sets
		})
		if sets {
			return false
		}
	}
	return made > 0 || syntax.Text(client) == "http.DefaultClient" || plain(p)
}

// plain reports whether the package makes clients, and none with a Transport.
func plain(p *gocode.Place) bool {
	clients, with := 0, 0
	for _, f := range p.Files() {
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || !isNamed(p.TypeOf(lit), "Client") {
				return true
			}
			clients++
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if id, ok := kv.Key.(*ast.Ident); ok && id.Name == "Transport" {
						with++
					}
				}
			}
			return true
		})
	}
	return clients > 0 && with == 0
}

// isNamed reports whether a type is net/http's of a name.
func isNamed(t types.Type, name string) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "net/http"
}
