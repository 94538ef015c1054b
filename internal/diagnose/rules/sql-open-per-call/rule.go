// Package sqlopenpercall finds database pools that a function opens on every call, and closes or
// abandons.
package sqlopenpercall

import (
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
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
			Start: finder.Frames(opener),
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

It is fine in a command that makes one query and exits. The rule follows functions
that return the pool, or a struct that holds it.

Seen in the field: delta/dalal-street-server#119 ("Too many connections"),
jmoiron/sqlx#402, apigee/registry#622.`

// opens are the functions that open a pool, and closings the methods that close it.
var (
	opens = []string{
		"database/sql.Open", "database/sql.OpenDB", "github.com/jmoiron/sqlx.Open", "github.com/jmoiron/sqlx.Connect*", "github.com/jmoiron/sqlx.Must*",
		"gorm.io/gorm.Open", "github.com/jackc/pgx*/pgxpool.New*", "github.com/jackc/pgx*/pgxpool.Connect*",
	}
	closings = []string{"(*database/sql.DB).Close", "(*github.com/jackc/pgx*/pgxpool.Pool).Close"}
)

// opener returns the frame, nearest to the program's own code, that opens a pool, which by itself
// may cost so little that only its memory is seen; -1 for none.
func opener(r *site.Row) int {
	at := -1
	for i := 1; i < len(r.Stack); i++ {
		kind := r.Stack[i].Owner.Kind
		if (kind == gocode.Main || kind == gocode.Dependency) && funcname.Match(r.Stack[i-1].Function, opens...) {
			at = i // a library opens the pool through database/sql
		}
		if kind == gocode.Main {
			break
		}
	}
	return at
}

func judge(c *finder.Case) bool {
	in, how := opened(c.Pass.Syntax, c.Place)
	if in == nil || seldom(c.Pass, c.Site) {
		return false
	}
	function := c.Site.Function
	c.Cause = fmt.Sprintf("%s opens a database pool and %s", syntax.FuncName(in), how)
	if in.Decl != c.Place.Decl {
		function = syntax.ProfileName(in)
		c.Cause = fmt.Sprintf("%s opens a database pool through %s and %s", syntax.FuncName(in), syntax.FuncName(c.Place), how)
	}
	c.Callees = opens
	c.CPU = append(c.CPU, connecting(c.Pass, *c.Match, function)...)
	c.Fix = "Open the *sql.DB once at startup and share it: it is a pool, safe for concurrent use."
	return true
}

// seldom reports whether a line was counted and does not run again and again.
func seldom(p *rule.Pass, s *site.Site) bool {
	e, ok := evidence.Executions(p, s.Frame)
	return ok && (e.PerUnit <= 0 || p.Manifest.Unit() == "run" && e.PerUnit < 2)
}

// What a function does with a pool that it opens.
const (
	closes   = "closes it again. Every call pays for a new connection."
	abandons = "never closes it. Every call pays for a new connection, which stays open."
)

// opened returns the place of the function that closes or abandons the pool which a call on the
// line opens: that of the line, or one that calls it for the pool or for a struct that holds it. It
// is nil if there is none, or the call runs once.
func opened(s *gocode.Syntax, p *gocode.Place) (*gocode.Place, string) {
	for _, call := range syntax.CallsOf(p, opens...) {
		if !loops.PerCall(p, call) {
			continue
		}
		if closed(p, call, false) {
			return p, closes
		}
		if abandoned(p, call) {
			return p, abandons
		}
		for _, use := range flow.Returned(s, p, call) {
			switch {
			case !loops.PerCall(use.Place, use.Call):
			case closed(use.Place, use.Call, use.Wrapped):
				return use.Place, closes
			case !use.Wrapped && abandoned(use.Place, use.Call):
				return use.Place, abandons
			}
		}
	}
	return nil, ""
}

// abandoned reports whether the function only calls methods of the pool that open returned, none of
// which closes it: nothing else has the pool.
func abandoned(p *gocode.Place, open *ast.CallExpr) bool {
	v := syntax.Result(p, open)
	if v == nil || !syntax.Local(p, v) || syntax.IsResult(p, v) || syntax.Origin(p, syntax.AssignedTo(p, open)) != ast.Expr(open) {
		return false
	}
	reads := syntax.Reads(p, v)
	for _, id := range reads {
		switch n := syntax.Parent(p.Outer(), id).(type) {
		case *ast.SelectorExpr:
			call, ok := syntax.Parent(p.Outer(), n).(*ast.CallExpr)
			if !ok || call.Fun != ast.Expr(n) || n.Sel.Name == "DB" || n.Sel.Name == "Close" || lasting(p, call) {
				return false
			}
		case *ast.BinaryExpr:
		default:
			return false
		}
	}
	return len(reads) > 0
}

// lasting reports whether a method returns something that refers to the pool, such as a statement
// or a session.
func lasting(p *gocode.Place, call *ast.CallExpr) bool {
	_, ok := syntax.Parent(p.Outer(), call).(*ast.ReturnStmt)
	return ok && !syntax.IsError(p.TypeOf(call))
}

// closed reports whether the function calls Close on the pool that open returned, or on what holds
// it.
func closed(p *gocode.Place, open *ast.CallExpr, wrapped bool) bool {
	found := false
	ast.Inspect(syntax.Body(p), func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || found {
			return !found
		}
		if name := p.CalleeName(call); !funcname.Match(name, closings...) && !(wrapped && strings.HasSuffix(name, ").Close")) {
			return true
		}
		from := syntax.Origin(p, syntax.Receiver(call))
		if inner, ok := from.(*ast.CallExpr); ok && p.CalleeName(inner) == "(*gorm.io/gorm.DB).DB" {
			from = syntax.Origin(p, syntax.Receiver(inner))
		}
		found = from == ast.Expr(open)
		return !found
	})
	return found
}

// connecting returns the rows below a function that connect to the database and are not in a match.
func connecting(p *rule.Pass, m rule.Match, function string) (rows []*site.Row) {
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
			if connects && f.Function == function && !have[r] {
				rows = append(rows, r)
				return
			}
		}
	})
	return rows
}
