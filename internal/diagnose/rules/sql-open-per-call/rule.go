// Package sqlopenpercall finds database pools that are opened for one call.
package sqlopenpercall

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
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
		Finder: finder.Lines{
			Claim: rule.Claim{
				Removes: true,
				// The rows are opening the pool and its connections; a pool that lives opens a few, once.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 1,
			},
			Loop: find,
		},
	}
}

const doc = `A sql.DB is a pool of connections and a goroutine that opens them. Opened and
closed in a function that runs per request, every request pays for a connection:
the dial, the handshake and the login, often milliseconds, and the database for
a new backend.

Open it once in main, set SetMaxOpenConns and SetMaxIdleConns, and hand it to
who needs it; it is safe for concurrent use.

It is fine in a command that makes one query and ends.

Seen in the field: delta/dalal-street-server#119 ("Too many connections"),
jmoiron/sqlx#402, apigee/registry#622.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, m := range finder.Through(p, "database/sql.Open", "database/sql.OpenDB") {
		place := p.Place(m.Site)
		if place == nil {
			continue
		}
		call := opened(place)
		if call == nil {
			continue
		}
		m.CPU = append(m.CPU, connecting(p, m)...)
		m.Cause = fmt.Sprintf("%s opens a database pool and closes it again. Every call pays for a new connection.", syntax.FuncName(place))
		m.Fix = "Open the *sql.DB once at startup and share it: it is a pool, safe for concurrent use."
		m.Confidence = evidence.Weigh(p, m.Site, false)
		matches = append(matches, m)
	}
	return matches, nil
}

// opened returns the call of Open on the line whose pool the function closes itself, when the
// function runs again and again.
func opened(p *gocode.Place) *ast.CallExpr {
	for _, call := range syntax.CallsOf(p, "database/sql.Open", "database/sql.OpenDB") {
		if loops.PerCall(p, call) && closed(p, call) {
			return call
		}
	}
	return nil
}

// closed reports whether the function calls Close on what the call opened.
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

// connecting are the rows that connect to the database below the function of a match.
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
