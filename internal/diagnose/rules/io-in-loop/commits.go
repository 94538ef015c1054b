package ioinloop

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/durable"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// transaction is the noun of commits.
const transaction = "transaction"

// commits are functions that end a transaction, as profiles name them.
func commits() []string {
	return []string{
		"database/sql.(*Tx).Commit", "github.com/jackc/pgx/v5.(*dbTx).Commit", "github.com/jackc/pgx/v5/pgxpool.(*Tx).Commit",
		"github.com/jackc/pgx/v4.(*dbTx).Commit", "github.com/jackc/pgx/v4/pgxpool.(*Tx).Commit", "gorm.io/gorm.(*DB).Commit",
		"github.com/dgraph-io/badger*.(*Txn).Commit", "github.com/dgraph-io/badger*.(*DB).Update",
	}
}

// unsynced reports whether a line writes to a store within the process in a way that does not wait
// for the disk, and so commits nothing.
func unsynced(p *rule.Pass, m *rule.Match) bool {
	place := p.Place(m.Site)
	if place == nil {
		return false
	}
	for _, call := range syntax.CallsOf(place, funcname.TypedAll(durable.Writes())...) {
		if !durable.Waits(p, place, call) {
			return true
		}
	}
	return false
}

// writing are functions that send a statement of a transaction.
func writing() []string {
	return []string{
		"database/sql.(*Tx).Exec*", "database/sql.(*Stmt).Exec*", "github.com/jackc/pgx*.(*dbTx).Exec*", "github.com/jackc/pgx*.(*Tx).Exec*",
		"github.com/jackc/pgx*.(*dbTx).SendBatch", "github.com/jackc/pgx*.(*Tx).SendBatch", "github.com/jackc/pgx*.CopyFrom",
		"gorm.io/gorm.(*DB).Create*", "gorm.io/gorm.(*DB).Save", "github.com/dgraph-io/badger*.(*Txn).Set*",
	}
}

// mostStatements is how often a line may run for each commit before the transaction counts as one
// of several rows.
const mostStatements = 1.5

// perRow reports whether a loop commits a transaction for each row: it has the rows in memory, it
// does not go through pieces of a list, and a transaction does not have several rows already.
func perRow(p *rule.Pass, place *gocode.Place, loop ast.Node, asks float64) bool {
	return !loops.Waits(place, loop) && !pieces(place, loop) && !severalRows(p, asks)
}

// pieces reports whether a loop goes through parts of a list that have several elements each.
func pieces(p *gocode.Place, loop ast.Node) (found bool) {
	if r, ok := loop.(*ast.RangeStmt); ok {
		if call, ok := ast.Unparen(r.X).(*ast.CallExpr); ok && strings.Contains(p.CalleeName(call), "Chunk") {
			return true
		}
		if elem := syntax.Elem(p.TypeOf(r.X)); elem != nil && syntax.Elem(elem) != nil && !syntax.StringOrBytes(elem) {
			return true
		}
	}
	ast.Inspect(loops.Body(loop), func(n ast.Node) bool {
		s, ok := n.(*ast.SliceExpr)
		found = found || ok && s.Low != nil && s.High != nil && !syntax.StringOrBytes(p.TypeOf(s.X)) && !oneElement(s)
		return !found
	})
	return found
}

// oneElement reports whether a slice expression is x[i:i+1].
func oneElement(s *ast.SliceExpr) bool {
	return s.Low != nil && types.ExprString(s.High) == types.ExprString(s.Low)+" + 1"
}

// severalRows reports whether a line that writes in a transaction runs more often than transactions
// are committed.
func severalRows(p *rule.Pass, commits float64) bool {
	for _, s := range p.Table.Sites {
		for _, r := range s.CPU {
			for i := 1; i < len(r.Stack); i++ {
				f := r.Stack[i]
				if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency || !funcname.Match(r.Stack[i-1].Function, writing()...) {
					continue
				}
				if runs, ok := evidence.Executions(p, *f); ok && runs.PerUnit > mostStatements*commits {
					return true
				}
				break
			}
		}
	}
	return false
}

// committing prices a commit by the time that requests wait for it, and for connections that other
// requests return after theirs.
func committing(p *rule.Pass, m *rule.Match) {
	own := func(l *exectrace.Line) bool {
		return l != nil && traced.Generic(l.Function) == traced.Generic(m.Site.Function)
	}
	t := traced.LongestQueue(p, leastWaited, func(place *requests.PlaceTime) bool {
		if place.Object == requests.DatabaseConnection {
			return len(place.Wakers) > 0 && own(place.Wakers[0].Line)
		}
		at := func(l *exectrace.Line) bool { return own(l) && l.Line == m.Site.Line }
		return at(place.Waiter) || at(place.Caller)
	})
	if t != nil {
		price(p, m, t, "Requests wait for %s of their time, for these commits and for what is in use until other ones.")
	}
}
