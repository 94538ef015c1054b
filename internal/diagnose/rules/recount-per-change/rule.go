// Package recountperchange finds sums and counts of all elements that are computed again after a
// few changes.
package recountperchange

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// least iterations of the loop, each time that it is reached.
	least = 256
	// perChange is the minimum number of iterations for each element that may have changed since
	// the last time.
	perChange = 32
	// mostFrames from the loop to the line that names the collection.
	mostFrames = 4
)

// Rule is recount-per-change.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "recount-per-change",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "All elements added up again after a few changes",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Reading a field replaces the loop; keeping it up to date takes an addition per
				// change.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.8, High: 1},
				Specificity: 3, // scan-per-lookup would keep an order
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop over all elements of a list, a map or a set of bits computes a total: how
many there are of a kind, how much memory they take, which number is the largest.
It runs again after each change, so inserting n elements takes n² steps, or for
each request, though nothing changed. So does one that counts the elements above
a value, for the rank of that value; one over the last n values, for a moving
average; one over the elements of one owner, for a quota; and one over a list
that a caller passes each time, as to choose by weight. The elements may also be
asked for their size by a method, or the loop may be in a helper that gets a
function for what to add (lo.SumBy).

Keep the total in a field beside the collection. Where an element is added,
changed or removed, add the difference. The total is then there when it is asked
for. For ranks, keep the values sorted: a binary search finds how many there are
before one. For choices by weight, make prefix sums once, and search those.

It is fine for short lists, for totals that are rarely asked for, and where most
elements changed. The rule uses counted executions: it reports loops with at
least 256 iterations each time, and at least 32 for each element that the
package's code can have changed since the last time.

Seen in the field: kpango/gache#205 (the size of a cache: from 0.5 ms to 2.4 ns),
pingcap/tidb#61339 (the total of a histogram), jmcvetta/randutil (WeightedChoice).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, loops: map[gocode.Pos]*total{}, found: map[gocode.Pos]*recount{}}
	return finder.Line{Start: finder.Frames(s.line), Judge: s.judge}
}

// search caches what is known of lines.
type search struct {
	pass  *rule.Pass
	loops map[gocode.Pos]*total
	found map[gocode.Pos]*recount
}

// recount is a line at which a total of a collection is computed.
type recount struct {
	collection ast.Expr
	through    string   // the call that computes the total; "" when the loop is on the line
	iterations float64  // each time
	changes    float64  // of elements since the last time, at most
	changedAt  int      // the line with most of them; 0 for none
	limits     []limit  // what selects the elements
	loop       ast.Node // that passes a list of its function each time; nil for lists that are kept
}

// line returns the frame of a row at which a total is computed again; -1 for none.
func (s *search) line(r *site.Row) int {
	for i, f := range r.Stack {
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		t := s.totalAt(f)
		if t == nil {
			continue
		}
		for j := i; j < len(r.Stack) && j <= i+mostFrames; j++ {
			if s.recountAt(r, i, j, t) != nil {
				return j
			}
		}
		return -1
	}
	return -1
}

// recountAt returns what the line of frame j computes with the loop of frame i; nil when that is
// not a total of a collection that changed little.
func (s *search) recountAt(r *site.Row, i, j int, t *total) *recount {
	f := r.Stack[j]
	pos := gocode.Pos{File: f.File, Line: f.Line}
	if found, ok := s.found[pos]; ok {
		return found
	}
	found := s.look(r, i, j, t)
	s.found[pos] = found
	return found
}

func (s *search) look(r *site.Row, i, j int, t *total) *recount {
	f := r.Stack[j]
	p := s.pass.Place(&site.Site{Frame: *f})
	if p == nil || f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency {
		return nil
	}
	var through *ast.CallExpr
	c := &recount{iterations: t.iterations, collection: t.over, limits: t.limits}
	if j > i {
		calls := syntax.CallsTo(p, r.Stack[j-1].Function)
		if len(calls) == 0 {
			return nil
		}
		through = calls[0]
		c.collection, c.through = passed(t, through, j == i+1 && f.Owner.Kind == gocode.Main), syntax.Text(through)
		if c.collection == nil {
			return nil
		}
	}
	fields := t.fields
	if t.by != nil {
		if j != i+1 {
			return nil
		}
		more, ok := t.given(p, through)
		if !ok {
			return nil
		}
		fields = slices.Concat(fields, more)
	}
	v := lasting(p, c.collection)
	if v == nil {
		return s.lookLocal(p, f, c, through)
	}
	times, ok := evidence.Executions(s.pass, *f)
	if j == i {
		times.PerUnit = t.entries
	}
	if !ok || times.PerUnit <= 0 {
		return nil
	}
	var reads *types.Func
	if through != nil {
		reads = p.Callee(through)
	}
	changed := kept.Elements{Pass: s.pass, Place: p, Var: v, Fields: fields, Reads: reads}
	changed.Count()
	n := changed.Changed + elementChanges(s.pass, t.p, t.kinds)
	if changed.Unclear > rarely*times.PerUnit || n <= 0 && !s.constant(f, p, v, fields, times.PerUnit) {
		return nil
	}
	c.changes, c.changedAt = n/times.PerUnit, changed.Line
	if c.iterations < perChange*max(1, c.changes) {
		return nil
	}
	return c
}

