// Package sqlprepareperquery finds SQL statements that are prepared, executed once and closed.
package sqlprepareperquery

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
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
		Finder: finder.Line{
			Claim: rule.Claim{
				Removes: true,
				// The rows are Prepare and Close, which a kept statement does once per connection.
				// The wait for the server, two round trips per query, is in no CPU profile.
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.6, High: 0.99},
			},
			Start: finder.Callers{Functions: []string{"database/sql.(*DB).Prepare", "database/sql.(*DB).PrepareContext", "database/sql.(*Tx).Prepare", "database/sql.(*Tx).PrepareContext", "database/sql.(*Stmt).Close"}},
			Judge: judge,
		},
	}
}

const doc = `DB.Prepare sends the text to the server and waits for the answer; Stmt.Close
sends another message. Prepare, one execution and Close take three round trips
to the server where one would do, and the server parses the text each time.

Keep the *sql.Stmt in the struct or package variable that owns the DB: it is
safe for concurrent use, and prepares itself on new connections. Or pass the
arguments to DB.Query directly; many drivers then make one round trip.

It is fine when one statement is executed many times between Prepare and Close,
and with connection poolers that do not support kept statements.

Seen in the field: mattn/go-sqlite3#1387, golang/go#32298.`

func judge(c *finder.Case) bool {
	call := prepared(c.Pass.Syntax, c.Place)
	if call == nil {
		return false
	}
	query := syntax.Text(call.Args[len(call.Args)-1])
	c.Cause = fmt.Sprintf("%s prepares %s, executes it once and closes it: three round trips where one would do, and a parse each time.", syntax.FuncName(c.Place), query)
	c.Fix = "Keep the *sql.Stmt next to the DB (it is safe for concurrent use), or pass the arguments to Query or Exec of the DB."
	if funcname.Match(c.Place.CalleeName(call), "(*database/sql.Tx).*") {
		c.Fix = "Pass the arguments to Query or Exec of the Tx, or keep the *sql.Stmt next to the DB and use it in the transaction with Tx.Stmt."
	}
	return true
}

// prepared returns the call of Prepare on the line, or the one whose statement is closed on the
// line, if the function executes the statement once and closes it.
func prepared(s *gocode.Syntax, p *gocode.Place) *ast.CallExpr {
	calls := syntax.CallsOf(p, "(*database/sql.DB).Prepare*", "(*database/sql.Tx).Prepare*")
	for _, c := range syntax.CallsOf(p, "(*database/sql.Stmt).Close") {
		if made, ok := syntax.Origin(p, syntax.Receiver(c)).(*ast.CallExpr); ok && funcname.Match(p.CalleeName(made), "(*database/sql.DB).Prepare*", "(*database/sql.Tx).Prepare*") {
			calls = append(calls, made)
		}
	}
	for _, call := range calls {
		if len(flow.Constants(s, p, call.Args[len(call.Args)-1])) > 0 && loops.PerCall(p, call) && usedOnce(p, call) {
			return call
		}
	}
	return nil
}

// usedOnce reports whether the function closes the statement that a call prepares, executes it at
// one place in no further loop, and does nothing else with it.
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
