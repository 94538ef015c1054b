// Package rangescanned finds lists of which all elements are compared with a bound, again and
// again, where an order would tell which are below it.
package rangescanned

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// least is the minimum mean number of elements that are compared each time.
	least = 32
	// leastCompared is the minimum number of comparisons for each request, and in a program that
	// exits.
	leastCompared, leastOfRun = 1000, 100_000
	// mostHits is the largest share of the elements that are in a range.
	mostHits = 0.1
	// search is how many comparisons take as long as a binary search.
	search = 12
)

// Rule is range-scanned.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "range-scanned",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "All elements compared with a bound, where an order would do",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Each match has its own, by the number of elements.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.99},
				Specificity: 3, // scan-per-lookup looks for equal keys
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop compares each element with a bound, and runs again for each bound: for each
bucket of a chart it goes through all points to find those between two times; for
each value it counts how many are smaller, to get its rank; for each sample it
looks for the first limit of a histogram that is large enough. For n elements and m
bounds that is n·m comparisons.

Use the order. If the bounds follow each other in equal steps, go through the
elements once, and compute the bucket of each one. Sort the list once before the
loop: the elements of a range are then next to each other, and the rank of a value
is its position (slices.BinarySearch). In a list that is sorted already, the first
one that is large enough is found by slices.BinarySearch too.

It is fine for a few dozen elements. The rule counts executions: it reports loops
over at least 32 elements whose only test compares the same part of each element
with bounds, and that count, take the first that passes, or use at most a tenth of
the elements. It leaves alone lists whose elements change, such as free places of
which the first that is large enough is taken, and tests of two parts.

Seen in the field: the duration histograms of prometheus/client_golang, whose
buckets are found by a binary search where there are many (findBucket).`

func prepare(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *scan { return scanAt(p, place) })
	return []finder.Line{{
		Start: finder.Frames(func(r *site.Row) int {
			if r.Owner >= 0 && lines.At(r.Stack[r.Owner]) != nil {
				return r.Owner
			}
			return -1
		}),
		Judge: func(c *finder.Case) bool {
			s := lines.At(&c.Site.Frame)
			if s == nil || len(c.CPU) == 0 {
				return false
			}
			s.describe(c)
			return true
		},
	}}
}

// scanAt returns the scan that a line is a part of; nil for none.
func scanAt(p *rule.Pass, place *gocode.Place) *scan {
	if place.Decl == nil || place.Decl.Body == nil || p.Counts == nil {
		return nil
	}
	for i := len(place.Nodes) - 1; i >= 0; i-- {
		loop := place.Nodes[i]
		switch loop.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
		default:
			continue
		}
		s := scanOf(place.Outer(), loop)
		if s == nil || place.Line > syntax.Line(place, s.test.Body.Lbrace) {
			return nil
		}
		at := place.Fset.Position(loop.Pos())
		counted, ok1 := p.Counts.Loop(place.Pkg.Path(), at.Filename, at.Line)
		hits, ok2 := evidence.ReachedAt(p, place, s.test.Body.List[0].Pos())
		s.all, s.each, s.hits = counted.Iterations*counted.Entries, counted.Iterations, hits
		enough := float64(leastCompared)
		if p.Manifest.Unit() == "run" {
			enough = leastOfRun
		}
		if !ok1 || !ok2 || s.each < least || s.all < enough || s.kind == ranges && hits > mostHits*s.all {
			return nil
		}
		return s
	}
	return nil
}

func (s *scan) describe(c *finder.Case) {
	over, part := syntax.Text(s.over), syntax.Text(s.part)
	what := part + " of all " + units.Number(s.each)
	if s.kind == first {
		what = units.Number(s.each)
	}
	head := fmt.Sprintf("The loop on line %d compares %s elements of %s with a bound each time it is reached", syntax.Line(c.Place, s.loop.Pos()), what, over)
	saves := max(0.3, 1-search/s.each)
	switch s.kind {
	case first:
		c.Cause = head + ", until the first one passes."
		c.Fix = fmt.Sprintf("If %s is in order, find the element with slices.BinarySearch or sort.Search; otherwise keep a sorted copy beside it.", over)
	case ranks:
		c.Cause = head + fmt.Sprintf(", to count those that pass. It is reached for each iteration of the loop on line %d: n² steps.", syntax.Line(c.Place, s.outer.Pos()))
		c.Fix = fmt.Sprintf("Sort a copy of the values of %s once before the loop on line %d: the count is the position of the bound in it (slices.BinarySearch).", over, syntax.Line(c.Place, s.outer.Pos()))
	case ranges:
		c.Cause = head + fmt.Sprintf(", and uses %s of them. It is reached for each iteration of the loop on line %d, which goes from bound to bound.", units.Percent(s.hits/s.all), syntax.Line(c.Place, s.outer.Pos()))
		c.Fix = fmt.Sprintf("Go through %s once, and compute from %s where each element belongs; or sort %[1]s by %[2]s before, and find the ends of each range with slices.BinarySearchFunc.", over, part)
		saves *= 1 - s.hits/s.all
	}
	c.Fraction = &rule.Fraction{Expect: 0.95 * saves, Low: 0.5 * saves, High: 1}
	c.Confidence = rule.Likely // the order is not known
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s comparisons per %s, of which %s pass", units.Count(int64(s.all+0.5)), c.Pass.Manifest.Unit(), units.Percent(s.hits/s.all)),
	})
}
