package flow

import (
	"cmp"
	"go/types"
	"slices"
	"strings"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// holding are functions whose results hold a connection of a database pool until they are closed.
func holding() []string {
	return []string{
		"(*database/sql.DB).Query", "(*database/sql.DB).QueryContext", "(*database/sql.DB).Begin*", "(*database/sql.DB).Conn",
		"(*database/sql.Stmt).Query", "(*database/sql.Stmt).QueryContext",
		"(*github.com/jmoiron/sqlx.DB).Queryx*", "(*github.com/jmoiron/sqlx.DB).NamedQuery*", "(*github.com/jmoiron/sqlx.DB).Beginx",
	}
}

// holds reports whether a function returns what holds a connection: one of holding, a function of
// the program that returns its result, or the method of an interface that a pool implements.
func holds(fn *types.Func) bool {
	if funcname.Match(fn.FullName(), holding()...) {
		return true
	}
	if fn.Pkg() == nil || fn.Signature().Results().Len() == 0 || symbol.Standard(fn.Pkg().Path()) || strings.HasPrefix(fn.Pkg().Path(), "github.com/jmoiron/sqlx") {
		return false
	}
	switch fn.Signature().Results().At(0).Type().String() {
	case "*database/sql.Rows", "*database/sql.Conn", "*database/sql.Tx", "*github.com/jmoiron/sqlx.Rows", "*github.com/jmoiron/sqlx.Tx":
		return true
	}
	return false
}

// Holder is a line that does not give the connection of a database pool back on all paths.
type Holder struct {
	Site       *site.Site
	Place      *gocode.Place
	Cause, Fix string
	runs       float64
}

// Holders returns the lines that ran and do not give their connection back, most frequent first.
func Holders(p *rule.Pass) (found []Holder) {
	if p.Syntax == nil {
		return nil
	}
	for _, place := range p.Syntax.Calls(holds) {
		cause, fix := Unclosed(place)
		if cause == "" {
			continue
		}
		file := place.Fset.Position(place.Nodes[0].Pos()).Filename
		s := traced.SiteAt(p, exectrace.Line{Function: syntax.ProfileName(place), File: file, Line: place.Line})
		if s == nil || slices.ContainsFunc(found, func(h Holder) bool { return h.Site.Line == s.Line && h.Site.File == s.File }) {
			continue
		}
		e, counted := evidence.Executions(p, s.Frame)
		if counted && e.PerUnit <= 0 {
			continue
		}
		found = append(found, Holder{s, place, cause, fix, e.PerUnit})
	}
	slices.SortStableFunc(found, func(a, b Holder) int { return cmp.Compare(b.runs, a.runs) })
	return found
}

// Opens reports whether a row is of a pool of database/sql that opens a connection.
func Opens(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool {
		return funcname.Match(f.Function, "database/sql.(*DB).conn", "database/sql.(*DB).openNewConnection")
	})
}
