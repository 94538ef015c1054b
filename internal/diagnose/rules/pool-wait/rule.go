// Package poolwait finds requests that wait for a free connection of a pool.
package poolwait

import (
	"fmt"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/traced"
)

// leastShare of the time of requests that they must wait for a connection.
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

const doc = `Clients of databases open no more connections than they are told: a sql.DB
SetMaxOpenConns, pgxpool MaxConns, go-redis PoolSize, redigo MaxActive, the
driver of MongoDB maxPoolSize. When all are in use, a query waits until another
goroutine gives one back: when it closes its rows, ends its transaction, or has
its answer. That wait is in no CPU profile and in no database statistics, and it
grows with load. Rows that are closed late, or other work done between a query
and its Close, hold a connection for nothing.

Hold connections for less time: read the rows, close them, then do the rest.
Replace queries in a loop by one. If the database has room, allow more
connections, and keep them: of a sql.DB, SetMaxIdleConns as high as
SetMaxOpenConns, or they are closed and reopened all the time.

It is fine when a small pool is meant to protect the database: then the queue
belongs before it, and the rule is silent below a tenth of the requests' time.
It is also silent where the processors are busy: requests would wait for a
processor instead.

Seen in the field: golang/go#13327 (queries that ran minutes after they were
asked for), golang/go#23453 (all workers of a server waited there).`

// pool is what bounds the connections of one kind, and how to change it.
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

// find takes each kind of pool by itself.
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
	return rule.Match{
		Site:       t.Site,
		Confidence: rule.Likely, // that they wait is measured, what more connections bring is not
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("All connections that %s allows are in use: requests spend %s of their time waiting for a free one, %s of them at a time, most of it here.",
			of.bound, t.Share(), t.Waiting()),
		Fix:      "Hold connections for less time: close rows before anything else is done, make one query of many. If the server behind has room, " + of.raise + ".",
		Evidence: t.Evidence(p, of.object, "mostly given back at"),
	}
}
