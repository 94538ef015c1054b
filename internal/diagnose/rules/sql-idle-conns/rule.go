// Package sqlidleconns finds database pools that close connections which the next query opens
// again.
package sqlidleconns

import (
	"context"
	"fmt"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	leastShare   = 0.02 // of all CPU, for opening and closing connections
	leastSamples = 8
)

// Rule is sql-idle-conns.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sql-idle-conns",
		Kind:  rule.IO,
		Title: "Database pool keeps too few idle connections",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				Removes: true,
				// The rows are opening and closing connections. A pool that keeps them opens a few
				// once.
				Fraction: rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
			},
			Prepare: prepare,
		},
	}
}

const doc = `A sql.DB keeps two idle connections unless SetMaxIdleConns says otherwise, and
none after SetMaxIdleConns(0); SetMaxOpenConns does not change that. When more
queries run at a time, each further connection is closed when its query is over,
and the next query opens one: a dial, a TLS handshake and a login, or a file
with its schema. A short SetConnMaxLifetime or SetConnMaxIdleTime has the same
effect; their argument is a Duration, so 5 means five nanoseconds.

Set SetMaxIdleConns to the number of SetMaxOpenConns, and let
SetConnMaxIdleTime close what is idle for minutes. Check that a configuration
without a value does not pass zero.

It is fine in a program that makes few queries, and where a proxy such as
pgbouncer keeps the connections cheap. The rule reports pools that close
connections when queries return them, where that and opening them again take at
least a fiftieth of all CPU.

Seen in the field: redpanda-data/connect#1648, letsencrypt/boulder#3164,
gobuffalo/pop#376 (0 taken for unlimited), block/spirit#1098 (an idle limit of 10
with hundreds open).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	c := observe(p)
	if !c.proved(p) || c.closed == 0 && len(flow.Holders(p)) > 0 { // which rows-not-closed reports
		return finder.Line{}
	}
	at := c.most()
	how, ok := c.settings(p).reason(connections(p))
	if at == nil || !ok {
		return finder.Line{}
	}
	judge := func(k *finder.Case) bool {
		if k.Site.Line != at.Line || k.Site.Function != at.Function || k.Site.File != at.File {
			return false
		}
		k.CPU, k.Allocs, k.Block, k.Mutex, k.Live = c.cpu, c.allocs, nil, nil, nil
		k.Callees = []string{"database/sql.*"}
		k.Confidence = how.confidence
		k.Cause = "Connections to the database are closed after use and opened again by the next query. " + how.cause
		k.Fix = how.fix
		k.Evidence = []rule.Evidence{{
			What: "CPU that opens connections, and that closes them",
			Value: fmt.Sprintf("%s (%s) and %s (%s)", units.Seconds(float64(c.opening)*1e-9), units.Some(float64(c.opened), "sample"),
				units.Seconds(float64(c.closing)*1e-9), units.Some(float64(c.closed), "sample")),
			Command: evidence.TopCommand(p, "cpu"),
		}}
		return true
	}
	return finder.Line{Start: finder.Frames(caller), Judge: judge}
}

// connections returns how many requests the load sends at a time; 0 when that is unknown.
func connections(p *rule.Pass) int {
	if p.Manifest == nil || p.Manifest.Load == nil {
		return 0
	}
	return p.Manifest.Load.Connections
}

// churn is what a program spends on opening and closing connections of its pools.
type churn struct {
	cpu, allocs      []*site.Row
	opening, closing int64 // nanoseconds of CPU
	opened, closed   int64 // samples
	whole            int64 // samples that close a pool with all its connections
	lines            map[line]int64
	frames           map[line]*site.Frame
}

// line is a line of the program that calls database/sql.
type line struct {
	function, file string
	number         int
}

// observe collects the rows of opening and closing connections.
func observe(p *rule.Pass) *churn {
	c := &churn{lines: map[line]int64{}, frames: map[line]*site.Frame{}}
	p.EachRow(func(r *site.Row) {
		switch {
		case connects(r) >= 0:
			c.opening, c.opened = c.opening+r.Value, c.opened+r.Count
		case returns(r) >= 0:
			c.closing, c.closed = c.closing+r.Value, c.closed+r.Count
		default:
			if at(r, "database/sql.(*DB).Close") >= 0 {
				c.whole += r.Count
			}
			return
		}
		c.cpu = append(c.cpu, r)
		if i := caller(r); i >= 0 {
			f := r.Stack[i]
			k := line{f.Function, f.File, f.Line}
			c.lines[k] += r.Value
			c.frames[k] = f
		}
	})
	for _, s := range p.Table.Sites {
		c.allocs = append(c.allocs, stacks.Select(s.Allocs, func(r *site.Row) bool { return connects(r) >= 0 || returns(r) >= 0 })...)
	}
	return c
}

// share returns the part of all CPU that opening and closing takes.
func (c *churn) share(p *rule.Pass) float64 {
	return float64(c.opening+c.closing) * 1e-9 / p.Table.Totals.TotalSeconds
}

// proved reports whether connections cost enough, and are closed because a query returned them: a
// sample shows it, or a service under load, whose pools were full before, opens many without
// closing a pool.
func (c *churn) proved(p *rule.Pass) bool {
	if c.opened+c.closed < leastSamples || c.share(p) < leastShare {
		return false
	}
	return c.closed > 0 || c.whole == 0 && connections(p) > 2 && c.opened > 2*leastSamples
}

// most returns the line with the largest cost; nil for none.
func (c *churn) most() (most *site.Frame) {
	var top line
	for k, v := range c.lines {
		if most == nil || v > c.lines[top] || v == c.lines[top] && (k.file < top.file || k.file == top.file && k.number < top.number) {
			top, most = k, c.frames[k]
		}
	}
	return most
}

// connects returns the index of the pool's function that has its driver connect; -1 for none.
func connects(r *site.Row) int {
	i := at(r, "database/sql.(*DB).conn", "database/sql.(*DB).openNewConnection")
	if i > 0 && strings.HasSuffix(r.Stack[i-1].Function, ".Connect") {
		return i
	}
	return -1
}

// returns returns the index of the pool's function that closes a connection instead of keeping it;
// -1 for none.
func returns(r *site.Row) int {
	i := at(r, "database/sql.(*DB).putConn")
	if i > 0 && r.Stack[i-1].Function == "database/sql.(*driverConn).Close" {
		return i
	}
	return -1
}

// at returns the index of the frame nearest the leaf of one of the functions; -1 for none.
func at(r *site.Row, functions ...string) int {
	for i, f := range r.Stack {
		if funcname.Match(f.Function, functions...) {
			return i
		}
	}
	return -1
}

// caller returns the index of the program's frame for which a row opens or closes a connection: of
// the main module if it has one; -1 for none.
func caller(r *site.Row) int {
	i := connects(r)
	if i < 0 {
		i = returns(r)
	}
	if i < 0 {
		return -1
	}
	dep := -1
	for ; i < len(r.Stack); i++ {
		switch kind := r.Stack[i].Owner.Kind; {
		case kind == gocode.Main:
			return i
		case kind == gocode.Dependency && dep < 0:
			dep = i
		}
	}
	return dep
}
