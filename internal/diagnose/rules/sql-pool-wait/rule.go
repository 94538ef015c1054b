// Package sqlpoolwait finds requests that wait for a free connection of a database pool.
package sqlpoolwait

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// leastShare of the time of requests that they must wait for a connection.
const leastShare = 0.1

// fraction of the wait that goes with more connections, or with connections that are held for less time: nearly all where
// the database bears more, little where it is the limit itself, which a recording of its client cannot tell.
var fraction = rule.Fraction{Expect: 0.5, Low: 0.1, High: 0.9}

// Rule is sql-pool-wait.
func Rule() rule.Rule {
	return rule.Rule{
		ID:       "sql-pool-wait",
		Kind:     rule.Block,
		Needs:    []rule.Need{rule.NeedTrace},
		Title:    "Requests wait for a free database connection",
		Doc:      doc,
		Fraction: fraction,
		Find:     find,
	}
}

const doc = `A sql.DB opens no more connections than SetMaxOpenConns allows. When all are in
use, a query waits until another goroutine gives one back: when it closes its
rows, ends its transaction, or its Exec returns. That wait is in no CPU profile,
it is no query to the database either, whose own figures look good, and it grows
with each request that comes. A rows value that is closed late, or other work
done between a query and its Close, holds a connection for nothing.

Hold connections for less time: read the rows, close them, then do the rest;
make one query of the many that a loop makes. If the database has room, allow
more connections, and keep them: SetMaxIdleConns as high as SetMaxOpenConns, or
they are closed and opened again all the time.

It is fine when a small pool is meant to protect the database: then the queue
belongs before it, and the rule is silent below a tenth of the requests' time.

Seen in the field: golang/go#13327 (queries that ran minutes after they were
asked for), golang/go#23453 (all workers of a server stood there).`

// line is the waiting at one line.
type line struct {
	site    *site.Site
	seconds float64
	wakers  []requests.WakerShare
}

func find(_ context.Context, p *rule.Pass) ([]rule.Match, error) {
	if !p.Traced() || !p.Serves() {
		return nil, nil
	}
	total := p.LatencyTotal()
	if total <= 0 {
		return nil, nil
	}
	var waited float64
	var worst line
	for _, place := range p.Trace.Requests.All.Places {
		if place.Object != requests.DatabaseConnection || place.Waiter == nil {
			continue
		}
		s := float64(place.Time) / 1e9
		waited += s
		if s > worst.seconds {
			if at := siteOf(p, place.Caller, place.Waiter); at != nil {
				worst = line{at, s, place.Wakers}
			}
		}
	}
	if waited < leastShare*total || worst.site == nil {
		return nil, nil
	}
	m := rule.Match{
		Site:       worst.site,
		Confidence: rule.Likely, // that they wait is measured, what more connections bring is not
		Saving:     &rule.Saving{Seconds: fraction.Expect * waited, Low: fraction.Low * waited, High: fraction.High * waited, Latency: total, Cost: worst.seconds},
		Cause: fmt.Sprintf("All connections that SetMaxOpenConns allows are in use: requests spend %s of their time waiting for a free one, %s of them at a time, most of it here.",
			rule.Percent(waited/total), rule.Number(waited/p.Trace.Parallelism.Length)),
		Fix: "Hold connections for less time: close rows before anything else is done, make one query of many. If the database has room, raise SetMaxOpenConns, and SetMaxIdleConns with it.",
		Evidence: []rule.Evidence{
			{What: "time of requests waiting for a connection", Value: fmt.Sprintf("%s of %s", rule.Seconds(waited), rule.Seconds(total)), Command: p.View("requests")},
		},
	}
	if len(worst.wakers) > 0 && worst.wakers[0].Line != nil {
		m.Evidence = append(m.Evidence, rule.Evidence{What: "mostly given back at", Value: worst.wakers[0].Line.String(), Command: p.View("requests")})
	}
	return []rule.Match{m}, nil
}

// siteOf is the first of some lines that somebody can change.
func siteOf(p *rule.Pass, lines ...*exectrace.Line) *site.Site {
	for _, l := range lines {
		if l == nil {
			continue
		}
		if s := p.At(*l); s != nil {
			return s
		}
	}
	return nil
}
