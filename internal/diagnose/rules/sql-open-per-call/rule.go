// Package sqlopenpercall finds database pools that a function opens and closes on every call.
package sqlopenpercall

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is sql-open-per-call.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sql-open-per-call",
		Kind:  rule.IO,
		Title: "Database pool opened for each call",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// The rows open the pool and its connections. A kept pool opens a few once.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 1,
			},
			Start: finder.Callers{Functions: opens},
			Judge: judge,
		},
	}
}

const doc = `A sql.DB is a pool of connections with a goroutine that opens them. When a
handler opens and closes one, every request pays for a connection: the dial, the
handshake and the login, often milliseconds, and the database starts a new
backend.

Open it once in main, call SetMaxOpenConns and SetMaxIdleConns, and pass it to
the code that needs it; it is safe for concurrent use.

It is fine in a command that makes one query and exits.

Seen in the field: delta/dalal-street-server#119 ("Too many connections"),
jmoiron/sqlx#402, apigee/registry#622.`

var opens = []string{"database/sql.Open", "database/sql.OpenDB"}

func judge(c *finder.Case) bool {
	if opened(c.Place) == nil {
		return false
	}
	c.CPU = append(c.CPU, connecting(c.Pass, *c.Match)...)
	c.Cause = fmt.Sprintf("%s opens a database pool and closes it again. Every call pays for a new connection.", syntax.FuncName(c.Place))
	c.Fix = "Open the *sql.DB once at startup and share it: it is a pool, safe for concurrent use."
	return true
}

// opened returns the call on the line that opens a pool which the function itself closes, if the
// call may run more than once.
func opened(p *gocode.Place) *ast.CallExpr {
	for _, call := range syntax.CallsOf(p, opens...) {
		if loops.PerCall(p, call) && closed(p, call) {
			return call
		}
	}
	return nil
}

// closed reports whether the function calls Close on the pool that open returned.
func closed(p *gocode.Place, open *ast.CallExpr) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && p.CalleeName(call) == "(*database/sql.DB).Close" && syntax.Origin(p, syntax.Receiver(call)) == ast.Expr(open) {
			found = true
		}
		return !found
	})
	return found
}

// connecting returns the rows below the function of a match that connect to the database.
func connecting(p *rule.Pass, m rule.Match) (rows []*site.Row) {
	have := map[*site.Row]bool{}
	for _, r := range m.CPU {
		have[r] = true
	}
	p.EachRow(func(r *site.Row) {
		connects := false
		for _, f := range r.Stack {
			if funcname.Match(f.Function, "database/sql.dsnConnector.Connect", "database/sql.(*dsnConnector).Connect") {
				connects = true
			}
			if connects && f.Function == m.Site.Function && !have[r] {
				rows = append(rows, r)
				return
			}
		}
	})
	return rows
}
