// Package sqlfullscan finds queries for which an embedded database reads a whole table, because no
// index has their column.
package sqlfullscan

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// leastEach is the minimum CPU in seconds of a query for each row that it returns: a row that an
// index finds takes a tenth of it.
const leastEach = 50e-6

// Rule is sql-full-scan.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sql-full-scan",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Query reads many rows to return few",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// How many of the rows the query needs is not known.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.4, High: 1},
				Specificity: 2, // it says why the query takes long
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `SQLite runs in the process. If a query has a condition on a column,
and no index starts with that column, it reads every row of the table each time:
its CPU grows with the table, even if it returns only a few rows. An index finds
them with a few comparisons.

Create an index that starts with the column; further columns of the condition
or of ORDER BY can follow it. EXPLAIN QUERY PLAN says SEARCH instead of SCAN
when the query uses it. An index costs a little at each write.

If no index has the order of a query with ORDER BY and LIMIT, the query reads
and sorts the whole table, too, even for the first page. COUNT reads all rows
that it counts, even with an index. ORDER BY random() sorts all rows that match,
with their columns and joins: sort only keys, and read the few rows that remain.

It is fine for small tables and for queries that return much of the table. The
rule compares the program's own SQL: queries and the CREATE statements, in Go
strings and in embedded files. It reports queries of tables that are all created
there, of which no condition can use an index or a key, and that take at least
50 µs of CPU for each row that they return. The CPU of databases in other
processes is not in the recording, so the rule reports nothing about them.

Seen in the field: ethpandaops/benchmarkoor#147 (queries of 0.5 to 62 s),
kalbasit/ncps#68, superseriousbusiness/gotosocial#1887 (a count on every page).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	tables := schema{}
	for _, text := range created(p) {
		tables.read(text)
	}
	s := &search{pass: p, sql: sqltext.Of(p), tables: tables, lines: map[line]*query{}}
	s.collect()
	judge := func(c *finder.Case) bool {
		q := s.at(&c.Site.Frame)
		if q == nil || q.most.Line != c.Site.Line || q.most.File != c.Site.File {
			return false
		}
		if q.random && !q.describeRandom(c) {
			return false
		}
		each, ok := q.perRow(p)
		if !q.random && (!ok || each < leastEach) {
			return false
		}
		c.CPU, c.Allocs, c.Block, c.Mutex, c.Live = q.rows, nil, nil, nil, nil
		c.Callees = []string{"database/sql.*"}
		c.Confidence = rule.Likely
		if q.random {
			return true
		}
		c.Cause = fmt.Sprintf("The query has a condition on column %s of table %s, and no index or key starts with that column: the database reads the whole table for each query, %s of CPU for each row that the query returns.",
			q.column, q.table, units.Seconds(each))
		c.Fix = fmt.Sprintf("Create an index: CREATE INDEX %[1]s_%[2]s ON %[1]s(%[2]s). EXPLAIN QUERY PLAN then says SEARCH instead of SCAN.", q.table, q.column)
		switch {
		case q.by != "":
			q.describeOrder(c, each)
		case q.counts:
			c.Cause = fmt.Sprintf("The query counts rows of table %s, and the database reads all that it counts for each query: %s of CPU for one number.", q.table, units.Seconds(each))
			c.Fix = "Keep the count in a row that inserts and deletes change in the same transaction, or cache it for some seconds. To know whether there is a next page, ask for one row more than a page has."
		}
		return true
	}
	return finder.Line{Start: finder.Frames(s.frame), Judge: judge}
}

// query is a call that makes a database read a whole table, with the rows of the profile below it
// and below the reads of its result.
type query struct {
	table, column string
	by            string      // what it sorts all rows by, where it compares no column
	counts        bool        // it counts rows
	random        bool        // what it sorts all rows by is random
	call          site.Frame  // the line of the call
	loop          int         // the line within the loop over the result; 0 for one row
	sender        *site.Frame // of random: the line that sends it, nearest to the client
	rows          []*site.Row
	values        map[line]int64
	most          *site.Frame // the line of most of it
}

// describeOrder fills in the words for a query that sorts a whole table.
func (q *query) describeOrder(c *finder.Case, each float64) {
	c.Cause = fmt.Sprintf("The query sorts all rows of table %s by %s for the few rows that LIMIT keeps, and no index has that order: the database reads the whole table for each query, %s of CPU for each row that the query returns.",
		q.table, q.by, units.Seconds(each))
	c.Fix = fmt.Sprintf("Create an index on %s with the columns of ORDER BY, in that order. An expression needs a column of its own (GENERATED ALWAYS AS … STORED) or an index on the same expression. EXPLAIN QUERY PLAN then has no USE TEMP B-TREE.", q.table)
}

// perRow returns the CPU in seconds for each row of the results; false where that was not counted.
func (q *query) perRow(p *rule.Pass) (float64, bool) {
	spent, _ := stacks.Sum(q.rows)
	each, ok := evidence.PerExecution(p, q.call, float64(spent)*1e-9)
	if !ok || q.loop == 0 {
		return each, ok
	}
	ran, _ := evidence.Executions(p, q.call)
	in := q.call
	in.Line = q.loop
	read, ok := evidence.Executions(p, in)
	if !ok {
		return 0, false
	}
	return each / max(1, read.PerUnit/ran.PerUnit), true
}
