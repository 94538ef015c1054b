package httpconn

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Calls are the functions of net/http that send a request, as profiles name them.
func Calls() []string {
	return []string{
		"net/http.(*Client).Do", "net/http.(*Client).Get", "net/http.(*Client).Head", "net/http.(*Client).Post", "net/http.(*Client).PostForm",
		"net/http.Get", "net/http.Head", "net/http.Post", "net/http.PostForm",
	}
}

// Dials returns the CPU rows that HTTP clients spend on new connections: looking up the host,
// connecting, the TLS handshake, and starting and ending the goroutines. No line of the program
// owns them, because the transport dials on its own goroutines.
func Dials(p *rule.Pass) (rows []*site.Row) {
	p.EachRow(func(r *site.Row) {
		for _, f := range r.Stack {
			if funcname.Match(f.Function, "net/http.(*Transport).dialConn*", "net/http.(*Transport).startDialConn*",
				"net/http.(*persistConn).addTLS*", "net.(*Resolver).lookupIPAddr*") {
				rows = append(rows, r)
				return
			}
		}
	})
	return rows
}

// Blame completes a match whose cost is new connections. The match is likely at most: the transport
// dials on its own goroutines, and the profile does not show for which request.
func Blame(c *finder.Case, dials []*site.Row) {
	spent, n := stacks.Sum(dials)
	c.CPU, c.Allocs, c.Block, c.Mutex, c.Live = dials, nil, nil, nil, nil
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:    "CPU spent on new client connections",
		Value:   fmt.Sprintf("%s (%s)", units.Seconds(float64(spent)/1e9), units.Some(float64(n), "sample")),
		Command: evidence.TopCommand(c.Pass, "cpu"),
	})
}

// Closes reports whether Close is called on a response's Body, given its path to the file's root.
func Closes(path []ast.Node) bool {
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
