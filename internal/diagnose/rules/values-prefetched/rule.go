// Package valuesprefetched finds iterators of a store that read the values of all entries, though
// the loop uses few of them.
package valuesprefetched

import (
	"context"
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	leastVisited = 50  // entries, each time
	mostRead     = 0.1 // of the values
)

// Names of profiles: what moves an iterator, and the goroutine that reads the value of an entry.
var (
	moves   = []string{"github.com/dgraph-io/badger*.(*Iterator).Next", "github.com/dgraph-io/badger*.(*Iterator).Seek", "github.com/dgraph-io/badger*.(*Iterator).Rewind"}
	fetches = "github.com/dgraph-io/badger*.(*Iterator).fill.func1"
)

// Rule is values-prefetched.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "values-prefetched",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Iterator reads values that the loop does not use",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The keys are still read.
				Fraction:    rule.Fraction{Expect: 0.6, Low: 0.3, High: 0.9},
				Specificity: 2, // than what the store does for each value
			},
			Prepare: prepare,
		},
	}
}

const doc = `An iterator of badger reads values ahead unless it is told not to: the option
PrefetchValues of DefaultIteratorOptions is set. It starts a goroutine for each
entry, which reads the value and copies it. A loop that counts entries, collects
keys, or deletes what a prefix selects never looks at these values.

Set PrefetchValues to false for such a loop. Item.Value still works then: it reads
the value when it is called, which is also right for a loop that needs the values
of a few entries.

It is fine to read ahead where the loop uses most values. The rule reports loops
over at least fifty entries, as counted in the recording, that ask at most a tenth
of them for their value. It leaves alone iterators and entries that are passed on
to other functions.

Seen in the field: dgraph-io/badger#459 (a list of 35,000 entries), and the answer
to dgraph-io/badger#82.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *walk { return look(p, f, place) })
	var ahead []*site.Row
	places := map[gocode.Pos]bool{} // that move iterators, unless they are known not to read ahead
	at := func(r *site.Row) int {
		for i := 1; i < len(r.Stack); i++ {
			if funcname.Match(r.Stack[i-1].Function, moves...) && !funcname.Match(r.Stack[i].Function, moves...) {
				return i
			}
		}
		return -1
	}
	start := func(r *site.Row) int {
		if i := at(r); i > 0 && lines.At(r.Stack[i]) != nil {
			return i
		}
		return -1
	}
	p.EachRow(func(r *site.Row) {
		if i := at(r); i > 0 {
			pos := gocode.Pos{File: r.Stack[i].File}
			if w := lines.At(r.Stack[i]); w != nil {
				pos.Line = w.head
			}
			places[pos] = true
		}
		if slices.ContainsFunc(r.Stack, func(f *site.Frame) bool { return funcname.Match(f.Function, fetches) }) {
			ahead = append(ahead, r)
		}
	})
	judge := func(c *finder.Case) bool {
		w := lines.At(&c.Site.Frame)
		if w == nil {
			return false
		}
		if len(places) == 1 {
			c.CPU = append(c.CPU, ahead...) // the goroutines have no caller: no other loop is theirs
		}
		w.describe(c)
		return true
	}
	return finder.Line{Start: finder.Frames(start), Judge: judge}
}

// walk is a loop over the entries of a store that uses few of the values that are read ahead.
type walk struct {
	place         *gocode.Place
	head          int // line
	visited, read float64
	options       ast.Expr
}

func (w *walk) describe(c *finder.Case) {
	c.Confidence = rule.Measured
	uses := "uses none of them"
	if w.read > 0 {
		uses = fmt.Sprintf("asks for %s of them", units.Number(w.read))
	}
	c.Cause = fmt.Sprintf("The iterator reads the values of the entries ahead, with a goroutine for each: the loop on line %d visits %s entries each time, and %s.", w.head, units.Number(w.visited), uses)
	c.Fix = fmt.Sprintf("Set PrefetchValues to false in the options that %s passes to NewIterator. The iterator then only reads keys; Item.Value reads a value when it is called.", syntax.FuncName(w.place))
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s entries visited and %s values used each time", units.Number(w.visited), units.Number(w.read))})
}
