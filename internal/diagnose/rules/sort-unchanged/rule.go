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
		Title: "List sorted again though it did not change",
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
variable), or a copy of it, or the keys of a map that it keeps, each time it is
called. The list did not change since the last time, so the result is the same:
n·log₂(n) comparisons to find out what was known. A sort in place is also a
write, so readers must be locked out.

Sort the list where it changes, and keep it sorted (slices.BinarySearch and
slices.Insert for single elements). Or keep a sorted copy, and drop it where the
list changes.

It is fine where the list changes about as often as it is read. The rule counts
both: it reports lists that were sorted at least ten times for each time that a
line of their package changed them, and only where the order does not depend on
the request.

Seen in the field: prometheus/client_golang#483 (all metrics sorted for each
scrape); api7/aisix#1174 (the sorted series kept between scrapes: a third less
CPU).`

func prepare(_ context.Context, p *rule.Pass) (finder.Line, bool) {
	if p.Counts == nil || p.Syntax == nil || p.Manifest == nil {
		return finder.Line{}, false
	}
	s := &search{pass: p}
	s.lines = finder.Remember(p, s.look)
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}, true
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[again]
}

// again is a call that sorts a list that did not change.
type again struct {
	place   *gocode.Place
	list    ast.Expr   // what is sorted
	kept    ast.Expr   // the list or map, or the one that it is a copy of
	v       *types.Var // the same
	sorts   float64    // for each unit of work
	changes float64
	open    bool // other packages may change it
}

// caller returns the frame that sorts such a list.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency || !sorts.Sorting(r.Stack[i-1].Function) {
			continue
		}
		if s.lines.At(f) != nil {
			return i
		}
	}
	return -1
}

// look returns the sort on a line of a list that hardly changes; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *again {
	if p.Decl == nil {
		return nil
	}
	p = p.Outer()
	for _, call := range syntax.Calls(p) {
		list := sorts.List(p, call)
		if list == nil {
			continue
		}
		from := source(p, list)
		v := kept.Var(p, from)
		if v == nil {
			continue
		}
		keys, ok := orderOf(p, call, list)
		if !ok {
			continue
		}
		c := sorting{kept.Changes{Pass: s.pass, Frame: f, Place: p, Var: v, Keys: keys, Skip: call}}
		a := &again{place: p, list: list, kept: from, v: v, open: v.Exported() && p.Pkg.Name() != "main"}
		if a.sorts, ok = c.sorts(); !ok {
			continue
		}
		if a.changes, ok = c.Count(); !ok || a.sorts < leastSorts*a.changes || s.pass.Manifest.Unit() == "run" && a.sorts < leastRuns {
			continue
		}
		return a
	}
	return nil
}

func (s *search) judge(c *finder.Case) bool {
	a := s.lines.At(&c.Site.Frame)
	if a == nil {
		return false
	}
	from, what := syntax.Text(a.kept), syntax.Text(a.list)
	if !syntax.Same(a.place, a.kept, a.list) {
		what += ", made of " + from + ","
	}
	times := "which did not change while executions were counted"
	if a.changes > 0 {
		times = fmt.Sprintf("which changes once in %s sorts", units.Number(a.sorts/a.changes))
	}
	c.Cause = fmt.Sprintf("%s sorts %s again on every call, though the order follows from %s, %s.", syntax.FuncName(a.place), what, from, times)
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
