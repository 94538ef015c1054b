package poolwait

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/locks"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
)

// holders returns the types of values that hold a connection.
func holders() []string {
	return []string{
		"*database/sql.Rows", "*database/sql.Tx", "*database/sql.Conn", "*github.com/jmoiron/sqlx.Rows", "*github.com/jmoiron/sqlx.Tx", "*github.com/jmoiron/sqlx.Conn",
		"github.com/jackc/pgx/v5.Rows", "github.com/jackc/pgx/v5.Tx", "*github.com/jackc/pgx/v5/pgxpool.Conn", "github.com/gomodule/redigo/redis.Conn",
	}
}

// databases returns the functions for which a connection is held.
func databases() []string {
	return []string{"(*database/sql.*", "database/sql.*", "*github.com/jmoiron/sqlx*", "*github.com/jackc/pgx*", "*github.com/gomodule/redigo*", "*gorm.io/gorm*"}
}

// held is a part of a function that holds a connection while it waits for something else.
type held struct {
	name     string // of the variable
	from, to int
	in       string
	waits    int // the line
	cause    string
	tx       bool
}

// heldAt returns the part of the function around a line that holds a connection and waits for
// something else meanwhile; nil for none.
func heldAt(p *rule.Pass, l *exectrace.Line) *held {
	if l == nil || p.Syntax == nil {
		return nil
	}
	s := traced.SiteAt(p, *l)
	if s == nil {
		return nil
	}
	place := p.Place(s)
	if place == nil {
		return nil
	}
	var found *held
	ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || found != nil || len(a.Rhs) != 1 {
			return found == nil
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		v := syntax.LocalVar(place, a.Lhs[0])
		if !ok || v == nil || !slices.Contains(holders(), types.TypeString(v.Type(), nil)) {
			return true
		}
		sec := locks.Held(place, call, until(place, v, call), a.Lhs[0], databases()...)
		if line, cause, ok := sec.Meanwhile(p, s.File); ok {
			found = &held{v.Name(), sec.From, sec.To, syntax.FuncName(place), line, cause, released(v.Type()) == "Commit"}
		}
		return found == nil
	})
	return found
}

// released returns the name of the method that gives a connection back.
func released(t types.Type) string {
	switch name := types.TypeString(t, nil); {
	case name[len(name)-2:] == "Tx":
		return "Commit"
	case name == "*github.com/jackc/pgx/v5/pgxpool.Conn":
		return "Release"
	}
	return "Close"
}

// until returns where a function gives a connection back after a call: at the last call that does,
// or at its end.
func until(p *gocode.Place, v *types.Var, take *ast.CallExpr) token.Pos {
	end := syntax.Body(p).End()
	at := token.NoPos
	for _, use := range syntax.Uses(p, v) {
		sel, ok := syntax.Parent(p, use).(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != released(v.Type()) || use.Pos() < take.End() || use.Pos() >= end {
			continue
		}
		call, ok := syntax.Parent(p, sel).(*ast.CallExpr)
		if !ok {
			continue
		}
		if _, deferred := syntax.Parent(p, call).(*ast.DeferStmt); deferred {
			return end
		}
		at = max(at, call.Pos())
	}
	if at == token.NoPos {
		return end
	}
	return at
}

// words says what is held, and what the function waits for meanwhile.
func (h *held) words() string {
	return fmt.Sprintf(" A connection is held from line %d to %d (%s, in %s).%s", h.from, h.to, h.name, h.in, h.cause)
}

// fix says what to do about it.
func (h *held) fix() string {
	if h.tx {
		return fmt.Sprintf("Do not wait for anything else in a transaction: do what line %d waits for before it, or after Commit.", h.waits)
	}
	return fmt.Sprintf("Do not wait for anything else with a connection: read all rows into a list, close them, then do what line %d waits for.", h.waits)
}
