// Package sortunchanged finds lists that are sorted again although they did not change since the
// last sort.
package sortunchanged

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastSorts is the minimum number of sorts for each change of a list.
	leastSorts = 10
	// leastRuns is the minimum number of sorts in a program that runs and exits.
	leastRuns = 20
)

// Rule is sort-unchanged.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sort-unchanged",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "List sorted again though it hardly changed",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// One sort in ten or fewer remains, where the list changes.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.85, High: 1},
				Specificity: 2, // reflect-sort and sort-for-few report the same call
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A handler sorts a list that the program keeps (a field, a package
variable), or a copy of it, or the keys or values of a map that it keeps, each
time it is called. The list did not change since the last time, so the result is
the same: n·log₂(n) comparisons to find out what was known. A sort in place is
also a write, so readers must be locked out.

Sort the list where it changes, and keep it sorted (slices.BinarySearch and
slices.Insert for single elements). Or keep a sorted copy, and drop it where the
list changes.

The same holds where a few elements change before each sort: one is added, or
the next one to run gets another time. The sort compares all of them again, so n
changes cost n² comparisons. Put the element that changed in its place, or use a
heap, if only the first elements are needed. Or a few elements of a range leave
after each sort, and all others are sorted again for the next range: handle all
of them once they are sorted.

A function for one percentile or rank sorts a copy of the list that it gets. A
caller that asks for five percentiles sorts the same values five times. A helper
that gets the list, and perhaps a function for the order, is followed to its
callers.

It is fine where most elements change before each sort. The rule counts: it
reports lists that were sorted at least ten times for each time that a line of
their package changed them, or that have at least 64 elements and 16 for each
that changed since the last sort, and only where the order does not depend on
the request.

Seen in the field: prometheus/client_golang#483 (all metrics sorted for each
scrape); api7/aisix#1174 (the sorted series kept between scrapes: a third less
CPU); robfig/cron#423 (all jobs sorted to find the next one).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, repeated: map[call]*repeated{}, again: map[gocode.Pos]*repeated{}}
	s.lines, s.callers = finder.Remember(p, s.look), finder.Remember(p, s.lookBelow)
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[again]
	// callers are the lines that call a function which sorts its parameter, or a copy of it.
	callers *finder.Lines[again]
	// repeated are the lines that call such a function again for the same list, and again are those
	// that have one.
	repeated map[call]*repeated
	again    map[gocode.Pos]*repeated
}

// again is a call that sorts a list that did not change.
type again struct {
	place    *gocode.Place
	list     ast.Expr   // what is sorted
	kept     ast.Expr   // the list or map, or the one that it is a copy of
	v        *types.Var // the same; nil when it is a parameter of the function
	straight bool       // runs in each call of the function
	sorts    float64    // for each unit of work
	changes  float64
	open     bool // other packages may change it

	// elements is how many the list has, at least, if a few of them changed since the last sort.
	elements float64
	changed  float64 // elements for each unit of work
	at       int     // the line where most of them change; 0 when unknown
	// removedAt is the line that deletes elements; 0 for none.
	removedAt int
}

// caller returns the frame that sorts such a list.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f, below := r.Stack[i], r.Stack[i-1].Function
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency || !sorts.Sorting(below) && !sorts.Collects(below) {
			continue
		}
		switch a := s.lines.At(f); {
		case a == nil:
		case a.v != nil:
			return i
		case i+1 < len(r.Stack) && s.callers.At(r.Stack[i+1]) != nil:
			return i + 1
		}
		if j := s.repeats(r, i); j > 0 {
			return j
		}
	}
	return -1
}

// sorted returns the list, map or sequence that a call sorts, and its origin; nil for none.
func sorted(p *gocode.Place, call *ast.CallExpr) (ast.Expr, *origin) {
	list := sorts.List(p, call)
	if list == nil {
		list = sorts.Collected(p, call)
	}
	if list == nil {
		return nil, nil
	}
	o := sources{Place: p, before: call.End()}.of(list)
	if o == nil {
		return nil, nil
	}
	by, ok := orderOf(p, call, list)
	if !ok || o.v != nil && len(by.given) > 0 {
		return nil, nil
	}
	o.keys, o.by, o.given = append(o.keys, by.keys...), by.by, by.given
	return list, o
}

// look returns the sort on a line of a list that hardly changes, or of a parameter; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *again {
	if p.Decl == nil {
		return nil
	}
	p = p.Outer()
	for _, call := range syntax.Calls(p) {
		list, o := sorted(p, call)
		if o == nil {
			continue
		}
		if o.v == nil {
			return &again{place: p, list: list}
		}
		if a := s.count(f, p, call, list, o); a != nil {
			return a
		}
	}
	return nil
}

