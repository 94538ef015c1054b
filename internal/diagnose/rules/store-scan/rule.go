// Package storescan finds loops over all entries of an embedded store that look for a few of them.
package storescan

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	leastVisited = 100 // entries, each time
	mostKept     = 0.1 // of the entries
)

// Rule is store-scan.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "store-scan",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "All entries of a store visited to find a few",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own: the counted share of entries that are not kept.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
				Specificity: 2, // how the entries are compared or decoded matters less
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `Stores such as bbolt, badger, goleveldb and pebble keep their keys in order, and so
do B-trees and radix trees in memory. A loop that starts at the first key, and asks
of each whether it has the prefix of a user or a tenant, reads the whole bucket for
a few entries: it takes longer with each entry that anybody stores. A loop that
decodes each value to compare one field costs a hundred times as much.

Seek the prefix, and stop at the first key without it (Cursor.Seek of bbolt, the
option Prefix and Seek of badger, util.BytesPrefix of goleveldb, LowerBound of
pebble, AscendGreaterOrEqual of a B-tree). For a field of the value, write a second
key that starts with the field whenever the value is written, in the same
transaction, and seek that.

The same goes for a map that is filled with all entries to look up a few: get
those by their keys.

It is fine for small buckets, and for what runs seldom, such as an export or the
loading of an index. The rule reports loops that visit at least a hundred entries
each time, as counted in the recording, and keep or look up at most a tenth of
them. It leaves alone searches for a word within a text, which no order of keys
helps.

Seen in the field: s4wave/spacewave#421 (362,160 steps for an absent prefix: 36 ms
became 25 µs), s4wave/spacewave#838.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, scans: map[gocode.Pos]*scan{}}
	s.lines = finder.Remember(p, s.look)
	p.EachRow(s.add)
	start := func(r *site.Row) int {
		i := s.frame(r)
		if i >= 0 && s.lines.At(r.Stack[i]).most != (gocode.Pos{File: r.Stack[i].File, Line: r.Stack[i].Line}) {
			return -1 // another line of the loop stands for it
		}
		return i
	}
	judge := func(c *finder.Case) bool {
		found := s.lines.At(&c.Site.Frame)
		if found == nil {
			return false
		}
		c.CPU = found.rows
		found.describe(c)
		return true
	}
	return finder.Line{Start: finder.Frames(start), Judge: judge}
}

// add adds a row to the scan that it is spent on.
func (s *search) add(r *site.Row) {
	i := s.frame(r)
	if i < 0 {
		return
	}
	found, at := s.lines.At(r.Stack[i]), gocode.Pos{File: r.Stack[i].File, Line: r.Stack[i].Line}
	found.rows = append(found.rows, r)
	found.spent[at] += r.Value
	if found.spent[at] > found.spent[found.most] {
		found.most = at
	}
}

func (s *scan) describe(c *finder.Case) {
	c.Confidence = rule.Likely // an index has its price at each write
	if s.table != nil {
		cause, fix, left := s.table.describe(s)
		c.Cause, c.Fix, c.Fraction = cause, fix, &left
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s entries visited and %s looked up each time", units.Number(s.visited), units.Number(s.table.lookups))})
		return
	}
	c.Fraction = &rule.Fraction{Expect: 0.95 * (1 - s.kept), Low: 0.6 * (1 - s.kept), High: 1}
	test := syntax.Short(syntax.Text(s.test))
	c.Cause = fmt.Sprintf("%s visits %s entries of the store each time (line %d), and %s of them pass the test on line %d: %s.",
		syntax.FuncName(s.place), units.Number(s.visited), s.head, units.Percent(s.kept), syntax.Line(s.place, s.test.Pos()), test)
	switch {
	case s.prefix:
		c.Fix = fmt.Sprintf("Keys are in order: start at the prefix (%s), and stop at the first key without it.", s.seek)
	case s.decodes:
		c.Fix = fmt.Sprintf("Keep an index in the store: whenever a value is written, also write a key that starts with what the test compares and ends with the key of the value, in the same transaction. Then seek it (%s), and decode only what it leads to.", s.seek)
	default:
		c.Fix = fmt.Sprintf("Let the keys start with what the test compares, or write a second key that does, in the same transaction as the value; then seek it (%s), and stop at the first key that does not match.", s.seek)
	}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s entries visited and %s kept each time", units.Number(s.visited), units.Number(s.visited*s.kept))})
}
