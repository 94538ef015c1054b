// Package sortnotneeded finds lists that are sorted although nothing that reads them needs the
// order.
package sortnotneeded

import (
	"context"
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is sort-not-needed.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sort-not-needed",
		Kind:  rule.CPU,
		Title: "List sorted though nothing needs its order",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The call is removed; what reads the elements stays.
				Fraction:    rule.Fraction{Expect: 0.97, Low: 0.8, High: 1},
				Specificity: 4, // a sort that is not needed need be neither kept nor faster
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function sorts a list, and whatever reads it then gives the same result in
any order: a loop that counts, adds up integers, fills a set or looks for an
element, or another sort by another key. Often the sort is in a helper that other
callers once needed it for, or the keys of a map are sorted out of habit.

Remove the sort. If it is in a helper, let the caller that needs the order sort.
If it only serves slices.Compact, equal elements may change nothing for a search.
Where a list is sorted twice, only the last order remains.

It is fine where the order shows: in an answer, a log, a hash, or in which of
several equal elements is taken. The rule follows the list through the function,
its loops and the functions of the program that return it, and reports only sorts
after which every use is of a kind that does not depend on the order. A sum of
floating-point numbers does, in its last digits, and so does a stable sort.

Seen in the field: buildbuddy-io/buildbuddy#4302 (the names in a request sorted
before each is looked up).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	if p.Syntax == nil {
		return finder.Line{}
	}
	lines := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *sorted { return look(p, place) })
	return finder.Line{
		Start: finder.Frames(func(r *site.Row) int {
			for i := 1; i < len(r.Stack); i++ {
				below := r.Stack[i-1].Function
				if k := r.Stack[i].Owner.Kind; k != gocode.Main && k != gocode.Dependency || !sorts.Sorting(below) && !sorts.Collects(below) {
					continue
				}
				if lines.At(r.Stack[i]) != nil {
					return i
				}
			}
			return -1
		}),
		Judge: func(c *finder.Case) bool {
			found := lines.At(&c.Site.Frame)
			if found == nil {
				return false
			}
			found.describe(c)
			return true
		},
	}
}

// sorted is a sort whose order nothing needs.
type sorted struct {
	name  string // of the function that sorts
	what  string // the list or the sequence
	uses  *uses
	seq   bool          // the elements of a sequence are sorted into a new list
	again *ast.CallExpr // another sort after it; nil for none
}

// look returns the sort on a line, if nothing needs the order; nil for others.
func look(pass *rule.Pass, place *gocode.Place) *sorted {
	if place.Decl == nil || place.Decl.Body == nil {
		return nil
	}
	p := place.Outer()
	for _, call := range syntax.Calls(place) {
		list, u := sorts.List(p, call), &uses{pass: pass}
		if seq := sorts.Collected(p, call); seq != nil {
			if u.value(p, call) && u.known() {
				return &sorted{name: symbol.Short(p.CalleeName(call)), what: syntax.Text(seq), uses: u, seq: true, again: u.again}
			}
			continue
		}
		v := syntax.LocalVar(p, list)
		if list == nil || v == nil || !u.sorted(p, v, call, 2) {
			continue
		}
		u.depth = 0
		if u.after(p, v, call) && u.known() {
			return &sorted{name: symbol.Short(p.CalleeName(call)), what: syntax.Text(list), uses: u, again: u.again}
		}
	}
	return nil
}

func (s *sorted) describe(c *finder.Case) {
	p := c.Place
	if s.again != nil {
		c.Cause = fmt.Sprintf("%s sorts %s, which %s then sorts again (%s): nothing between the two sorts needs the first order.",
			s.name, s.what, symbol.Short(p.CalleeName(s.again)), s.uses.where)
		c.Fix = "Remove the first sort; compare by both keys in the second one, if equal elements have to keep an order."
	} else {
		c.Cause = fmt.Sprintf("%s sorts %s, but nothing needs the order: %s.", s.name, s.what, s.uses.does)
		c.Fix = fmt.Sprintf("Remove the sort of %s, and its copy, if there is one only for the sort.", s.what)
		if s.uses.single {
			c.Cause = fmt.Sprintf("%s sorts %s to remove elements that occur twice, but they would change nothing: %s.", s.name, s.what, s.uses.does)
			c.Fix = fmt.Sprintf("Remove the sort of %s and slices.Compact.", s.what)
		}
		if s.seq {
			c.Fix = fmt.Sprintf("Go through %s itself, or collect it with slices.Collect if a list is needed.", s.what)
		}
		if s.uses.callers && !s.uses.single {
			c.Fix = fmt.Sprintf("Remove the sort of %s from %s; a caller that needs an order one day can sort.", s.what, syntax.FuncName(p))
		}
	}
	c.Confidence = rule.Measured
	if s.uses.callers {
		c.Confidence = rule.Likely // calls by reflection are not seen
	}
}
