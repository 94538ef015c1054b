package httpconn

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
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
		if opens(r) {
			rows = append(rows, r)
		}
	})
	return rows
}

// opens reports whether an HTTP client opens a connection in a row.
func opens(r *site.Row) bool {
	return through(r, "net/http.(*Transport).dialConn*", "net/http.(*Transport).startDialConn*",
		"net/http.(*persistConn).addTLS*", "net.(*Resolver).lookupIPAddr*")
}

// follows reports whether a row may be work that follows from a new connection: it is closed once
// and, if the server is in the same process, accepted once; and the stacks of its goroutines grow,
// which those of a connection that is kept did before. Servers do the same for connections from
// elsewhere.
func follows(r *site.Row) bool {
	switch {
	case r.Owner < 0 && through(r, "net.(*conn).Close", "net/http.(*persistConn).close*"):
		return true
	case through(r, "runtime.newstack", "internal/poll.(*FD).destroy"): // the last reader closes the file
		return through(r, "net/http.(*persistConn).readLoop", "net/http.(*persistConn).writeLoop", "net/http.(*conn).serve")
	}
	return through(r, "net/http.(*Server).Serve", "net/http.(*conn).close*", "net/http.(*conn).serve.func*", "crypto/tls.(*Conn).serverHandshake")
}

func through(r *site.Row, functions ...string) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, functions...) })
}

// Blame completes a match whose cost is new connections. The match is likely at most: the transport
// dials on its own goroutines, and the profile does not show for which request.
func Blame(c *finder.Case, dials []*site.Row) {
	spent, n := stacks.Sum(dials)
	c.CPU, c.Block, c.Mutex, c.Live = dials, nil, nil, nil
	c.Allocs = allocs(c.Pass, opens)
	c.Uncertain.Allocs = allocs(c.Pass, func(r *site.Row) bool { return !opens(r) && follows(r) })
	c.Pass.EachRow(func(r *site.Row) {
		if !opens(r) && follows(r) {
			c.Uncertain.CPU = append(c.Uncertain.CPU, r)
		}
	})
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:    "CPU spent on new client connections",
		Value:   fmt.Sprintf("%s (%s)", units.Seconds(float64(spent)/1e9), units.Some(float64(n), "sample")),
		Command: evidence.TopCommand(c.Pass, "cpu"),
	})
}

// allocs returns the rows of the profile of allocations for which keep holds.
func allocs(p *rule.Pass, keep func(*site.Row) bool) (rows []*site.Row) {
	for _, s := range p.Table.Sites {
		rows = append(rows, stacks.Select(s.Allocs, keep)...)
	}
	for _, b := range p.Table.Buckets {
		rows = append(rows, stacks.Select(b.Allocs, keep)...)
	}
	return rows
}

// Closes reports whether Close is called on a response's Body, given its path to the file's root,
// here or in a function of the package that does nothing else with it.
func Closes(p *gocode.Place, path []ast.Node) bool {
	if len(path) < 2 {
		return false
	}
	if call, ok := path[1].(*ast.CallExpr); ok && call.Fun != path[0] {
		return closer(p, call, path[0], 0)
	}
	return len(path) > 2 && isClose(path[1], path[2])
}

func isClose(n, around ast.Node) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Close" {
		return false
	}
	_, call := around.(*ast.CallExpr)
	return call
}

// ClosesIn reports whether a call passes a response to a function of the package that only closes
// its body.
func ClosesIn(p *gocode.Place, call *ast.CallExpr, resp ast.Node) bool {
	return closer(p, call, resp, 1)
}

// closer reports whether the function of a call only closes its argument, or what is as many
// selectors below it.
func closer(p *gocode.Place, call *ast.CallExpr, arg ast.Node, selectors int) bool {
	fn := p.Callee(call)
	decl := p.Declaration(fn)
	i := slices.IndexFunc(call.Args, func(e ast.Expr) bool { return ast.Node(e) == arg })
	if decl == nil || decl.Body == nil || i < 0 || i >= fn.Signature().Params().Len() || fn.Signature().Variadic() {
		return false
	}
	in := p.Entry(decl)
	closes := false
	for _, id := range syntax.Reads(in, fn.Signature().Params().At(i)) {
		path := in.Enclosing(id)
		if len(path) > 0 {
			if _, compared := path[0].(*ast.BinaryExpr); compared {
				continue
			}
		}
		if len(path) < selectors+2 {
			return false
		}
		if selectors == 1 {
			sel, ok := path[0].(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Body" {
				return false
			}
			if _, compared := path[1].(*ast.BinaryExpr); compared {
				continue
			}
		}
		if !isClose(path[selectors], path[selectors+1]) {
			return false
		}
		closes = true
	}
	return closes
}
