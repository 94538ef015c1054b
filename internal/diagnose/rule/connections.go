package rule

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// ClientCalls are the functions of net/http that send a request, as profiles name them.
func ClientCalls() []string {
	return []string{
		"net/http.(*Client).Do", "net/http.(*Client).Get", "net/http.(*Client).Head", "net/http.(*Client).Post", "net/http.(*Client).PostForm",
		"net/http.Get", "net/http.Head", "net/http.Post", "net/http.PostForm",
	}
}

// ClientDials are the CPU rows that HTTP clients spend on new connections: looking the
// host up, connecting, the TLS handshake, and setting up and tearing down the goroutines. They are
// nobody's line: the transport dials on goroutines of its own.
func (p *Pass) ClientDials() (rows []*site.Row) {
	p.EachRow(func(r *site.Row) {
		for _, f := range r.Stack {
			if Named(f.Function, "net/http.(*Transport).dialConn*", "net/http.(*Transport).startDialConn*",
				"net/http.(*persistConn).addTLS*", "net.(*Resolver).lookupIPAddr*") {
				rows = append(rows, r)
				return
			}
		}
	})
	return rows
}

// BlameDials makes the case about new connections alone. It is likely at most: they are made on goroutines of their
// own, and whose they are is not recorded.
func (c *Case) BlameDials(dials []*site.Row) {
	spent, n := Sum(dials)
	c.CPU, c.Allocs, c.Block, c.Mutex, c.Live = dials, nil, nil, nil, nil
	c.Confidence = Likely
	c.Evidence = append(c.Evidence, Evidence{
		What:    "CPU spent on new client connections",
		Value:   fmt.Sprintf("%s (%s)", Seconds(float64(spent)/1e9), Some(float64(n), "sample")),
		Command: c.Pass.Top("cpu"),
	})
}

// Field returns the value of a field in a composite literal T{…} or &T{…} of the named type;
// lit is nil when e is no such literal.
func Field(p *gocode.Place, e ast.Expr, typeName, field string) (lit *ast.CompositeLit, value ast.Expr) {
	e = ast.Unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = ast.Unparen(u.X)
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok || p.TypeOf(lit) == nil || strings.TrimPrefix(p.TypeOf(lit).String(), "*") != typeName {
		return nil, nil
	}
	for _, elt := range lit.Elts {
		kv, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if id, ok := kv.Key.(*ast.Ident); ok && id.Name == field {
			value = kv.Value
		}
	}
	return lit, value
}
