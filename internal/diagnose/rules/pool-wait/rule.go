// Package poolwait finds requests that wait for a free connection of a pool.
package poolwait

import (
	"fmt"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
	"github.com/hone-go/hone/internal/units"
)

// leastShare of the requests' time that they must wait for a connection.
const leastShare = 0.1

// Rule is pool-wait.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "pool-wait",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Requests wait for a free connection",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `Database clients limit their connections: sql.DB by SetMaxOpenConns, pgxpool by
MaxConns, go-redis by PoolSize, redigo by MaxActive, the MongoDB driver by
maxPoolSize. When all are in use, a query waits until another goroutine returns
one: when it closes its rows, ends its transaction, or has its answer. That wait
is in no CPU profile and in no database statistics, and it grows with load. Rows
that are closed late, and other work between a query and its Close, hold a
connection that nothing uses. If the function that returns connections waits for
another service meanwhile, the finding names that line.

Hold connections for less time: read the rows, close them, then do the rest.
Replace queries in a loop by one. If the database has room, allow more
connections, and keep them: call SetMaxIdleConns of a sql.DB with the same
number as SetMaxOpenConns, or connections are closed and reopened all the time.

It is fine when a small pool is meant to protect the database: the queue then
belongs before it. The rule reports waits of a tenth of the requests' time and
more. It reports nothing where the processors are busy: requests would wait for
a processor instead.

Seen in the field: golang/go#13327 (queries that ran minutes after they were
started), golang/go#23453 (all workers of a server waited there).`

// severalTimes is how often a request must take a connection at a line for that to be the cause.
const severalTimes = 5

// pool is a kind of connection pool and the setting that limits its connections.
type pool struct {
	object, bound, raise string
}

func pools() []pool {
	return []pool{
		{requests.DatabaseConnection, "SetMaxOpenConns", "raise SetMaxOpenConns, and SetMaxIdleConns with it"},
		{requests.PgxConnection, "the MaxConns of pgxpool", "raise MaxConns (pool_max_conns)"},
		{requests.RedisConnection, "the client's pool (PoolSize, MaxActive)", "raise PoolSize (redigo: MaxActive)"},
		{requests.MongoConnection, "the driver's maxPoolSize", "raise maxPoolSize"},
	}
}

// find examines each kind of pool separately.
func find(p *rule.Pass) []rule.Match {
	var matches []rule.Match
	for _, pool := range pools() {
		t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool { return place.Object == pool.object })
		if t != nil {
			matches = append(matches, match(p, t, pool))
		}
	}
	return matches
}

func match(p *rule.Pass, t *traced.Queue, of pool) rule.Match {
	m := rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // the wait is measured, the effect of more connections is not
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("All connections that %s allows are in use: requests spend %s of their time waiting for a free one, mostly here; on average %s wait at a time.",
			of.bound, t.Share(), t.Waiting()) + returned(t),
		Fix:      "Hold connections for less time: close rows before other work, and replace many queries by one. If the database has room, " + of.raise + ".",
		Evidence: t.Evidence(p, of.object, "mostly returned at"),
	}
	if e, ok := evidence.Executions(p, t.Site.Frame); ok && e.PerUnit >= severalTimes {
		m.Cause += fmt.Sprintf(" Each %s takes a connection here again and again, %s times.", p.Manifest.Unit(), units.Number(e.PerUnit))
		m.Fix = "Replace these queries by one that reads all rows (WHERE … IN (…), a join, a preload), or run them on one connection. Only then look at the size of the pool: " + of.raise + " if the database has room."
	}
	for _, w := range t.Place.Wakers {
		if h := heldAt(p, w.Line); h != nil {
			m.Cause += h.words()
			m.Fix = h.fix() + " If the database has room, " + of.raise + "."
			break
		}
	}
	return m
}

// returned says which line returns the connections, for which it matters how long it takes to come
// there.
func returned(t *traced.Queue) string {
	const most = 0.5
	w := t.Place.Wakers
	if len(w) == 0 || w[0].Line == nil || w[0].Share < most {
		return ""
	}
	return fmt.Sprintf(" Most of them are returned at %s.", w[0].Line)
}
