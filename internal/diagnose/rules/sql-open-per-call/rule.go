// Package sqlopenpercall finds database pools that a function opens and closes on every call.
package sqlopenpercall

import (
	"fmt"
	"go/ast"
	"go/types"

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

It is fine in a command that makes one query and exits.

Seen in the field: delta/dalal-street-server#119 ("Too many connections"),
jmoiron/sqlx#402, apigee/registry#622.`

var opens = []string{"database/sql.Open", "database/sql.OpenDB"}

// opener returns the frame that opens a pool, which by itself may cost so little that only its
// memory is seen; -1 for none.
func opener(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		kind := r.Stack[i].Owner.Kind
		if (kind == gocode.Main || kind == gocode.Dependency) && funcname.Match(r.Stack[i-1].Function, opens...) {
			return i
		}
	}
	return -1
}

func judge(c *finder.Case) bool {
	in := opened(c.Pass.Syntax, c.Place)
	if in == nil {
		return false
	}
	function := c.Site.Function
	c.Cause = fmt.Sprintf("%s opens a database pool and closes it again. Every call pays for a new connection.", syntax.FuncName(in))
	if in.Decl != c.Place.Decl {
		function = syntax.ProfileName(in)
		c.Cause = fmt.Sprintf("%s opens a database pool through %s and closes it again. Every call pays for a new connection.", syntax.FuncName(in), syntax.FuncName(c.Place))
	}
	c.Callees = opens
	c.CPU = append(c.CPU, connecting(c.Pass, *c.Match, function)...)
	c.Fix = "Open the *sql.DB once at startup and share it: it is a pool, safe for concurrent use."
	return true
}

// opened returns the place of the function that closes the pool which a call on the line opens:
// that of the line, or one that calls it for the pool. It is nil if there is none, or the call runs
// once.
func opened(s *gocode.Syntax, p *gocode.Place) *gocode.Place {
	for _, call := range syntax.CallsOf(p, opens...) {
		if !loops.PerCall(p, call) {
			continue
		}
		if closed(p, call) {
			return p
		}
		if p.Func != p.Decl || !returned(p, call) {
			continue
		}
		self := p.Info.Defs[p.Decl.Name]
		for _, in := range s.Calls(func(fn *types.Func) bool { return fn == self }) {
			for _, call := range in.Calls() {
				if in.Callee(call) == self && loops.PerCall(in, call) && closed(in, call) {
					return in
				}
			}
		}
	}
	return nil
}

// returned reports whether the function returns the pool that a call opens.
func returned(p *gocode.Place, open *ast.CallExpr) bool {
	found := false
	ast.Inspect(p.Decl, func(n ast.Node) bool {
		if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) > 0 {
			found = found || syntax.Origin(p, ret.Results[0]) == ast.Expr(open)
		}
		return !found
	})
	return found
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
