// Package sortforfew finds lists that are sorted as a whole although only a few of their first or
// last elements are read.
package sortforfew

import (
	"context"
	"fmt"
	"go/ast"
	"math"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is sort-for-few.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sort-for-few",
		Kind:  rule.CPU,
		Title: "Whole list sorted to take a few elements",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// These apply if comparisons were not counted. A scan compares each element once, a
				// sort log₂(n) times; lists that cost enough to be seen have hundreds of elements
				// or more. The low end is for many short lists. A mistake in the comparison itself
				// stays in the comparisons that remain.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.35, High: 0.95},
				Specificity: 1, // reflect-sort speaks of the same call
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function sorts a list and then reads only its first or last elements: the ten
best, the newest, the smallest, the median, a page, the first that passes a
test. Sorting n elements takes about n·log₂(n) comparisons. Finding the smallest
takes n, finding the k smallest little more: most elements are compared once,
with the worst of those that were kept.

Use slices.MinFunc or MaxFunc for one element. For k elements, scan the list
once and keep the best k in a sorted slice or in a container/heap. The list then
need not be copied before, as a scan does not change its order. Where the list
rarely changes, keep it sorted instead. For a median or a percentile of many
values, a histogram that is updated with each value answers at once.

A recursion that builds a tree of points or boxes sorts a list, and passes each
half to itself, which sorts it again. Only the element in the middle has to be in
its place.

It is fine for short lists, and where most of the list is taken. The rule leaves
lists alone that something else reads after the sort. If the number of elements
to take is not constant, the finding is only likely, because the number may be
large.

Seen in the field: siglens/siglens#2605 (a query for the first ten took 7.8 s
instead of 10.2 s with a heap); townsendmerino/ken#22 (43 to 60 % less time with
a heap of k); komuw/ong#136 (a percentile of all latencies for each request).`

// few is the largest constant that still counts as a few.
const few = 1000

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := search{pass: p, known: map[gocode.Pos]*sorted{}, copies: map[gocode.Pos]*sorted{}}
	p.EachRow(func(r *site.Row) { s.caller(r) }) // so that copies are known before their rows come
	judge := func(c *finder.Case) bool {
		pos := gocode.Pos{File: c.Site.File, Line: c.Site.Line}
		if found := s.copies[pos]; found != nil {
			return found.describeCopy(c)
		}
		found := s.known[pos]
		if found == nil || found.taken == nil {
			return false
		}
		return found.describe(c)
	}
	return finder.Line{Start: finder.Frames(s.caller), Judge: judge}
}

// search remembers what the lines that sort do with the list.
type search struct {
	pass  *rule.Pass
	known map[gocode.Pos]*sorted
	// copies are the lines that copy a list of which a few elements are taken, only to sort it.
	copies map[gocode.Pos]*sorted
}

// sorted is a call that sorts a list.
type sorted struct {
	frame *site.Frame
	place *gocode.Place
	call  *ast.CallExpr
	list  ast.Expr
	taken *taken // nil when more than a few elements are read
	param int    // of the function, which leaves the list to its caller; -1 when it is none
	// collects is true for slices.Sorted, which makes the list of a sequence.
	collects bool
}

// caller returns the frame of a row that sorts a list of which a few elements are used: the line
// that calls a function of the standard library or, if its function only sorts its argument, the
// line that calls that function.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency || !sorts.Sorting(r.Stack[i-1].Function) && !sorts.Collects(r.Stack[i-1].Function) {
			continue
		}
		found := s.at(r.Stack[i:], -1)
		for found != nil && found.taken == nil && found.param >= 0 && i+1 < len(r.Stack) {
			i++
			found = s.at(r.Stack[i:], found.param)
		}
		if found != nil && found.taken != nil {
			return i
		}
	}
	if r.Owner >= 0 && s.copies[gocode.Pos{File: r.Stack[r.Owner].File, Line: r.Stack[r.Owner].Line}] != nil {
		return r.Owner
	}
	return -1
}

