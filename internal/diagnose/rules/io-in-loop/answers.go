package ioinloop

import (
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
)

// mostRead is how often a line may run for each query to count as one that reads a short answer. Of
// a long one, most of the reading is for its rows, and remains when one query gets all.
const mostRead = 3

// reading are functions that read the answer to a query, as profiles name them. Databases that find
// rows when they are asked for the next one do most of the work there.
func reading() []string {
	return []string{"database/sql.(*Rows).*", "database/sql.(*Row).Scan", "github.com/jackc/pgx*.(*baseRows).*", "github.com/jackc/pgx*.(*poolRows).*"}
}

// withAnswers adds to a match the CPU that reading the answers to its queries takes, in the
// function that sends them, if the answers are short.
func withAnswers(p *rule.Pass, m *rule.Match, l loop, k asked) {
	lines := answered(p, m.Site, k)
	if len(lines) == 0 {
		return
	}
	within := func(r *site.Row) bool {
		return l.from == nil || slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return *f == *l.from })
	}
	reads := func(r *site.Row) bool {
		for i := 1; i < len(r.Stack); i++ {
			f := r.Stack[i]
			if f.Function == m.Site.Function && f.File == m.Site.File && slices.Contains(lines, f.Line) {
				return funcname.Match(r.Stack[i-1].Function, reading()...)
			}
		}
		return false
	}
	for _, line := range lines {
		f := m.Site.Frame
		f.Line = line
		if runs, ok := evidence.Executions(p, f); ok && runs.PerUnit > mostRead*l.asks {
			return
		}
	}
	for _, s := range p.Table.Sites {
		m.CPU = append(m.CPU, stacks.Select(s.CPU, func(r *site.Row) bool { return reads(r) && within(r) && stacks.Steady(r) })...)
	}
	m.Callees = slices.Concat(m.Callees, reading())
}

// answered returns the lines of a site's function that read the answer to its query: its own, and
// those that call methods of the variable that gets the answer, if the function sets it once.
func answered(p *rule.Pass, s *site.Site, k asked) []int {
	place := p.Place(s)
	if place == nil || k.noun != query {
		return nil
	}
	lines := []int{s.Line}
	for _, f := range k.functions {
		for _, call := range syntax.CallsTo(place, f) {
			rows, ok := syntax.AssignedTo(place, call).(*ast.Ident)
			if !ok || syntax.SetsOf(place, rows) > 1 {
				continue
			}
			for _, use := range syntax.Uses(place, place.Object(rows)) {
				if sel, ok := syntax.Parent(place, use).(*ast.SelectorExpr); ok && sel.X == ast.Expr(use) {
					lines = append(lines, syntax.Line(place, use.Pos()))
				}
			}
		}
	}
	return lines
}
