// Package maxconnsperhost finds requests that wait for an HTTP client's limit of connections to a
// host.
package maxconnsperhost

import (
	"fmt"

	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/httpconn"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/traced"
)

const (
	// leastShare of the requests' time that they must wait for a connection.
	leastShare = 0.1
	// mostDials is the share of CPU for new connections above which the wait may be for those.
	mostDials = 0.05
)

// Rule is max-conns-per-host.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "max-conns-per-host",
		Kind:   rule.Block,
		Needs:  []rule.Need{rule.NeedTrace},
		Title:  "Requests wait because the HTTP client limits its connections",
		Doc:    doc,
		Finder: finder.Trace{Judge: find},
	}
}

const doc = `MaxConnsPerHost of an http.Transport limits all connections to a
host, those in use included. When that many requests to the host are under way,
the next ones queue in the client until one is over, without a message and in no
statistics of the server. MaxIdleConnsPerHost, which is often meant instead,
limits only the idle connections that are kept.

Set MaxConnsPerHost to the number of requests that run at a time, or to 0 for no
limit, and MaxIdleConnsPerHost to the same number, so that connections are
used again.

It is fine when the limit is meant to protect the other server: the queue then
belongs before the work, where a request can be refused. The rule reports waits of a
tenth of the requests' time and more, in programs that set the field and that open
few new connections.

Seen in the field: golang/go#13957 (the issue that asked for the limit).`

func find(p *rule.Pass) []rule.Match {
	limit := limits(p)
	if limit == "" || dials(p) >= mostDials {
		return nil
	}
	t := traced.LongestQueue(p, leastShare, func(place *requests.PlaceTime) bool { return place.Object == requests.HTTPConnection })
	if t == nil {
		return nil
	}
	return []rule.Match{{
		Site:       t.Site,
		Confidence: rule.Likely, // the wait is measured, the effect of more connections is not
		Saving:     t.Saving(),
		Cause: fmt.Sprintf("%s limits how many requests to one host run at a time. Requests spend %s of their time waiting for a free connection, mostly here; on average %s wait at a time.",
			limit, t.Share(), t.Waiting()),
		Fix:      "Set MaxConnsPerHost of the Transport to the number of requests that run at a time, or to 0 for no limit, and MaxIdleConnsPerHost to the same number.",
		Evidence: t.Evidence(p, requests.HTTPConnection, "mostly returned at"),
	}}
}

// limits returns the limit that the program sets, as "MaxConnsPerHost: 2 (client.go:17)", or "".
func limits(p *rule.Pass) string {
	if p.Syntax == nil {
		return ""
	}
	for _, v := range p.Syntax.ValuesOf("net/http.Transport", "MaxConnsPerHost") {
		if n, constant := syntax.ConstInt(v.Place, v.Value); constant && n <= 0 {
			continue
		}
		return fmt.Sprintf("MaxConnsPerHost: %s (%s)", syntax.Text(v.Value), syntax.Where(v.Place, v.Value.Pos()))
	}
	return ""
}

// dials returns the share of CPU that goes to new connections of HTTP clients.
func dials(p *rule.Pass) float64 {
	spent, _ := stacks.Sum(httpconn.Dials(p))
	return float64(spent) * 1e-9 / p.Table.Totals.TotalSeconds
}
