// Package mergechain finds lists and iterators that are merged two at a time, one after the other.
package mergechain

import (
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// leastLevels is the minimum mean number of mergers that an element passes through, and of
	// lists that a loop merges: a heap of eight passes through three levels.
	leastLevels = 8
	// leastElements is the minimum mean number of elements that a merge copies.
	leastElements = 64
	// leastRatio is how many elements of the result so far are copied, at least, for each new one.
	leastRatio = 3
)

// Rule is merge-chain.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "merge-chain",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Many lists merged one after the other",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Of n levels or copies, about log2(n) are left, or one. Sources with few elements
				// pass through few levels, so the low end is far away.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.4, High: 1},
				Specificity: 3, // it says why elements are copied, and why the calls are nested
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop merges many lists two at a time: all = merge(all, next), or a union of two
sets that returns a new one. So does a method that a loop calls, or a function
that calls itself for the lists after the first. Each merge copies the result so
far, so that an element of the first list is copied as often as there are lists.
For k lists of n elements that is k²n/2 copies.

Iterators have the same form: each merge returns an iterator that asks the one
before it and one source. The last is a chain as long as there are sources, and an
element of the first source passes through all of it, one call per level.

To merge sorted lists or iterators, use one merger with container/heap over all of
them: log2(k) comparisons for each element. Merging halves, and halves of those,
is as good. For sets and maps create the result once, before the loop, and add the
elements of each list to it. To join sorted lists in memory, append all and sort
once.

It is fine for a few lists. The rule reports elements that pass through at least
eight levels, as the recorded stacks show, and loops that merge at least eight
lists while most of what they copy is the result so far, as counted in the
recording. A pair of lists, merged halves and intersections are left alone.

Seen in the field: prometheus-junkyard/tsdb#50 (postings of a query merged in a
chain).`

func prepare(p *rule.Pass) []finder.Line {
	if p.Counts == nil || p.Syntax == nil {
		return nil
	}
	mergers := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *merger { return mergerAt(p, place) })
	folds := &folds{pass: p, calls: finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *fold { return foldAt(place) })}
	return []finder.Line{
		{Start: finder.Frames(outermost(mergers)), Judge: func(c *finder.Case) bool {
			m := mergers.At(&c.Site.Frame)
			return m != nil && m.judge(c)
		}},
		{Start: finder.Frames(folds.line), Judge: func(c *finder.Case) bool {
			f := folds.calls.At(&c.Site.Frame)
			return f != nil && f.judge(c)
		}},
	}
}
