// Package columnsunread finds large columns of a query that the program reads into fields which
// nothing uses.
package columnsunread

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastBytes is the minimum memory that the columns of a row take, in the mean.
	leastBytes = 1024
	// mostRead is the largest share of the rows for which a column is used that counts as unread.
	mostRead = 0.05
)

// Rule is columns-unread.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "columns-unread",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Columns or relations read from the database that nothing uses",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// How large each column is is not known: the database's own work may remain.
				Fraction:    rule.Fraction{Expect: 0.6, Low: 0.15, High: 0.98},
				Specificity: 2, // how the bytes are allocated does not matter if they are not read
			},
			Prepare: prepare,
		},
	}
}

const doc = `A list shows the title and the date of each article, and its query reads all
columns of the table into the type that the page of one article needs: the text,
the picture, the settings as JSON. The database reads them from other pages of its
file, sends them, the driver copies them, and Scan copies them again: kilobytes for
each row that nothing looks at.

Name the columns that the list shows in a query of its own, and scan them into a
type of its own: with gorm and sqlx, a struct with fewer fields. Large columns can
also be in a table of their own.

The same holds for relations: gorm's Preload sends a query for the rows of another
table, which only some callers need. Leave it to these.

It is fine where the values are small, or kept for later. The rule reports queries
whose rows take at least a kilobyte each, and of whose texts at least half are
fields that no executed line of the program reads, or hardly one row in twenty. Of
sqlx, gorm and scany, which fill structs, it reports those that no line reads. A
value that is passed on as an interface, such as to an encoder or a template, is
taken to be read.

Seen in the field: stashapp/stash#478 (pictures in the list of performers: 560 ms
became 30), mattermost/mattermost#25865 (five tables joined for one field).`

// scanners are functions that store the columns of a row, as profiles name them.
var scanners = []string{"github.com/jmoiron/sqlx.*", "gorm.io/gorm.(*DB).*", "github.com/georgysavva/scany*", "github.com/blockloop/scan*", "database/sql.(*Rows).Scan", "database/sql.(*Row).Scan", "github.com/jackc/pgx*.(*baseRows).Scan", "github.com/jackc/pgx*.(*connRow).Scan"}

func prepare(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	s := &search{pass: p, sql: sqltext.Of(p), reads: map[*types.Var]float64{}, lists: map[*ast.CompositeLit]bool{}}
	s.lines = finder.Remember(p, s.look)
	start := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			if r.Stack[i].Owner.Kind == gocode.Main && funcname.Match(r.Stack[i-1].Function, scanners...) && s.lines.At(r.Stack[i]) != nil {
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		q := s.lines.At(&c.Site.Frame)
		if q == nil {
			return false
		}
		var bytes float64
		for _, r := range c.Allocs {
			bytes += float64(r.Value)
		}
		each, ok := evidence.PerExecution(p, c.Site.Frame, bytes)
		if !ok || each < leastBytes {
			return false
		}
		c.Confidence = rule.Likely // the columns that are read may be the large ones
		c.Cause = fmt.Sprintf("%s scans each row into a value of type %s, %s for each row, but no code that ran reads %s. The database reads these columns, the driver copies them, and they are dropped.",
			syntax.FuncName(c.Place), q.typ, units.Bytes(each), funcname.List(q.unread))
		if q.whole {
			c.Cause = fmt.Sprintf("%s reads all columns of the rows into values of type %s, %s for each query, but no code that ran reads %s. The database reads these columns, the driver copies them, and they are dropped.",
				syntax.FuncName(c.Place), q.typ, units.Bytes(each), funcname.List(q.unread))
		}
		if q.used {
			c.Cause = fmt.Sprintf("%s scans each row into a value of type %s, %s for each row, but %s are read for hardly one row in %d. The database reads these columns for all rows, and the driver copies them.",
				syntax.FuncName(c.Place), q.typ, units.Bytes(each), funcname.List(q.unread), int(1/mostRead))
		}
		what := "rows"
		if q.whole {
			what = "queries"
		}
		c.Fix = fmt.Sprintf("Use a query of its own for the callers that do not need %s, which names only the columns that they show, and scan them into a type of its own.", funcname.List(q.unread))
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s %s per %s", units.Number(q.rows), what, p.Manifest.Unit())})
		return true
	}
	return []finder.Line{{Start: finder.Frames(start), Judge: judge}, s.relations()}
}
