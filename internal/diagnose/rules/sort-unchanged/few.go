package sortunchanged

import (
	"fmt"
	"go/types"
	"math"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastElements of a list that is sorted after a few changes.
	leastElements = 64
	// perChange is the minimum number of elements for each that changed since the last sort.
	perChange = 16
	// leastBytes must have been allocated for the length of lists to be known: the profile samples
	// one object per 512 KiB.
	leastBytes = 4 << 20
	// mostGrown is how much a list that grows by a quarter each time allocates, at most, as a
	// multiple of its elements.
	mostGrown = 7
	// mostUnclear is the largest share of sorts before which any number of elements may have
	// changed.
	mostUnclear = 0.25
)

// few reports whether a few of many elements changed before each sort, and notes how many.
func (s *search) few(a *again, c kept.Changes, o *origin) bool {
	elements, ok := s.length(a, c, o)
	if !ok {
		return false
	}
	e := kept.Elements{Pass: s.pass, Place: a.place, Var: o.v, Fields: o.keys, Skip: c.Skip}
	e.Count()
	changed := max(1, e.Changed/a.sorts)
	if elements < max(leastElements, perChange*changed) || e.Unclear > mostUnclear*a.sorts {
		return false
	}
	a.elements, a.changed, a.at = elements, e.Changed, e.Line
	a.removedAt = e.DeletedAt
	return true
}

// length returns the minimum number of elements of a list that is sorted, by its comparisons or, if
// they are not in the package, by the loop or the call that makes the list.
func (s *search) length(a *again, c kept.Changes, o *origin) (float64, bool) {
	if o.by != nil && len(o.by.List) > 0 {
		compared, ok := evidence.ReachedAt(s.pass, a.place, o.by.List[0].Pos())
		return length(compared / a.sorts), ok
	}
	if o.filled == nil {
		return s.collected(a, c)
	}
	at := o.filled.Fset.Position(o.loop.Pos())
	l, ok := s.pass.Counts.Loop(o.filled.Pkg.Path(), at.Filename, at.Line)
	appended, known := evidence.ReachedAt(s.pass, o.filled, o.each.Pos())
	if !ok || !known || l.Entries <= 0 {
		return 0, false
	}
	return appended / l.Entries, true
}

// collected returns the minimum number of elements of the list that slices.Sorted makes, by the
// memory that it allocates.
func (s *search) collected(a *again, c kept.Changes) (float64, bool) {
	list, ok := a.place.TypeOf(c.Skip).Underlying().(*types.Slice)
	if !ok || sorts.Collected(a.place, c.Skip) == nil || syntax.Generic(list.Elem()) {
		return 0, false
	}
	var bytes int64
	for _, at := range s.pass.Table.Sites {
		if at.File == c.Frame.File && at.Line == c.Frame.Line {
			sum, _ := stacks.Sum(at.Allocs)
			bytes += sum
		}
	}
	each, ok := evidence.PerExecution(s.pass, *c.Frame, float64(bytes))
	if !ok || bytes < leastBytes {
		return 0, false
	}
	return each / (mostGrown * float64(max(1, syntax.Sizes().Sizeof(list.Elem())))), true
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
	stay := ""
	if a.removedAt > 0 {
		stay = fmt.Sprintf(" Line %d deletes elements; those that stay are sorted again.", a.removedAt)
	}
	c.Cause = fmt.Sprintf("%s sorts all of %s again %s, though %s of its at least %s elements changed since the last sort: n changes cost n² comparisons.%s",
		syntax.FuncName(a.place), what, when, changed, units.Count(int64(a.elements)), stay)
	where := "where one is added or changes"
	if a.at > 0 {
		where += fmt.Sprintf(" (line %d)", a.at)
	}
	c.Fix = fmt.Sprintf("%s, and change it %s: insert each element at its place (slices.BinarySearchFunc and slices.Insert), or use a tree. "+
		"If only the first ones are needed, use a heap (container/heap with Push, Pop and Fix). Where many are added before the list is read, sort once after the last.", keep, where)
	if a.removedAt > 0 {
		c.Fix += fmt.Sprintf(" If elements leave %s once they are handled, as on line %d, take all of them out after one sort, not a few after each.", from, a.removedAt)
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s sorts and %s changed elements of %s per %s", units.Number(a.sorts), units.Number(a.changed), from, s.pass.Manifest.Unit()),
	})
	c.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.97}
	c.Confidence = rule.Likely // the package counts what it changes, not what others do
}