// at returns what the first line of a stack sorts: itself or, where param is not negative, by a
// function of its package that sorts that parameter.
func (s *search) at(stack []*site.Frame, param int) *sorted {
	f := stack[0]
	key := gocode.Pos{File: f.File, Line: f.Line}
	found, seen := s.known[key]
	if seen {
		return found
	}
	if place, ok := s.pass.Syntax.At(f.File, f.Line); ok && place.Decl != nil {
		found = s.look(stack, place.Outer(), param) // a comparison may stand on the same line
	}
	s.known[key] = found
	return found
}

func (s *search) look(stack []*site.Frame, p *gocode.Place, param int) *sorted {
	f := stack[0]
	for _, call := range syntax.Calls(p) {
		list := sorts.List(p, call)
		if fn := p.Callee(call); list == nil && param >= 0 && fn != nil && p.Declaration(fn) != nil && param < len(call.Args) {
			list = ast.Unparen(call.Args[param])
		}
		if seq := sorts.Collected(p, call); seq != nil {
			found := &sorted{frame: f, place: p, call: call, list: seq, collects: true, param: -1}
			u := uses{pass: s.pass, frame: f, place: p, v: syntax.LocalVar(p, syntax.AssignedTo(p, call))}
			if u.v != nil && u.judge(call) || u.v == nil && u.takes(call) {
				found.taken = u.first
			}
			return found
		}
		if list == nil {
			continue
		}
		found := &sorted{frame: f, place: p, call: call, list: list, param: -1}
		v := syntax.LocalVar(p, list)
		if v == nil {
			u := uses{pass: s.pass, frame: f, place: p}
			u.trimmed(call, list)
			found.taken = u.first
			return found
		}
		if syntax.Param(p, v) {
			found.param = syntax.ParamIndex(syntax.SignatureOf(p), v)
		}
		u := uses{pass: s.pass, frame: f, place: p, v: v, stack: stack}
		switch {
		case !u.judge(call):
			found.param = -1
		case u.first != nil:
			found.taken = u.first
			if line, ok := copied(p, list); ok {
				s.copies[gocode.Pos{File: f.File, Line: line}] = found
			}
		}
		return found
	}
	return nil
}

// copied returns the line that makes a list as a copy of another.
func copied(p *gocode.Place, list ast.Expr) (int, bool) {
	v := syntax.LocalVar(p, list)
	if v == nil {
		return 0, false
	}
	_, value := syntax.Declared(p, v)
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return 0, false
	}
	switch p.CalleeName(call) {
	case "slices.Clone":
	case "append":
		if !call.Ellipsis.IsValid() || len(call.Args) != 2 {
			return 0, false
		}
		if _, kept := syntax.Origin(p, call.Args[0]).(*ast.Ident); kept { // append(list[:0], …) allocates nothing
			return 0, false
		}
		if _, kept := ast.Unparen(call.Args[0]).(*ast.SliceExpr); kept {
			return 0, false
		}
	default:
		return 0, false
	}
	return syntax.Line(p, call.Lparen), true
}

