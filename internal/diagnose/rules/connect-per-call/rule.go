// Package connectpercall finds connections that are opened for one call.
package connectpercall

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is connect-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "connect-per-call",
		Kind:  rule.IO,
		Title: "Connection opened for each call",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The rows are dialling, handshakes and what the client sets up for them; a pool
				// does that a few times.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A new connection costs a name lookup, a TCP handshake, with TLS one or two round
trips and a signature, and often a login, before the first byte of work. The
server pays for the same again, and closed connections keep their ports for a
minute. A client of gRPC or of a database also starts goroutines and reads its
configuration.

Open the client once, in main or in the struct that needs it, and share it:
grpc.ClientConn, redis.Client, mongo.Client and nats.Conn are safe for
concurrent use and reconnect by themselves. Keep connections that are not safe
for concurrent use (net/rpc, SMTP, LDAP, plain TCP) in a pool.

It is fine where a connection is the purpose, as in a probe of ports. The rule
reports functions that open a connection, themselves or through functions that
return it, use it, and close it again.

Seen in the field: grpc/grpc-go#1569 (Dial, RPC, Close in a loop);
drand/drand#884.`

// clients are constructors that connect on goroutines of their own.
func clients() []string {
	return []string{"google.golang.org/grpc.NewClient", "google.golang.org/grpc.Dial", "google.golang.org/grpc.DialContext"}
}

// connecting returns the index of the main module's frame, nearest the leaf, below which a row
// connects; -1 for other rows.
func connecting(r *site.Row) int {
	connects := false
	for i, f := range r.Stack {
		if f.Owner.Kind == gocode.Main {
			if connects {
				return i
			}
			return -1
		}
		connects = connects || funcname.Match(f.Function, "net.(*Dialer).DialContext", "net.(*Dialer).Dial", "net.Dial*",
			"crypto/tls.(*Conn).clientHandshake") || funcname.Match(f.Function, clients()...)
	}
	return -1
}

// mostHelpers is how many functions that return a connection, or something that holds one, are
// followed to the function that uses it.
const mostHelpers = 4

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	lines := finder.Remember(p, look)
	at := func(r *site.Row) int {
		i := connecting(r)
		if i < 0 {
			return -1
		}
		for end := min(len(r.Stack), i+mostHelpers); i < end && r.Stack[i].Owner.Kind == gocode.Main; i++ {
			switch l := lines.At(r.Stack[i]); {
			case l == nil:
				return -1
			case l.open != "":
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		l := lines.At(&c.Site.Frame)
		if l == nil || l.open == "" {
			return false
		}
		c.Cause = fmt.Sprintf("%s opens a connection with %s, uses it and closes it again: every call pays for the connection.", syntax.FuncName(c.Place), l.open)
		c.Fix = fmt.Sprintf("Call %s once at startup and share the result; if it is not safe for concurrent use, keep a pool of them.", l.open)
		if l.open == symbol.Short(mails) {
			c.Fix = "Keep an smtp.Client and send many mails through it (Mail, Rcpt, Data, then Reset): it is not safe for concurrent use."
		}
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// line is what a line does with the connection that is opened below it: it opens one for a single
// use, or returns it to its caller.
type line struct {
	open string // the function that opens it; "" if it is returned
}

// look returns what a line does with a connection; nil for anything else.
func look(_ *site.Frame, p *gocode.Place) *line {
	for _, call := range p.Calls() {
		if p.CalleeName(call) == mails && loops.PerCall(p, call) {
			return &line{symbol.Short(mails)}
		}
		open, v := opened(p, call)
		if v == nil || lent(p, open) || !loops.PerCall(p, open) || !usedAndClosed(p, v) {
			continue
		}
		return &line{symbol.Short(p.CalleeName(open))}
	}
	sig := syntax.SignatureOf(p)
	if sig == nil || sig.Results().Len() == 0 || !closes(sig.Results().At(0).Type()) {
		return nil
	}
	for _, call := range p.Calls() {
		if !loops.PerCall(p, call) {
			return nil // it fills a pool or a field
		}
	}
	return &line{}
}

// mails opens a connection for one mail, and closes it.
const mails = "net/smtp.SendMail"

// lent reports whether a call takes a connection from a pool, which opens it only when it has none:
// its own rules are about that.
func lent(p *gocode.Place, open *ast.CallExpr) bool {
	name := p.CalleeName(open)
	if strings.Contains(name, "database/sql.") { // sql-open-per-call, sql-idle-conns
		return true
	}
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	for _, word := range []string{"acquire", "borrow", "take", "checkout", "query", "begin"} {
		if strings.HasPrefix(name, word) {
			return true
		}
	}
	return strings.HasPrefix(name, "get") && keeps(p.Declaration(p.Callee(open)))
}

// keeps reports whether a function may return something that it kept: it receives from a channel or
// reads an element of a list or map. So may one that is not known.
func keeps(decl *ast.FuncDecl) bool {
	if decl == nil || decl.Body == nil {
		return true
	}
	found := false
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr, *ast.SelectStmt, *ast.RangeStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Get" || n.Sel.Name == "Load"
		}
		return !found
	})
	return found
}

// opened returns the call that opens the connection which a call opens or uses, and the variable
// that refers to it; nil for none.
func opened(p *gocode.Place, call *ast.CallExpr) (*ast.CallExpr, *types.Var) {
	if v := syntax.Result(p, call); v != nil && closes(v.Type()) {
		return call, v
	}
	v := syntax.Named(p, syntax.Receiver(call))
	if v == nil || !syntax.Local(p, v) || syntax.Param(p, v) || !closes(v.Type()) {
		return nil, nil
	}
	open, _ := syntax.Origin(p, syntax.Receiver(call)).(*ast.CallExpr)
	if open == nil {
		return nil, nil
	}
	return open, v
}

// releases are the methods that close a connection: mongo.Client has Disconnect, smtp.Client Quit.
func releases() []string {
	return []string{"Close", "CloseNow", "Disconnect", "Quit", "Logout", "Unbind", "Drain"}
}

// closes reports whether values of a type have a method that closes a connection.
func closes(t types.Type) bool {
	return slices.ContainsFunc(releases(), func(name string) bool {
		o, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
		_, ok := o.(*types.Func)
		return ok
	})
}

// usedAndClosed reports whether the function closes v, uses it for something else, and does not
// pass it to something that outlives the call.
func usedAndClosed(p *gocode.Place, v *types.Var) bool {
	closed, used := false, false
	for _, id := range syntax.Reads(p, v) {
		path := p.Enclosing(id)
		if len(path) == 0 {
			return false
		}
		switch n := path[0].(type) {
		case *ast.SelectorExpr:
			if slices.Contains(releases(), n.Sel.Name) {
				closed = true
			} else {
				used = true
			}
		case *ast.CallExpr:
			used = true // an argument: bufio.NewReader(conn)
		case *ast.ReturnStmt, *ast.AssignStmt, *ast.KeyValueExpr, *ast.CompositeLit, *ast.SendStmt:
			return false
		}
	}
	return closed && used
}
