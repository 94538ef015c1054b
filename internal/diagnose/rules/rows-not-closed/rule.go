// Package rowsnotclosed finds rows, statements and transactions of a database that keep their
// connections because a function does not close them on all paths.
package rowsnotclosed

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastSamples, or leastBytes, of opening connections while the program was under load: a pool
	// that gets its connections back has all that it needs by then, and the profile none of these.
	leastSamples = 3
	leastBytes   = 1 << 20
	// mostClosed is the largest part of these samples that may close connections: pools that close
	// them open others.
	mostClosed = 0.1
	// leastGrown is the growth of live memory that connections hold, in a program without load.
	leastGrown = 2 << 20
	// mostNamed is how many further lines a sentence names.
	mostNamed = 3
)

// Rule is rows-not-closed.
func Rule() rule.Rule {
	return rule.Rule{
		ID:     "rows-not-closed",
		Kind:   rule.Leak,
		Uses:   []rule.Need{rule.NeedCounts},
		Title:  "Rows that are not closed keep their connection",
		Doc:    doc,
		Urgent: true,
		Finder: finder.Program{Judge: find},
	}
}

const doc = `Rows of a query have a connection of the pool for themselves until they are read
to the end or closed. A function that reads one row, returns early from the loop,
or calls Query for a statement without rows leaves them open: the connection never
comes back. The pool opens another one for the next query, often on another
line, until the database or the process has no more, or, with SetMaxOpenConns,
every query waits forever. A transaction without Commit or Rollback on a path
does the same.

Defer rows.Close() right after the check of the error. For one row, use QueryRow,
which closes; for a statement without rows, Exec. Defer tx.Rollback() as well: after
Commit it does nothing.

It is fine to leave rows open that are read until Next returns false, or whose
context is cancelled at the end of the request. The rule reports a pool that opens
connections all the time under load and closes none, or whose connections take
more and more memory, and names the lines that leave rows open.

Seen in the field: gofr-dev/gofr#3188, wework/grabbit#90, byuoitav/av-api#108 (65
queries left 65 connections open), Pigmice2733/peregrine-backend#69
(transactions of a health check).`

func find(p *rule.Pass) []rule.Match {
	if p.Table == nil || p.Syntax == nil {
		return nil
	}
	o := observe(p)
	if !o.lost(p) {
		return nil
	}
	lines := flow.Holders(p)
	if len(lines) == 0 {
		return nil
	}
	first := lines[0]
	cause := fmt.Sprintf("The pool of database connections opens new ones all the time and closes none: some never come back to it. %s", first.Cause)
	var others []string
	for _, h := range lines[1:min(len(lines), 1+mostNamed)] {
		others = append(others, fmt.Sprintf("%s:%d", path.Base(filepath.ToSlash(h.Site.File)), h.Site.Line))
	}
	if len(others) > 0 {
		cause += fmt.Sprintf(" The same is true of %s.", funcname.List(others))
	}
	return []rule.Match{{
		Site:       first.Site,
		Confidence: rule.Likely, // that connections are lost is measured, that this line loses them is not
		Cause:      cause,
		Fix:        first.Fix,
		Evidence: []rule.Evidence{{
			What:    "opening connections: CPU, allocated, and live memory gained",
			Value:   fmt.Sprintf("%s, %s, %s", units.Seconds(float64(o.opening)/1e9), units.Bytes(float64(o.made)), units.Bytes(float64(o.grown))),
			Command: evidence.TopCommand(p, "cpu"),
		}},
	}}
}

// opened is what a program spends on opening connections of its pools.
type opened struct {
	opening        int64 // nanoseconds of CPU
	samples, close int64 // that open, and that close connections
	made           int64 // bytes
	grown          int64 // bytes that are live at the end, and were not at the start
}

func observe(p *rule.Pass) (o opened) {
	p.EachRow(func(r *site.Row) {
		switch {
		case connects(r):
			o.opening, o.samples = o.opening+r.Value, o.samples+r.Count
		case closes(r):
			o.close += r.Count
		}
	})
	for _, s := range p.Table.Sites {
		made, _ := stacks.Sum(stacks.Select(s.Allocs, connects))
		o.made += made
	}
	for i := range p.Table.Buckets { // the pool's own goroutine
		made, _ := stacks.Sum(stacks.Select(p.Table.Buckets[i].Allocs, connects))
		o.made += made
	}
	for _, g := range p.Growth {
		s := p.Site(&g.Frame)
		all, _ := stacks.Sum(s.Live)
		part, _ := stacks.Sum(stacks.Select(s.Live, connects))
		if all > 0 {
			o.grown += int64(float64(g.Bytes) * float64(part) / float64(all))
		}
	}
	return o
}

// connects reports whether a row is below a pool that has its driver connect.
func connects(r *site.Row) bool {
	for i := 1; i < len(r.Stack); i++ {
		if funcname.Match(r.Stack[i].Function, "database/sql.(*DB).conn", "database/sql.(*DB).openNewConnection") {
			return strings.HasSuffix(r.Stack[i-1].Function, ".Connect")
		}
	}
	return false
}

// closes reports whether a row closes a connection.
func closes(r *site.Row) bool {
	return slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return f.Function == "database/sql.(*driverConn).Close" })
}

// lost reports whether connections are opened and never come back.
func (o opened) lost(p *rule.Pass) bool {
	if float64(o.close) > mostClosed*float64(o.samples) {
		return false
	}
	under := p.Manifest != nil && p.Manifest.Load != nil
	return under && (o.samples >= leastSamples || o.made >= leastBytes) || o.grown >= leastGrown
}