func (f *sorted) describe(c *finder.Case) bool {
	list, t := syntax.Text(f.list), f.taken
	f.leaveForeign(c)
	if f.short(c) {
		return false
	}
	if t.split {
		f.describeSplit(c)
		return true
	}
	size := ""
	if n, comparisons, ok := f.length(c.Pass); ok {
		if n < 2*float64(t.count) || n < 16 {
			return false
		}
		size = fmt.Sprintf(" (about %s elements each time)", units.Number(about(n)))
		steps := math.Log2(n)
		k := max(1, float64(t.count))
		spare := 1 - (n+2*k*math.Log2(max(2, n/k)))/comparisons
		if spare <= 0.1 {
			return false
		}
		c.Fraction = &rule.Fraction{Expect: 0.95 * spare, Low: 0.5 * spare, High: min(0.99, 1-0.5/steps)}
		c.Evidence = append(c.Evidence, rule.Evidence{
			What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s comparisons for each sort", units.Number(comparisons)),
		})
	}
	c.Cause = fmt.Sprintf("%s sorts %s%s, of which line %d reads only %s: most of the order that the sort computes is never used.",
		symbol.Short(c.Place.CalleeName(f.call)), list, size, t.line, t.text)
	switch {
	case t.passing:
		c.Fix = fmt.Sprintf("Scan %s once for the best element that passes the test: compare first, and test only elements that are better than the best so far.", list)
	case t.rank:
		c.Fix = fmt.Sprintf("Keep counts of the values in buckets (a histogram) that are updated as values come, and read quantiles from them; or select the element without sorting %s (quickselect takes about 3·n steps), or sort it only where it changes.", list)
	case f.collects:
		c.Fix = fmt.Sprintf("Range over %s once, and keep only the best, without a sorted list of all.", list)
	case t.count == 1:
		c.Fix = fmt.Sprintf("Use slices.MinFunc or slices.MaxFunc on %s: it compares each element once, and %s need not be copied or sorted.", list, list)
	default:
		c.Fix = fmt.Sprintf("Scan %s once and keep the best %s in a sorted slice or a container/heap; or, if %s rarely changes, keep it sorted.", list, t.number(), list)
	}
	if t.rank {
		c.Confidence = rule.Likely // buckets give a value between two bounds
	}
	if t.count == 0 {
		c.Confidence = rule.Likely // the number may be as large as the list
		if c.Fraction == nil {
			c.Fraction = &rule.Fraction{Expect: 0.75, Low: 0.2, High: 0.95}
		}
	}
	return true
}

// leastSort is what a sort must take, in seconds, to be of more than a few dozen elements.
const leastSort = 1e-6

// short reports whether the counters show that the list has few elements. A comparison on the same
// line runs more often than the sort, so this considers only sorts without one.
func (f *sorted) short(c *finder.Case) bool {
	if len(f.call.Args) != 1 {
		return false
	}
	spent, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, *f.frame, float64(spent)/1e9)
	return known && each < leastSort
}

// leaveForeign drops the cost of comparisons in other modules, if that is most of it: a value that
// is parsed for each comparison is a separate mistake, with more to save.
func (f *sorted) leaveForeign(c *finder.Case) {
	own := func(r *site.Row) bool {
		return r.Owner >= 0 && r.Stack[r.Owner].Owner.Module == f.frame.Owner.Module
	}
	mine, _ := stacks.Sum(stacks.Select(c.CPU, own))
	if all, _ := stacks.Sum(c.CPU); mine < all/2 {
		c.Keep(own)
	}
}

// describeCopy speaks of the copy that is sorted.
func (f *sorted) describeCopy(c *finder.Case) bool {
	list := syntax.Text(f.list)
	c.Cause = fmt.Sprintf("%s is a copy that line %d sorts, and of which line %d reads only %s.", list, syntax.Line(f.place, f.call.Pos()), f.taken.line, f.taken.text)
	c.Fix = "Scan the original once, which does not change its order; then no copy is needed."
	c.Fraction = &rule.Fraction{Expect: 0.9, Low: 0.5, High: 1}
	if f.taken.count == 0 {
		c.Confidence = rule.Likely
	}
	return true
}

// length estimates how many elements the list had from the counted comparisons for each sort.
func (f *sorted) length(p *rule.Pass) (n, comparisons float64, ok bool) {
	if p.Counts == nil || len(f.call.Args) < 2 {
		return 0, 0, false
	}
	lit, ok := ast.Unparen(f.call.Args[len(f.call.Args)-1]).(*ast.FuncLit)
	if !ok || len(lit.Body.List) == 0 {
		return 0, 0, false
	}
	line := func(n ast.Node) (float64, bool) {
		at := f.place.Fset.Position(n.Pos())
		e, ok := p.Counts.Line(f.frame.Owner.Package, at.Filename, at.Line)
		return e.PerUnit, ok
	}
	compared, known := line(lit.Body.List[0])
	sorts, knownToo := line(f.taken.node)
	if !known || !knownToo || sorts <= 0 || compared <= sorts {
		return 0, 0, false
	}
	comparisons = compared / sorts
	for n = 2; n*math.Log2(n) < comparisons; n *= 1.02 {
	}
	return n, comparisons, true
}

// about rounds an estimate to two digits.
func about(n float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(n))-1)
	return math.Round(n/unit) * unit
}
