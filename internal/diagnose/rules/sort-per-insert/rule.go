// Package sortperinsert finds lists that are sorted again after each insertion of an element.
package sortperinsert

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/flow"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

// Rule is sort-per-insert.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "sort-per-insert",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "List sorted again after each insertion",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// A binary search and a copy of half of the list replace a sort of an almost sorted
				// list: n or more comparisons become log n. Short lists save less.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.3, High: 0.97},
				Specificity: 3, // sort-for-few and sort-unchanged know less about what changed
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function appends one element and sorts the whole list. The list was sorted
before, so only one element is out of place. The sort still examines every
element, with an indirect call for each comparison: inserting n elements costs
at least n² comparisons.

Find the position with slices.BinarySearch and insert the element there with
slices.Insert. If many elements are added before the list is read, append all of
them and sort once; if only the smallest element matters, use container/heap.

A loop that appends parts to a list, and sorts all of it each time, needs one sort
after the loop if nothing in the loop reads the list.

The append and the sort may be in methods of their own, up to three calls away
from each other.

It is fine where a loop appends and the sort comes after it, for a list that the
function just collected, and where many elements were appended since the last
sort, as executions show; the rule does not report these.

Seen in the field: armon/go-radix#15 (edges of a node), which was 2.6 times
slower than with a binary search.`

func prepare(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	s := search{pass: p}
	s.paths = finder.RememberPaths(2*levels, s.look)
	judge := func(c *finder.Case) bool {
		found := s.paths.At(&c.Site.Frame)
		if found == nil {
			return false
		}
		list := syntax.Short(found.list)
		c.Cause = fmt.Sprintf("%s appends one element to %s (%s) and sorts the whole list again: n elements cost n² comparisons.",
			syntax.FuncName(c.Place), list, found.where)
		c.Fix = fmt.Sprintf("Insert at the element's position: i, _ := slices.BinarySearchFunc(%s, …), then slices.Insert; or append all elements and sort once.", list)
		return true
	}
	return []finder.Line{{Start: finder.Frames(s.caller), Judge: judge}, s.inLoop()}
}

const (
	// levels is the largest number of calls between the line that sorts and the one after which it
	// does.
	levels = 3
	// mostAdded is the largest number of elements that change for each sort.
	mostAdded = 4
)

type search struct {
	pass  *rule.Pass
	paths *finder.Paths[inserted]
}

// inserted is a list that gets one element and is sorted.
type inserted struct {
	list  string
	where string // the append
}

// caller returns the frame of a row that inserts an element into a list and sorts it: by a function
// that sorts, or through functions of the program that sort a list of their caller.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		k := r.Stack[i].Owner.Kind
		if k != gocode.Main && k != gocode.Dependency || !sorts.Sorting(r.Stack[i-1].Function) {
			continue
		}
		if at := s.paths.From(r.Stack, i); at >= 0 {
			return at
		}
	}
	return -1
}

// look returns the list that the frame from of a stack sorts if it got one element before, with the
// index of the frame whose function did both.
func (s *search) look(stack []*site.Frame, from int) (*inserted, int) {
	p, ok := s.pass.Syntax.At(stack[from].File, stack[from].Line)
	if !ok {
		return nil, -1
	}
	for _, call := range syntax.Calls(p) {
		if xs := sorts.List(p, call); xs != nil {
			if found, i := s.above(stack, from, p, call, named(p, xs)); found != nil {
				return found, i
			}
		}
	}
	return nil, -1
}

// above returns the list that a call sorts, if the function of frame i of the stack appended one
// element to it before, or a caller of that function did.
func (s *search) above(stack []*site.Frame, i int, p *gocode.Place, call *ast.CallExpr, l list) (*inserted, int) {
	sort := call
	for in, last := p, i+levels; ; {
		if a := appendedBefore(p, call, l); a != nil {
			if !s.lasts(stack, i, p, call, l) || s.many(a, in, sort) {
				return nil, -1
			}
			return &inserted{l.text, a.where(p)}, i
		}
		if i == last || i+1 == len(stack) || stack[i+1].Owner.Kind != gocode.Main {
			return nil, -1
		}
		caller, ok := s.pass.Syntax.At(stack[i+1].File, stack[i+1].Line)
		if !ok {
			return nil, -1
		}
		next := flow.CallAbove(p, caller)
		if next == nil {
			return nil, -1
		}
		if l, ok = l.given(p, caller, next); !ok {
			return nil, -1
		}
		i, p, call = i+1, caller, next
	}
}

// many reports whether more elements of a field or a package variable were counted to change than
// one or two for each sort: the append only adds the last of many.
func (s *search) many(a *addition, in *gocode.Place, sort *ast.CallExpr) bool {
	v := syntax.Named(a.place, a.to)
	if s.pass.Counts == nil || v == nil || !v.IsField() && v.Parent() != a.place.Pkg.Scope() {
		return false
	}
	runs, ok := evidence.ReachedAt(s.pass, in, sort.Pos())
	if !ok || runs <= 0 {
		return false
	}
	changed := kept.Elements{Pass: s.pass, Place: a.place, Var: v, Skip: sort}
	changed.Count()
	return changed.Changed > mostAdded*runs
}
