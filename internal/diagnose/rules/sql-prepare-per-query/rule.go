// Package sqlprepareperquery finds statements that are prepared for one execution.
package sqlprepareperquery

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
)

// Rule is sql-prepare-per-query.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sql-prepare-per-query",
		Kind:  rule.IO,
		Title: "SQL statement prepared, used once and closed",
		Doc:   doc,
		Finder: finder.Lines{
			Claim: rule.Claim{
				Removes: true,
				// The rows are preparing and closing, which a kept statement does once per connection. The
				// wait for the server, two trips per query, is in no CPU profile.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.6, High: 0.99},
			},
			Loop: find,
		},
	}
}

const doc = `DB.Prepare sends the text to the server and waits for the answer; Stmt.Close
sends another message. To prepare, execute once and close costs three trips to
the server where one would do, and the parsing each time.

Keep the *sql.Stmt in the struct or package variable that owns the DB: it is
safe for concurrent use, and prepares itself on new connections. Or pass the
arguments to DB.Query straight away; many drivers then make one trip.

It is fine when one statement is executed many times between Prepare and Close,
and with poolers that do not allow statements to be kept.

Seen in the field: mattn/go-sqlite3#1387, golang/go#32298.`

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	var matches []rule.Match
	for _, m := range finder.Through(p, "database/sql.(*DB).Prepare", "database/sql.(*DB).PrepareContext", "database/sql.(*Stmt).Close") {
		place := p.Place(m.Site)
		if place == nil {
			continue // a statement may be executed many times before it is closed
		}
		call := prepared(place)
		if call == nil {
			continue
		}
		query := syntax.Text(call.Args[len(call.Args)-1])
		m.Cause = fmt.Sprintf("%s prepares %s, executes it once and closes it: three round trips where one would do, and a parse each time.", syntax.FuncName(place), query)
		m.Fix = "Keep the *sql.Stmt beside the DB (it is safe for concurrent use), or pass the arguments to Query or Exec of the DB."
		m.Confidence = evidence.Weigh(p, m.Site, false)
		matches = append(matches, m)
	}
	return matches, nil
}

// prepared returns the call of Prepare that the line is about, on it or where the
// statement closed on it was made, when its statement lives and dies in one pass of
// the function and no loop executes it.
func prepared(p *gocode.Place) *ast.CallExpr {
	calls := syntax.CallsOf(p, "(*database/sql.DB).Prepare", "(*database/sql.DB).PrepareContext")
	for _, c := range syntax.CallsOf(p, "(*database/sql.Stmt).Close") {
		if made, ok := syntax.Origin(p, syntax.Receiver(c)).(*ast.CallExpr); ok && funcname.Match(p.CalleeName(made), "(*database/sql.DB).Prepare*") {
			calls = append(calls, made)
		}
	}
	for _, call := range calls {
		if _, constant := syntax.ConstString(p, call.Args[len(call.Args)-1]); constant && loops.PerCall(p, call) && usedOnce(p, call) {
			return call
		}
	}
	return nil
}

// usedOnce reports whether the statement of a call is closed in the function, executed at one place
// that no loop of its own repeats, and goes nowhere else.
func usedOnce(p *gocode.Place, call *ast.CallExpr) bool {
	v := syntax.Result(p, call)
	if v == nil || !syntax.Local(p, v) {
		return false
	}
	closed, executed := false, 0
	for _, use := range syntax.Uses(p, v) {
		path := p.Enclosing(use)
		if len(path) == 0 {
			return false
		}
		if a, ok := path[0].(*ast.AssignStmt); ok && a.Lhs[0] == use {
			continue
		}
		sel, ok := path[0].(*ast.SelectorExpr)
		if !ok || sel.X != use {
			return false
		}
		switch sel.Sel.Name {
		case "Close":
			closed = true
		case "Exec", "ExecContext", "Query", "QueryContext", "QueryRow", "QueryRowContext":
			executed++
			if len(loops.Around(p, use)) > len(loops.Around(p, call)) {
				return false
			}
		default:
			return false
		}
	}
	return closed && executed == 1
}
