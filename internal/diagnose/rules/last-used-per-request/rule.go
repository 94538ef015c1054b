// Package lastusedperrequest finds requests that each write when, or how often, something was used.
package lastusedperrequest

import (
	"context"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/awaited"
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

// leastPerRequest is the minimum number of writes for each request, or each that its handler gets,
// and leastRuns that in each run of a program that serves requests without a known load.
const leastPerRequest, leastRuns = 0.9, 100

// fraction of the cost: a write for each of many requests remains.
var fraction = rule.Fraction{Expect: 0.9, Low: 0.5, High: 1}

// Rule is last-used-per-request.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "last-used-per-request",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedTrace},
		Title: "Time or number of uses written to the database by each request",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim:   rule.Claim{Fraction: fraction, Specificity: 3, Removes: true},
			Prepare: prepare,
		},
	}
}

const doc = `A middleware that checks a key or a session also notes when it was used: UPDATE keys
SET last_used_at = now(), or uses = uses + 1. So every request writes, also those
that only read: a new version of the row, an entry in the log, a sync, and requests
of one client queue for the lock of one row. A page that shows the time to people
needs it to the minute.

Write at most once a minute for each row: keep the time of the last write by its
key, or compare with the time that was read with the key. Or add the uses up in
memory, and let one goroutine write them every few seconds, and at shutdown, in one
statement. Moving each write into a goroutine of its own only hides the wait.

It is fine where the exact number or time decides something: a quota, a lease, a
limit of attempts. The rule reports UPDATE statements outside of transactions that
set nothing but times of use and counts that grow by one, whose outcome is not used,
and that run about once per request or more, or for each request of their handler.

Seen in the field: infrahq/infra#3478 (requests of one user queued for over a
minute), infrahq/infra#3969, Silo-Server/silo-server#381 (a goroutine and an UPDATE
for each segment of a video), astaxie/TokenHub#248.`

// write is a statement that notes a use.
type write struct {
	place   *gocode.Place
	sent    *sqltext.Sent
	note    *note
	runs    float64
	handler string // whose requests write, if not all requests do
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	sql := sqltext.Of(p)
	lines := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *write { return look(p, sql, place) })
	at := func(r *site.Row) int {
		if p.Manifest.Unit() == "run" && !served(r) {
			return -1
		}
		for i := 1; i < len(r.Stack); i++ {
			if r.Stack[i].Owner.Kind != gocode.Main {
				continue
			}
			if w := lines.At(r.Stack[i]); w != nil && w.sent.Calls(r.Stack[i-1].Function) && w.always(p, r.Stack[i:]) {
				return i
			}
		}
		return -1
	}
	judge := func(c *finder.Case) bool {
		w := lines.At(&c.Site.Frame)
		if w == nil {
			return false
		}
		w.describe(c)
		awaited.Price(p, c.Match, fraction, "this write")
		return true
	}
	return finder.Line{Start: finder.Frames(at), Judge: judge}
}

// served reports whether a row is of a request that the program serves.
func served(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return f.Function == "net/http.(*conn).serve" })
}

// look returns the statement on a line that each request executes to note a use; nil for none.
func look(p *rule.Pass, sql sqltext.Program, place *gocode.Place) *write {
	for _, call := range syntax.Calls(place) {
		sent := sql.Sent(place, call)
		if sent == nil || sent.Reads() || sent.InTx() || !sent.Dropped() {
			continue
		}
		runs, ok := evidence.ExecutionsAt(p, place, call.Lparen)
		if !ok || !evidence.Hot(p, runs) {
			continue
		}
		if found := noteOf(sent.Text, func(i int) bool { return i < len(sent.Args) && isTime(place, sent.Args[i]) }); found != nil {
			return &write{place: place, sent: sent, note: found, runs: runs.PerUnit}
		}
	}
	return nil
}

// isTime reports whether an argument is a time, or a number or text made of one.
func isTime(p *gocode.Place, arg ast.Expr) bool {
	found := false
	ast.Inspect(syntax.Origin(p, arg), func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && p.TypeOf(e) != nil {
			t := strings.TrimPrefix(p.TypeOf(e).String(), "*")
			found = found || t == "time.Time" || t == "database/sql.NullTime"
		}
		return !found
	})
	return found
}

func (w *write) describe(c *finder.Case) {
	c.Confidence = rule.Likely // who reads the columns is not known
	who, often := "each request", evidence.Times(w.runs)+" per "+c.Pass.Manifest.Unit()
	if w.handler != "" {
		who, often = "each of them", "for each request that "+w.handler+" handles"
	}
	c.Cause = fmt.Sprintf("%s writes %s of a row of %s %s, and nothing else: %s writes to the database, also those that only read.",
		syntax.FuncName(w.place), funcname.List(w.note.columns), w.note.table, often, who)
	c.Fix = "Write at most once a minute for each row: keep the time of the last write by its key, in a map with a limit. Or add the uses up in memory and let one goroutine write them every few seconds, in one statement, and at shutdown."
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s per %s", units.Number(w.runs), c.Pass.Manifest.Unit())})
}

// note is what a statement writes about uses.
type note struct {
	table   string
	columns []string
}

// noteOf returns what a statement writes if that is nothing but times and counts of uses; nil for
// others. time reports whether a parameter is a time.
func noteOf(text string, time func(param int) bool) *note {
	a := sqltext.AccessOf(text)
	if a == nil || a.Verb != "update" {
		return nil
	}
	ts := sqltext.Tokens(text)
	from, to := slices.Index(ts, "set"), slices.Index(ts, "where")
	if from < 0 || to < from || slices.Contains(ts, "returning") {
		return nil
	}
	n, param := &note{table: a.Table}, 0
	for _, set := range sqltext.Split(ts[from+1:to], ",") {
		if len(set) < 3 || set[1] != "=" || decides(set[0]) {
			return nil
		}
		column, value := set[0], set[2:]
		given := value[0] == "?" && time(param)
		for _, t := range value {
			if t == "?" {
				param++
			}
		}
		counts := len(value) == 3 && value[0] == column && value[1] == "+" && value[2] == "1"
		now := value[0] == "now" || value[0] == "current_timestamp" || value[0] == "strftime" || value[0] == "datetime" || value[0] == "unixepoch"
		if !counts && !(given && len(value) == 1) && !now {
			return nil
		}
		n.columns = append(n.columns, column)
	}
	return n
}

// decides reports whether the name of a column says that something depends on its exact value.
func decides(column string) bool {
	return slices.ContainsFunc([]string{"version", "revision", "generation", "seq", "attempt", "retr", "fail", "expire", "lease", "lock", "until", "next", "due", "beat", "quota",
		"limit", "remaining", "paid", "done", "finished", "completed", "deleted", "read_at", "sent", "processed", "start"},
		func(word string) bool { return strings.Contains(column, word) })
}