// lookLocal completes what is computed of a list of the function, which a loop passes to a call
// each time; nil when the loop may change it.
func (s *search) lookLocal(p *gocode.Place, f *site.Frame, c *recount, through *ast.CallExpr) *recount {
	if through == nil || len(c.limits) > 0 {
		return nil
	}
	times, ok := evidence.Executions(s.pass, *f)
	if c.loop = unchanging(p, through, c.collection); c.loop == nil || !ok || times.PerCall < rare {
		return nil
	}
	return c
}

// rare is the minimum number of computations for each change of a collection that only changes as a
// whole.
const rare = 10

// constant reports whether a collection hardly changes: it is neither set nor passed on where that
// could change it.
func (s *search) constant(f *site.Frame, p *gocode.Place, v *types.Var, fields []*types.Var, times float64) bool {
	if v.Exported() && p.Pkg.Name() != "main" || s.pass.Manifest == nil || s.pass.Manifest.Unit() == "run" && times < rare {
		return false
	}
	c := kept.Changes{Pass: s.pass, Frame: f, Place: p, Var: v, Keys: fields}
	n, known := c.Count()
	return known && n*rare <= times
}

// passed returns the collection of which a call computes the total: its receiver, or, if the
// program calls the loop's own function, the argument over which the loop goes; nil for neither.
func passed(t *total, call *ast.CallExpr, direct bool) ast.Expr {
	if direct {
		if arg := flow.ArgumentFor(t.p, call, t.of); arg != nil {
			return arg
		}
	}
	if len(call.Args) > 0 {
		return nil
	}
	return syntax.Receiver(call)
}

func (s *search) judge(c *finder.Case) bool {
	found := s.found[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if found == nil {
		return false
	}
	found.describe(c)
	return true
}

func (r *recount) describe(c *finder.Case) {
	name := syntax.Text(r.collection)
	if r.loop != nil {
		r.describeLocal(c, name)
		return
	}
	how := "a loop"
	if r.through != "" {
		how = r.through
	}
	changes := "nothing"
	if r.changes >= 1 {
		changes = "at most " + units.Some(r.changes, "element")
	} else if r.changes > 0 {
		changes = "less than one element"
	}
	c.Allocs = nil
	c.Confidence = rule.Likely // other code may change the collection too
	c.Cause = fmt.Sprintf("%s iterates over all of %s with %s, %s iterations each time", syntax.FuncName(c.Place), name, how, units.Count(int64(r.iterations+0.5)))
	where := "where an element is added or changes"
	if r.changedAt > 0 {
		where += fmt.Sprintf(" (line %d)", r.changedAt)
	}
	c.Fix = fmt.Sprintf("Keep the total, or the largest, in a field next to %s, and bring it up to date %s.", name, where)
	for _, l := range r.limits {
		by := syntax.Text(l.cond.X)
		if l.value == l.cond.X {
			by = syntax.Text(l.cond.Y)
		}
		if l.equal() {
			c.Cause += fmt.Sprintf(", to count or add up those of one %s", by)
			c.Fix = fmt.Sprintf("Keep a map next to %s with a total for each %s, bring it up to date %s, and look %s up in it.", name, by, where, syntax.Text(l.value))
			continue
		}
		c.Cause += fmt.Sprintf(", to count or add up those where %s", syntax.Text(l.cond))
		c.Fix = fmt.Sprintf("Keep the values of %s in a sorted slice next to %s, and find the number of those before %s with slices.BinarySearch; for sums, also keep prefix sums. "+
			"If they change often, use a Fenwick tree or a balanced tree with counts.", by, name, syntax.Text(l.value))
		c.Fraction = &rule.Fraction{Expect: 0.95, Low: 0.6, High: 1}
	}
	c.Cause += fmt.Sprintf(". According to the counts of executions, %s changed since the last time.", changes)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations each time, %s changes", units.Count(int64(r.iterations+0.5)), units.Number(r.changes))})
}

// describeLocal fills in a list that a loop passes to a call each time.
func (r *recount) describeLocal(c *finder.Case, name string) {
	line := syntax.Line(c.Place, r.loop.Pos())
	n := units.Count(int64(r.iterations + 0.5))
	c.Allocs = nil
	c.Confidence = rule.Likely // other code may change the elements
	c.Cause = fmt.Sprintf("%s adds up all of %s again in each iteration of the loop on line %d, %s elements each time, though the loop does not change it.", r.through, name, line, n)
	c.Fix = fmt.Sprintf("Make a value of %s once before the loop that keeps the total, and use that; for a choice by weights it keeps prefix sums, in which slices.BinarySearch finds the element.", name)
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: n + " iterations each time"})
}