// lookBelow returns the call on a line of a function that sorts its parameter, if that is a list
// that hardly changes; nil for none.
func (s *search) lookBelow(f *site.Frame, p *gocode.Place) *again {
	if p.Decl == nil {
		return nil
	}
	p = p.Outer()
	for _, call := range syntax.Calls(p) {
		decl := p.Declaration(p.Callee(call))
		if decl == nil || decl.Body == nil {
			continue
		}
		for _, below := range sortedParams(p.Entry(decl)) {
			list := flow.ArgumentFor(p.Entry(decl), call, below.param)
			if list == nil {
				continue
			}
			o := sources{Place: p, before: call.End()}.of(list)
			if o == nil || o.v == nil || !below.resolve(p.Entry(decl), p, call) {
				continue
			}
			o.keys, o.by = append(o.keys, below.keys...), below.by
			if a := s.count(f, p, call, list, o); a != nil {
				return a
			}
		}
	}
	return nil
}

// sortedParams returns the parameters that a function sorts, or copies of them.
func sortedParams(p *gocode.Place) (found []*origin) {
	ast.Inspect(p.Decl.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if _, o := sorted(p, call); o != nil && o.v == nil {
				found = append(found, o)
			}
		}
		return true
	})
	return found
}

// count returns a sort if its list hardly changes.
func (s *search) count(f *site.Frame, p *gocode.Place, call *ast.CallExpr, list ast.Expr, o *origin) *again {
	c := kept.Changes{Pass: s.pass, Frame: f, Place: p, Var: o.v, Keys: o.keys, Skip: call}
	a := &again{place: p, list: list, kept: o.expr, v: o.v, straight: straight(p, call), open: o.v.Exported() && p.Pkg.Name() != "main"}
	var ok bool
	if a.sorts, ok = evidence.ReachedAt(s.pass, p, call.Pos()); !ok {
		return nil
	}
	if a.sorts <= 0 || s.pass.Manifest.Unit() == "run" && a.sorts < leastRuns {
		return nil
	}
	if a.changes, ok = c.Count(); ok && a.sorts >= leastSorts*a.changes || s.few(a, c, o) {
		return a
	}
	return nil
}

func (s *search) judge(c *finder.Case) bool {
	a := s.lines.At(&c.Site.Frame)
	if a == nil || a.v == nil {
		a = s.callers.At(&c.Site.Frame)
	}
	if a == nil || a.v == nil {
		again := s.again[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
		if again != nil {
			again.describe(c)
		}
		return again != nil
	}
	c.Uncertain = a.copied(s.pass, c.Site)
	from, what := syntax.Text(a.kept), syntax.Text(a.list)
	if call, ok := a.list.(*ast.CallExpr); ok && len(call.Args) == 1 && syntax.Same(a.place, a.kept, call.Args[0]) {
		switch a.place.CalleeName(call) { // maps.Keys(m)
		case "maps.Keys":
			what = "the keys of " + from
		case "maps.Values", "slices.Values":
			what = "the values of " + from
		}
	} else if !syntax.Same(a.place, a.kept, a.list) {
		what += ", made of " + from + ","
	}
	when := "on every call"
	if !a.straight {
		when = "and again"
	}
	if a.elements > 0 {
		s.describeFew(c, a, when)
		return true
	}
	times := "which did not change while executions were counted"
	if a.changes > 0 {
		times = fmt.Sprintf("which changes once in %s sorts", units.Number(a.sorts/a.changes))
	}
	c.Cause = fmt.Sprintf("%s sorts %s again %s, though the order follows from %s, %s.",
		syntax.FuncName(a.place), what, when, from, times)
	c.Fix = fmt.Sprintf("Sort where %s changes, and keep the result next to it.", from)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s sorts and %s changes of %s per %s", units.Number(a.sorts), units.Number(a.changes), from, s.pass.Manifest.Unit()),
	})
	if a.open {
		c.Confidence = rule.Likely
	}
	return true
}

// copied returns the rows of the lines that make the sorted list of the kept one: with a sorted
// copy that is kept, they may not run.
func (a *again) copied(p *rule.Pass, at *site.Site) (u rule.Uncertain) {
	v := syntax.LocalVar(a.place, a.list)
	if v == nil {
		return u
	}
	made := map[int]bool{}
	for _, value := range syntax.Assigned(a.place, v) {
		if _, call := ast.Unparen(value).(*ast.CallExpr); call && value.End() < a.list.Pos() {
			made[syntax.Line(a.place, value.Pos())] = true
		}
	}
	for _, s := range p.Table.Sites {
		if s.File == at.File && made[s.Line] {
			u.CPU, u.Allocs = append(u.CPU, s.CPU...), append(u.Allocs, s.Allocs...)
		}
	}
	return u
}
