// Package testperpair finds expensive tests that run for each pair of the elements of two lists,
// and that hardly ever hold.
package testperpair

import (
	"context"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastEach is the minimum time of a test, in seconds: what tests less is cheap already.
	leastEach = 0.5e-6
	// leastEachText is the same for two texts that may differ up to a limit: to compare their
	// lengths takes a nanosecond.
	leastEachText = 0.1e-6
	// mostHits is the largest share of the tests that hold.
	mostHits = 0.05
	// leastTests is the minimum number of tests for each request, and in a program that exits.
	leastTests, leastTestsOfRun = 100, 10_000
	// leastElements is the minimum mean number of elements of each list.
	leastElements = 4
	// levels is how many callers are searched for the loop over the other list.
	levels = 3
)

// Rule is test-per-pair.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "test-per-pair",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Expensive test of each pair of elements that hardly ever holds",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// What both must have in common may leave many candidates, or be hard to index.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.3, High: 0.99},
				Specificity: 3, // scan-per-lookup sees the inner loop alone
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `Two nested loops compare each element of a list with each of another one, by a
call that takes long: whether a rule applies to an alert, two names are similar,
two areas overlap, a selector matches. For n and m elements that is n·m calls, and
nearly all of them say no. The inner loop may be in a function that the outer one
calls.

Find the candidates first. Keep one list in a map by a value that both must have in
common (a name, a kind, the value of a label, a cell of a grid), or sorted by it,
and call the test for those alone. If there is no such value, put a cheap condition
before the call that most pairs fail: the lengths of two texts, the boxes around
two areas, a literal that a pattern contains.

One value that is compared with each element of a long list is the same, if only
results within a limit count, such as the names of a catalogue that differ from a
word in at most two letters: most of them cannot, by their lengths alone.

It is fine for short lists, and where most pairs pass. The rule counts executions:
it reports calls without visible side effects that take at least half a
microsecond (a tenth for two texts and a limit), run for at least a hundred
pairs, and hold for at most one pair in twenty. It leaves alone a search for the
best pair, which has to compare all of them, the children of each element, a test
that a cheaper one precedes, and one that gets the limit.

Seen in the field: prometheus/alertmanager#4607 (each alert was compared with each
source alert of each inhibition rule; an index of their equal labels replaced
that).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.edges = finder.RememberEdges(s.look)
	return finder.Line{Start: finder.Frames(s.edges.Farthest), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	edges *finder.Edges[pair]
}

// look returns the test at an edge, if it runs for each pair and hardly ever holds.
func (s *search) look(f, below *site.Frame) *pair {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if k := below.Owner.Kind; !ok || place.Decl == nil || place.Decl.Body == nil || k != gocode.Main && k != gocode.Dependency {
		return nil
	}
	call := called(place, below)
	if call == nil {
		return nil
	}
	p := place.Outer()
	if fn := p.Callee(call); fn != nil && fn.Pkg() != nil && strings.Contains(fn.Pkg().Path(), "crypto") {
		return nil // keys are not compared by a part of them
	}
	found := pairOf(p, call)
	if found == nil || !effects.Harmless(s.pass.Syntax, p, call, below) {
		return nil
	}
	found.callee = below.Function
	if !s.count(p, found) {
		return nil
	}
	return found
}

// called returns the call on a line of a function, also of one in a variable; nil for none.
func called(p *gocode.Place, below *site.Frame) *ast.CallExpr {
	if call := loops.CallTo(p, below.Function); call != nil {
		return call
	}
	for _, call := range syntax.Calls(p) {
		if _, conversion := p.Conversion(call); !conversion && p.CalleeName(call) == "" {
			return call
		}
	}
	return nil
}

// count fills in how often the test ran and held, and reports whether that was often enough.
func (s *search) count(p *gocode.Place, found *pair) bool {
	runs, ok1 := evidence.ReachedAt(s.pass, p, found.test.Pos())
	hits, ok2 := evidence.ReachedAt(s.pass, p, found.hit.Pos())
	at := p.Fset.Position(found.inner.Pos())
	loop, ok3 := s.pass.Counts.Loop(p.Pkg.Path(), at.Filename, at.Line)
	least := float64(leastTests)
	if s.pass.Manifest.Unit() == "run" {
		least = leastTestsOfRun
	}
	if !ok1 || !ok2 || !ok3 || runs < least || hits > mostHits*runs || loop.Iterations < leastElements {
		return false
	}
	found.runs, found.hits, found.n = runs, hits, loop.Iterations
	if loop.Entries < leastElements && !found.oneOfMany() {
		return false
	}
	return true
}

func (s *search) judge(c *finder.Case) bool {
	f := s.edges.From(&c.Site.Frame)
	if f == nil {
		return false
	}
	at := func(r *site.Row) int {
		return slices.IndexFunc(r.Stack, func(x *site.Frame) bool { return x.File == c.Site.File && x.Line == c.Site.Line })
	}
	if fine, file := effects.PureBelow(c.CPU, at); !fine || file {
		return false
	}
	nanoseconds, _ := stacks.Sum(c.CPU)
	each, known := evidence.PerExecution(c.Pass, c.Site.Frame, float64(nanoseconds)*1e-9)
	other := s.other(c, f, at)
	shortest := leastEach
	if f.limit != nil && f.texts(c.Place.Outer()) {
		shortest = leastEachText
	}
	if !known || each < shortest || other == "" && !f.oneOfMany() {
		return false
	}
	name := syntax.Short(syntax.Text(f.call))
	if other == "" {
		describeLimited(c, f, name, units.Seconds(each))
	} else {
		s.describePairs(c, f, name, other, units.Seconds(each))
	}
	c.Confidence = rule.Likely // the call does not show what both must have in common
	c.Callees = []string{f.callee}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s runs %s per %s and holds %s", name, evidence.Times(f.runs), s.pass.Manifest.Unit(), evidence.Times(f.hits)),
	})
	return true
}

// oneOfMany reports whether one value is compared with many elements, by a limit.
func (f *pair) oneOfMany() bool { return f.limit != nil && f.n >= leastSearched }

// describePairs fills in the words for tests of each pair of the elements of two lists.
func (s *search) describePairs(c *finder.Case, f *pair, name, other, each string) {
	hold := "none of them held while executions were counted"
	if f.hits > 0 {
		hold = fmt.Sprintf("%s of them hold", units.Percent(f.hits/f.runs))
	}
	over := syntax.Text(f.over)
	c.Cause = fmt.Sprintf("%s runs for each pair of an element of %s and one of %s: %s tests per %s, of which each takes %s, and %s.",
		name, other, over, units.Count(int64(f.runs+0.5)), s.pass.Manifest.Unit(), each, hold)
	c.Fix = fmt.Sprintf("Keep %s in a map by a value that both must have in common, or sorted by it (a name, a kind, a label, a length, a cell of a grid), and call %s only for the candidates that it has.", over, name)
	if !f.guarded {
		c.Fix += " If there is no such value, put a cheap condition before the call that most pairs fail."
	}
}

// other returns what the outer loop goes through, in the function itself or in a caller that passes
// one of its elements; "" for none.
func (s *search) other(c *finder.Case, f *pair, at func(*site.Row) int) string {
	if f.outer != nil {
		return f.outerText(c.Place.Outer())
	}
	if len(c.CPU) == 0 {
		return ""
	}
	r := c.CPU[0]
	i := at(r)
	for i+1 < len(r.Stack) && r.Stack[i+1].File == c.Site.File && inside(c.Place, r.Stack[i+1].Line) {
		i++ // a function literal of the function
	}
	caller, ok := loops.Calling(s.pass.Syntax, r.Stack, i, levels)
	in := c.Place.Entry(c.Place.Decl)
	if !ok || !slices.ContainsFunc(f.params, func(e ast.Expr) bool { return !caller.Shares(in, e) }) {
		return ""
	}
	e, ok := loops.ElementsOf(caller.Place, caller.Loop)
	if !ok {
		return ""
	}
	return syntax.Text(e.List)
}

// inside reports whether a line is one of the declaration around a place.
func inside(p *gocode.Place, line int) bool {
	return syntax.Line(p, p.Decl.Pos()) <= line && line <= syntax.Line(p, p.Decl.End())
}
