// Package rowaskedtwice finds pairs of statements about one row of which the database needs only
// one.
package rowaskedtwice

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/awaited"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

// mostSaved is how often the statement that remains must run, for each of the other.
const mostSaved = 0.7

// fraction of the statement's cost: the one that remains does a little more.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.5, High: 1}

// Rule is row-asked-twice.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "row-asked-twice",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedTrace},
		Title: "Two statements or requests about one thing where one would do",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim:   rule.Claim{Fraction: fraction, Specificity: 2, Removes: true},
			Prepare: prepare,
		},
	}
}

const doc = `A function asks the database whether a row exists, and then inserts, updates,
deletes or reads it. Or it reads a number, adds one and writes it; reads a row,
sets a field and writes it; or writes a row and reads it back. Each statement is
a round trip, and the database looks the row up twice. Between the two another
request may change the row, so the first answer is not even reliable.

Let the statement that does the work say what it found: INSERT … ON CONFLICT (or
ON DUPLICATE KEY), RowsAffected of an UPDATE or DELETE, sql.ErrNoRows of the
query. Compute in the statement: SET n = n + 1, with the condition in WHERE. Take
what was written from RETURNING, or from the values at hand. The same holds for
Redis: GET returns redis.Nil for a missing key, SET has NX and XX, and DEL, SADD
and SREM say how many they removed or added. A GET of a missing resource returns
404, and object stores return NoSuchKey, so a HEAD request before is unnecessary.

It is fine where the test mostly ends the request, which then does not write, and
where rules about the row decide what is written. The rule reports constant
statements about one row of one table, commands of go-redis about one key, and
requests of net/http, minio-go and the AWS SDK for one URL or object, directly or
in functions below, if the second runs for at least seven in ten of the first. It
leaves alone queries that lock (FOR UPDATE), and those whose result is used for
something else.

Seen in the field: miniflux/v2#3658 and miniflux/v2#4181 (each entry of a feed
looked up before it was stored), open-policy-agent/opa-control-plane#418 (SELECT 1
and then SELECT id, 457 and 324 ms), apigee/registry#736.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, sql: sqltext.Of(p), summaries: map[string]*summary{}, functions: map[*ast.FuncDecl][]*access{}}
	s.lines = finder.Remember(p, s.look)
	judge := func(c *finder.Case) bool {
		found := s.lines.At(&c.Site.Frame)
		if found == nil {
			return false
		}
		found.describe(c)
		what := "this statement"
		if found.needless.unit != "" {
			what = "this request"
		}
		awaited.Price(p, c.Match, fraction, what)
		return true
	}
	return finder.Line{Start: finder.Frames(s.lines.Calling((*pair).calls)), Judge: judge}
}

// calls reports whether a function of a profile is the one that sends the needless statement.
func (f *pair) calls(function string) bool {
	fn := f.place.Callee(f.needless.call)
	name := funcname.Name(function)
	return fn != nil && (name == fn.Name() || name == "Scan")
}

func (f *pair) describe(c *finder.Case) {
	c.Confidence = rule.Likely // what else depends on the order is not known
	a, b := f.needless, f.by
	first := fmt.Sprintf("%s (line %d)", syntax.Text(a.call.Fun), syntax.Line(f.place, a.call.Pos()))
	second := fmt.Sprintf("%s (line %d)", syntax.Text(b.call.Fun), syntax.Line(f.place, b.call.Pos()))
	name := syntax.FuncName(f.place)
	switch {
	case a.unit != "":
		c.Cause, c.Fix = f.describeKeyed(first, second, name)
	case b.call.Pos() < a.call.Pos():
		c.Cause = fmt.Sprintf("%s writes a row of %s with %s, and then reads it back with %s: a second statement for what the first one knows.", name, a.Table, second, first)
		c.Fix = "Take the columns that the database sets from RETURNING (or LastInsertId), and the others from the values at hand."
	case f.use == decides && b.reads():
		c.Cause = fmt.Sprintf("%s asks with %s only whether a row of %s exists, and then reads the same row with %s, which says that as well.", name, first, a.Table, second)
		c.Fix = fmt.Sprintf("Drop the first query: if the row is missing, %s returns sql.ErrNoRows.", syntax.Text(b.call.Fun))
	case f.use == decides:
		c.Cause = fmt.Sprintf("%s asks with %s only whether a row of %s exists, and then writes it with %s: the row is read before it is written. The write finds the row itself, and what the query saw may have changed by then.", name, first, a.Table, second)
		c.Fix = "Send only the write, and let it say what it found: INSERT … ON CONFLICT DO NOTHING or DO UPDATE (with a unique index) instead of a test and an INSERT, RowsAffected of an UPDATE or DELETE for a row that is missing."
	case f.use == counts:
		c.Cause = fmt.Sprintf("%s reads a number of a row of %s with %s, computes the new one, and writes it with %s: the row is read before it is written. Two requests at a time may read the same number, and one of the changes is lost.", name, a.Table, first, second)
		c.Fix = "Compute in the statement: UPDATE … SET n = n + ?, with the condition on the old number in WHERE, and RETURNING for the new one."
	default:
		c.Cause = fmt.Sprintf("%s reads a row of %s with %s only to set fields of it and write it with %s: the row is read before it is written.", name, a.Table, first, second)
		c.Fix = "UPDATE only the columns that change, by the key, and take the rest of the row from RETURNING if the answer shows it; RowsAffected says whether the row exists."
	}
	c.Cause += fmt.Sprintf(" It runs %s per %s.", evidence.Times(f.runs), c.Pass.Manifest.Unit())
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s of the first one per %s", units.Number(f.runs), c.Pass.Manifest.Unit())})
}
