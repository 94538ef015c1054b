// Package rowsonlycounted finds rows that a program loads from a database only to count or to sum
// them.
package rowsonlycounted

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastRows is the minimum mean number of rows that a query returns: to count fewer in the database
// costs about as much.
const leastRows = 8

// leastBytes is the minimum memory that a query of a builder allocates each time. What it takes
// without rows is about half of that.
const leastBytes = 16 << 10

// Rule is rows-only-counted.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "rows-only-counted",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedTrace},
		Title: "Rows loaded only to be counted or summed",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own, by the number of rows.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.3, High: 0.98},
				Specificity: 3, // columns-unread and count-for-existence report parts of it
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function loads all rows of a kind, and its caller only takes the length of the
list, asks whether it is empty, or adds up one column. The database reads each
row with all its columns and sends them, the driver converts them, Scan copies
them into structs, and the collector frees these: for one number.

Let the database compute it: SELECT COUNT(*), EXISTS(SELECT 1 …) or SUM(column),
with the same condition, in a query of its own. An index on the columns of the
condition answers that without reading the rows. The function that loads the
rows stays for callers that need them.

It is fine for a few rows, and where the rows are used as well. The rule reports
constant queries without LIMIT and GROUP BY that return at least eight rows each
time, as counted, and lists that nothing but len or a loop of additions uses,
also where up to three functions or an interface lie between. Of gorm, xorm, bun
and go-pg, which compose the query, it reports those that allocate at least 16 KiB.

Seen in the field: casdoor/casdoor#1653 (all users of an organization loaded for
the number of the next one).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, sql: sqltext.Of(p), summaries: map[string]*loading{}}
	lines := finder.Remember(p, s.look)
	judge := func(c *finder.Case) bool {
		u := lines.At(&c.Site.Frame)
		if u == nil {
			return false
		}
		if u.in.built != nil {
			bytes := loaded(p, c)
			if bytes < leastBytes {
				return false
			}
			u.describeBuilt(c, bytes)
		} else {
			n := rows(p, c.Match)
			if n < leastRows {
				return false
			}
			u.describe(c, n)
		}
		awaited.Price(p, c.Match, *c.Fraction, "this query")
		return true
	}
	return finder.Line{Start: finder.Frames(lines.Calling((*use).calls)), Judge: judge}
}

// rows returns how many rows the loops below a match read in each query, by the counted iterations
// of those that call Next or Scan; 0 if that is unknown.
func rows(p *rule.Pass, m *rule.Match) (most float64) {
	reads := readers()
	for _, all := range [][]*site.Row{m.CPU, m.Allocs} {
		for _, r := range all {
			for i := 1; i < len(r.Stack) && most == 0; i++ {
				if funcname.Match(r.Stack[i-1].Function, reads...) {
					most = iterations(p, r.Stack[i])
				}
			}
			if most > 0 {
				return most
			}
		}
	}
	return 0
}

// readers returns functions that read one of several rows, as profiles name them.
func readers() []string {
	return []string{
		"database/sql.(*Rows).Next", "database/sql.(*Rows).Scan", "github.com/jmoiron/sqlx.(*Rows).StructScan",
		"github.com/jackc/pgx*.(*baseRows).Next", "github.com/jackc/pgx*.(*baseRows).Scan",
	}
}

// iterations returns how often the loop around a line runs each time it is entered.
func iterations(p *rule.Pass, f *site.Frame) float64 {
	place, ok := p.Syntax.At(f.File, f.Line)
	if !ok {
		return 0
	}
	loop := place.Loop()
	if loop == nil {
		return 0
	}
	l, _ := p.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, loop.Pos()))
	return l.Iterations
}

// describe fills in the words and the share that the fix saves.
func (u *use) describe(c *finder.Case, n float64) {
	c.Confidence = rule.Likely // which index the database has is not known
	where := ""
	if u.in.sent.Pos() != u.call.Pos() {
		where = fmt.Sprintf(" (the query is on %s)", syntax.Where(u.in.place, u.in.sent.Pos()))
	}
	table := strings.Join(u.in.tables, ", ")
	head := fmt.Sprintf("%s loads all rows of %s that match, %s each time on average%s, and ", syntax.Text(u.call.Fun), table, units.Number(n), where)
	const waste = " Each row is read, converted and allocated for that, and nothing else is read of it."
	switch {
	case u.sums:
		c.Cause = head + fmt.Sprintf("the loop on line %d only adds up values of them.", u.line) + waste
		c.Fix = fmt.Sprintf("Let the database add them up: SELECT SUM(…) (or COUNT(*) with the condition) FROM %s WHERE …, in a query of its own.", table)
	case u.empty:
		c.Cause = head + fmt.Sprintf("line %d only asks whether there are any.", u.line) + waste
		c.Fix = fmt.Sprintf("Ask for existence: SELECT EXISTS(SELECT 1 FROM %s WHERE …), in a query of its own, which stops at the first row.", table)
	default:
		c.Cause = head + fmt.Sprintf("line %d only takes the length of the list.", u.line) + waste
		c.Fix = fmt.Sprintf("Let the database count them instead of loading them: SELECT COUNT(*) FROM %s WHERE …, in a query of its own.", table)
	}
	part := n / (n + leastRows)
	c.Fraction = &rule.Fraction{Expect: 0.9 * part, Low: 0.4 * part, High: 0.99}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: units.Number(n) + " rows in each query"})
}
