package sortunchanged

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastElements of a list that is sorted after a few changes.
	leastElements = 64
	// perChange is the minimum number of elements for each that changed since the last sort.
	perChange = 16
	// mostUnclear is the largest share of sorts before which any number of elements may have
	// changed.
	mostUnclear = 0.25
)

// few reports whether a few of many elements changed before each sort, and notes how many.
func (s *search) few(a *again, c kept.Changes, o *origin) bool {
	if o.by == nil || len(o.by.List) == 0 {
		return false
	}
	compared, ok := evidence.ReachedAt(s.pass, a.place, o.by.List[0].Pos())
	if !ok {
		return false
	}
	elements := length(compared / a.sorts)
	e := kept.Elements{Pass: s.pass, Place: a.place, Var: o.v, Fields: o.keys, Skip: c.Skip}
	e.Count()
	changed := max(1, e.Changed/a.sorts)
	if elements < max(leastElements, perChange*changed) || e.Unclear > mostUnclear*a.sorts {
		return false
	}
	a.elements, a.changed, a.at = elements, e.Changed, e.Line
	return true
}

// length returns the minimum number of elements of a list whose sort makes some comparisons: n
// elements take about n·log₂(n), and fewer when they are nearly in order.
func length(comparisons float64) float64 {
	n := comparisons
	for range 8 { // converges
		n = comparisons / math.Log2(max(2, n))
	}
	return n
}

// describeFew fills in a finding about a list of which a few elements changed.
func (s *search) describeFew(c *finder.Case, a *again, when string) {
	from, what := syntax.Text(a.kept), syntax.Text(a.list)
	changed := "no more than one"
	if n := a.changed / a.sorts; n >= 1.5 {
		changed = "about " + units.Number(n)
	}
	keep := "Keep the elements of " + from + " in order instead"
	if !syntax.Same(a.place, a.kept, a.list) {
		what += ", made of " + from + ","
		keep = "Keep the sorted list next to " + from
	}
	c.Cause = fmt.Sprintf("%s sorts all of %s again %s, though %s of its at least %s elements changed since the last sort: n changes cost n² comparisons.",
		syntax.FuncName(a.place), what, when, changed, units.Count(int64(a.elements)))
	where := "where one is added or changes"
	if a.at > 0 {
		where += fmt.Sprintf(" (line %d)", a.at)
	}
	c.Fix = fmt.Sprintf("%s, and change it %s: insert each element at its place (slices.BinarySearchFunc and slices.Insert), or use a tree. "+
		"If only the first ones are needed, use a heap (container/heap with Push, Pop and Fix). Where many are added before the list is read, sort once after the last.", keep, where)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s sorts and %s changed elements of %s per %s", units.Number(a.sorts), units.Number(a.changed), from, s.pass.Manifest.Unit()),
	})
	c.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.97}
	c.Confidence = rule.Likely // the package counts what it changes, not what others do
}
