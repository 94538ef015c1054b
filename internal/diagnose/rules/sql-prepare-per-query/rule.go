// Package sqlprepareperquery finds SQL statements that are prepared, executed once and closed.
package sqlprepareperquery

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
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
				Fraction: rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
			},
			Start: finder.Frames(preparer),
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

// prepares are the functions that prepare a statement, as profiles name them.
var prepares = []string{
	"database/sql.(*DB).Prepare*", "database/sql.(*Tx).Prepare*", "database/sql.(*Conn).Prepare*",
	"github.com/jmoiron/sqlx.(*DB).Prepare*", "github.com/jmoiron/sqlx.(*Tx).Prepare*",
}

// closing is the method that closes a statement, as profiles name it.
const closing = "database/sql.(*Stmt).Close"

// preparer returns the frame, nearest to the program's own code, that prepares or closes a
// statement; -1 for none.
func preparer(r *site.Row) int {
	at := -1
	for i := 1; i < len(r.Stack); i++ {
		kind := r.Stack[i].Owner.Kind
		if (kind == gocode.Main || kind == gocode.Dependency) && (funcname.Match(r.Stack[i-1].Function, prepares...) || r.Stack[i-1].Function == closing) {
			at = i // a library prepares it through database/sql
		}
		if kind == gocode.Main {
			break
		}
	}
	return at
}

func judge(c *finder.Case) bool {
	c.Allocs = nil
	call, in := prepared(c.Pass.Syntax, c.Place)
	if call == nil {
		return false
	}
	query := syntax.Text(call.Args[len(call.Args)-1])
	through := ""
	if in.Decl != c.Place.Decl {
		through = " through " + syntax.FuncName(c.Place)
	}
	c.Cause = fmt.Sprintf("%s prepares %s%s, executes it once and closes it: three round trips where one would do, and a parse each time.", syntax.FuncName(in), query, through)
	c.Fix = "Keep the *sql.Stmt next to the DB (it is safe for concurrent use), or pass the arguments to Query or Exec of the DB."
	if funcname.Match(c.Place.CalleeName(call), "(*database/sql.Tx).*", "(*github.com/jmoiron/sqlx.Tx).*") {
		c.Fix = "Pass the arguments to Query or Exec of the Tx, or keep the *sql.Stmt next to the DB and use it in the transaction with Tx.Stmt."
	}
	return true
}

// prepared returns the call of Prepare on the line, or the one whose statement is closed on the
// line, if the function executes the statement once and closes it, or returns it to one that does.
// That function's place is returned as well.
func prepared(s *gocode.Syntax, p *gocode.Place) (*ast.CallExpr, *gocode.Place) {
	typed := funcname.TypedAll(prepares)
	calls := syntax.CallsOf(p, typed...)
	for _, c := range syntax.CallsOf(p, funcname.Typed(closing)) {
		if made, ok := syntax.Origin(p, syntax.Receiver(c)).(*ast.CallExpr); ok && funcname.Match(p.CalleeName(made), typed...) {
			calls = append(calls, made)
		}
	}
	for _, call := range calls {
		if len(flow.Constants(s, p, call.Args[len(call.Args)-1])) == 0 || !loops.PerCall(p, call) {
			continue
		}
		if usedOnce(s, p, call) {
			return call, p
		}
		for _, use := range flow.Returned(s, p, call) {
			if !use.Wrapped && loops.PerCall(use.Place, use.Call) && usedOnce(s, use.Place, use.Call) {
				return call, use.Place
			}
		}
	}
	return nil, nil
}

// executes are the methods that execute a statement.
var executes = []string{
	"Exec", "ExecContext", "Query", "QueryContext", "QueryRow", "QueryRowContext",
	"MustExec", "MustExecContext", "Queryx", "QueryxContext", "QueryRowx", "QueryRowxContext", "Get", "GetContext", "Select", "SelectContext",
}

// usedOnce reports whether the function closes the statement that a call prepares, executes it at
// one place in no further loop, itself or through a function that it gets, and does nothing else
// with it.
func usedOnce(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr) bool {
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
		if gets, ok := path[0].(*ast.CallExpr); ok && givenOnce(s, p, gets, use) && len(loops.Around(p, use)) == len(loops.Around(p, call)) {
			executed++
			continue
		}
		sel, ok := path[0].(*ast.SelectorExpr)
		if !ok || sel.X != use {
			return false
		}
		switch {
		case sel.Sel.Name == "Close":
			closed = true
		case slices.Contains(executes, sel.Sel.Name):
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

// givenOnce reports whether a call passes a statement to a function that the function around it
// gets, and all callers pass a literal that executes the statement once and does nothing else with
// it: withStmt(query, func(stmt *sql.Stmt) error { … }).
func givenOnce(s *gocode.Syntax, p *gocode.Place, call *ast.CallExpr, stmt *ast.Ident) bool {
	do := syntax.LocalVar(p, call.Fun)
	if do == nil || !syntax.Param(p, do) || len(call.Args) != 1 || call.Args[0] != ast.Expr(stmt) {
		return false
	}
	given := flow.Passed(s, p, do)
	for _, g := range given {
		lit, ok := ast.Unparen(g.Value).(*ast.FuncLit)
		if !ok || len(lit.Type.Params.List) != 1 || len(lit.Type.Params.List[0].Names) != 1 {
			return false
		}
		v, _ := g.Info.Defs[lit.Type.Params.List[0].Names[0]].(*types.Var)
		if v == nil || !executesOnce(g.Place.Outer(), lit, v) {
			return false
		}
	}
	return len(given) > 0
}

// executesOnce reports whether a literal does nothing with a statement but to execute it at one
// place, in no loop.
func executesOnce(p *gocode.Place, lit *ast.FuncLit, stmt *types.Var) bool {
	executed := 0
	for _, use := range syntax.Reads(p, stmt) {
		sel, ok := syntax.Parent(p, use).(*ast.SelectorExpr)
		if !ok || sel.X != use || !slices.Contains(executes, sel.Sel.Name) {
			return false
		}
		executed++
		for _, loop := range loops.Around(p, use) {
			if syntax.Within(lit, loop) {
				return false
			}
		}
	}
	return executed == 1
}
