// Package orderedinsert finds lists that are kept in order by moving or passing many elements for
// each insertion.
package orderedinsert

import (
	"context"
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// least is the minimum mean number of steps for each insertion: below, a heap is not faster.
	least = 24
	// fewest is how often an element must be inserted for each unit of work in a program that runs
	// and exits: a few insertions are not worth another structure.
	fewest = 32
)

// Rule is ordered-insert.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "ordered-insert",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Each element inserted at its place by passing many others",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The counted steps decide, see [insertion.saves].
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.4, High: 0.97},
				Specificity: 3, // scan-per-lookup and quadratic-insert report parts of it
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function keeps a list in order: it compares a new element with those that are
there until it finds its place, and moves the others by one, or links it in.
That takes half of the list for each element on average, so n insertions take
n²/4 steps. The best k of n elements, kept in order, take up to n·k.

Use container/heap if only the first element is read or taken: an insertion
takes log₂(n) comparisons. For the best k of many, keep a heap with the worst of
them on top: most elements are compared once, with that one; sort the k at the
end. If all elements are added before the list is read, append them and sort
once. If the list must be in order at all times, find the place with
slices.BinarySearchFunc and make room with slices.Insert, which moves memory as
a block.

It is fine for lists of a few dozen elements, and where new elements belong near
the end at which the search starts. The rule uses counted executions: it reports
loops that take 24 steps or more for each insertion on average.

Seen in the field: blevesearch/bleve#555 (the best hits of a search: in
a slice, the best 1000 of 10,000 took 15 ms), torognes/vsearch#17.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	found := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *counted { return countedAt(p, f, place) })
	return finder.Line{Start: finder.Frames(found.Nearest), Judge: func(c *finder.Case) bool {
		in := found.At(&c.Site.Frame)
		if in == nil {
			return false
		}
		in.describe(c)
		return true
	}}
}

// counted is an insertion with the steps that it takes.
type counted struct {
	insertion
	steps   float64 // for each insertion, mean
	entries float64 // insertions for each unit of work
}

// countedAt returns the insertion that a line is part of, if it takes many steps; nil for none.
func countedAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *counted {
	for _, loop := range around(place) {
		in := insertionOf(place, loop)
		if in == nil {
			continue
		}
		l, ok := p.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, loop.Pos()))
		if !ok || l.Iterations < least || p.Manifest.Unit() == "run" && l.Entries < fewest {
			continue
		}
		return &counted{insertion: *in, steps: l.Iterations, entries: l.Entries}
	}
	return nil
}

func (in *counted) describe(c *finder.Case) {
	list, n := syntax.Text(in.list), units.Number(in.steps)
	line := syntax.Line(c.Place, in.loop.Pos())
	switch in.how {
	case shifts:
		c.Cause = fmt.Sprintf("%s inserts an element into %s, which it keeps in order: the loop on line %d moves %s elements one after the other to make room each time.",
			syntax.FuncName(c.Place), list, line, n)
	case searches:
		c.Cause = fmt.Sprintf("%s inserts an element into %s, which it keeps in order: the loop on line %d compares it with %s elements each time to find its place, and those after it move.",
			syntax.FuncName(c.Place), list, line, n)
	case follows:
		c.Cause = fmt.Sprintf("%s links an element into the list at %s, which it keeps in order: the loop on line %d follows %s links each time to find its place.",
			syntax.FuncName(c.Place), list, line, n)
	}
	c.Cause += fmt.Sprintf(" It runs %s times per %s: n insertions cost n² steps.", units.Number(in.entries), c.Pass.Manifest.Unit())
	switch {
	case in.bounded != nil:
		c.Fix = fmt.Sprintf("Keep the best %s in a heap (container/heap) with the worst of them first: compare with that one, replace it and call heap.Fix, which takes log₂(n) steps; sort them once when they are read.",
			syntax.Text(in.bounded))
	case in.how == follows:
		c.Fix = "Use container/heap if only the first element is taken, which takes log₂(n) steps; otherwise a balanced tree or a skip list. If all elements are added before the list is read, append them to a slice and sort it once."
	default:
		c.Fix = fmt.Sprintf("Use container/heap if only the first element is taken. If all elements are added before %s is read, append them and sort once. Otherwise find the place with slices.BinarySearchFunc and insert with slices.Insert, which moves memory as a block.", list)
	}
	c.Allocs, c.Live = nil, nil // of the list itself
	spare := in.saves()
	c.Fraction = &rule.Fraction{Expect: spare, Low: spare / 2, High: min(0.98, spare+0.15)}
	c.Confidence = rule.Likely // how the list is read decides what can replace it
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations for each insertion, %s insertions per %s", n, units.Number(in.entries), c.Pass.Manifest.Unit()),
	})
}

// saves returns the share of the steps that a heap does without: it compares an element with one or
// two others at each level.
func (in *counted) saves() float64 {
	return max(0.3, 1-1.5*math.Log2(2*in.steps)/in.steps)
}
