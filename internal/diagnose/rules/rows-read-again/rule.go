// Package rowsreadagain finds queries that read the same rows again for each request, though the
// program hardly ever writes to their tables.
package rowsreadagain

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sqltext"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastPerRequest is the minimum number of queries for each request or operation.
	leastPerRequest = 0.9
	// leastRuns is the minimum number of queries of a program without requests, and leastPerSecond
	// that in each second.
	leastRuns, leastPerSecond = 100, 5
	// seldom is how often a table may be written, for each query.
	seldom = 0.02
)

// Rule is rows-read-again.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "rows-read-again",
		Kind:  rule.IO,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedInputs},
		Title: "Same rows read from the database for each request",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// A query every few seconds remains.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.8, High: 1},
				Specificity: 3, // it says why the query need not run
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A service asks the database the same question for each request or tick: the
feature flags, a setting by its name, the tariffs, the permissions of a role. The
rows change a few times a day. Each query costs a round trip, the database's
work, and a connection that other queries wait for.

Keep the rows in memory, read them again every few seconds (or when they change,
if the database can notify), and let readers load them from an atomic.Pointer.
One goroutine reads them again, so that not all requests ask at once when the
time is over; after an error the old rows stay.

A middleware that looks up the account, the tenant or the user of each request
does the same for one of a few values. Keep each row for some seconds by its key,
in a cache with a limit, and drop it where the program changes the row.

It is fine where a change must be seen by the next request, or where the query
must be part of a transaction. The rule reports constant SELECT statements that
run about once per request or more, or many times per second. Their arguments
are constants or values that were set once. With values of the request, it
reports queries of a middleware, and those for which at most one value came for
four different requests, or for four lookups of them if each makes several. Of a
kept object, such as a session, that asks for the row of its own key again, it
reports queries of each fifth request or more: the row belongs into a field of
the object. No executed statement of the program writes to their tables; other
programs may. It leaves alone queries in transactions, with FOR UPDATE, with the
time, and of tables that are used as queues.

Seen in the field: sourcegraph/sourcegraph-public-snapshot#6626 (240 reads of
the configuration per minute, 24 with a cache), justtrackio/gosoline#898,
everruns/everruns#3704 (feature flags), RHEnVision/provisioning-backend#229 (the
account of each request: 72 ms became 1), kite-org/kite#439 (users).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, sql: sqltext.Of(p), queries: map[gocode.Pos]*query{}}
	if s.mapped() {
		return finder.Line{}
	}
	s.lines = finder.Remember(p, s.look)
	p.EachRow(s.add)
	start := func(r *site.Row) int {
		i := s.frame(r)
		if i < 0 {
			return -1
		}
		if q := s.lines.At(r.Stack[i]); q.at.Line != r.Stack[i].Line {
			return -1 // it reads the result
		}
		return i
	}
	judge := func(c *finder.Case) bool {
		q := s.lines.At(&c.Site.Frame)
		if q == nil || q.inTx {
			return false
		}
		if len(q.values) > 0 {
			if a, ok := s.again(q); ok && s.often(q.perUnit) {
				c.CPU = q.rows
				s.describeAsked(c, q, a)
				return true
			}
			h := s.holder(q)
			if h == nil {
				return false
			}
			c.CPU = q.rows
			s.describeHeld(c, q, h)
			return true
		}
		if !s.often(q.perUnit) {
			return false
		}
		c.CPU = q.rows
		s.describe(c, q)
		return true
	}
	return finder.Line{Start: finder.Frames(start), Judge: judge}
}

// add adds a row to the query that it is spent on.
func (s *search) add(r *site.Row) {
	i := s.frame(r)
	if i < 0 {
		return
	}
	q := s.lines.At(r.Stack[i])
	q.rows = append(q.rows, r)
	for _, f := range r.Stack[:i] {
		q.inTx = q.inTx || strings.Contains(f.Function, "Tx).")
	}
}

// mostHelpers is how many functions may be between a query and the client.
const mostHelpers = 4

// frame returns the index of the frame that sends a query or reads its result, itself or through
// helpers that get the query; -1 for none.
func (s *search) frame(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		if r.Stack[i].Owner.Kind != gocode.Main || !client(r.Stack[i-1].Function) {
			continue
		}
		for at := i; at < min(len(r.Stack), i+mostHelpers) && r.Stack[at].Owner.Kind == gocode.Main; at++ {
			if q := s.lines.At(r.Stack[at]); q != nil && (at == i || q.sent.Calls(r.Stack[at-1].Function)) {
				return at
			}
		}
	}
	return -1
}

// client reports whether a function of a profile is one of a database's client.
func client(function string) bool {
	return strings.HasPrefix(function, "database/sql.") || strings.HasPrefix(function, "github.com/jmoiron/sqlx.") || strings.HasPrefix(function, "github.com/jackc/pgx/")
}

// often reports whether a query runs often enough.
func (s *search) often(perUnit float64) bool {
	m := s.pass.Manifest
	if m.Unit() != "run" {
		return perUnit >= leastPerRequest
	}
	ph, ok := m.Phase(recording.PhaseCounts)
	return perUnit >= leastRuns && (!ok || ph.Seconds <= 0 || ph.Runs > 1 || perUnit >= leastPerSecond*ph.Seconds)
}

func (s *search) describe(c *finder.Case, q *query) {
	c.Confidence = rule.Likely // other programs may write to the table
	from := strings.Join(q.tables, ", ")
	c.Cause = fmt.Sprintf("%s sends the same query of %s again, %s %s, with arguments that do not depend on the request. The program itself writes there less than once in %d of these queries, or never: unless others write, the rows are the same.",
		syntax.FuncName(q.place), from, evidence.Times(q.perUnit), s.per(), int(1/seldom))
	c.Fix = fmt.Sprintf("Keep the rows of %s in memory, and read them again every few seconds or when they change: one goroutine replaces an atomic.Pointer, from which requests read.", from)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s queries %s", units.Number(q.perUnit), s.per())})
	if calls, same := s.counted(q); calls > 0 {
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: fmt.Sprintf("%s of %s calls had the same input as an earlier one", units.Count(same), units.Count(calls))})
	}
}

func (s *search) per() string { return "per " + s.pass.Manifest.Unit() }
