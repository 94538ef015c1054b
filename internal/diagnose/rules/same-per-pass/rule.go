// Package sameperpass finds values of elements that each of several passes computes again.
package sameperpass

import (
	"context"
	"fmt"
	"go/ast"
	"math"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is same-per-pass.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "same-per-pass",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Value of each element computed again in every pass",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own: all passes but one.
				Fraction:    rule.Fraction{Expect: 0.6, Low: 0.3, High: 1},
				Specificity: 2, // most calls go, whatever each of them costs: before rules that know the call
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop goes through all elements, such as the pixels of a picture or the rows of
a table, once for each component, column or candidate, and computes something of
each element that does not depend on the component: the logarithm of a number,
the fields of a row, a color in another color space. With twelve components it
does so twelve times for each element.

Go through the elements once, and update all components for each. Or compute the
values once before the outer loop, into a slice, and read that in each pass.

It is fine for a few elements, for a value that is cheaper than reading it from
memory, and where the elements change between two passes. The rule reports calls
of at least 20 ns that have no visible side effects, whose arguments depend on
the element and on nothing that the outer loop changes, in loops of at least a
hundred iterations that an outer loop, also one in the caller, repeats three
times or more, as counted.

Seen in the field: bbrks/go-blurhash#6 (each pixel of a photo converted again
for each of twelve components).`

const (
	leastElements = 100
	leastPasses   = 3
	leastCost     = 20e-9 // seconds per call: reading the value from a slice takes a few nanoseconds
)

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, known: map[at]*found{}, first: map[gocode.Pos]*found{}}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	known map[at]*found
	first map[gocode.Pos]*found
}

// at is a line, the function that it calls, and the line that calls the line's function.
type at struct {
	line, above gocode.Pos
	callee      string
}

// found is a call that each pass repeats for each element.
type found struct {
	call     *ast.CallExpr
	function string  // as in profiles
	calls    int     // on the line
	elements float64 // for which a pass calls it
	passes   float64
	where    string // the outer loop
}

// caller returns the frame of a row, nearest the root, whose line makes such a call.
func (s *search) caller(r *site.Row) int {
	for i := len(r.Stack) - 1; i > 0; i-- {
		f := r.Stack[i]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		key := at{line: gocode.Pos{File: f.File, Line: f.Line}, callee: r.Stack[i-1].Function}
		if i+1 < len(r.Stack) {
			key.above = gocode.Pos{File: r.Stack[i+1].File, Line: r.Stack[i+1].Line}
		}
		known, seen := s.known[key]
		if !seen {
			known = s.look(r, i)
			s.known[key] = known
			if known != nil && s.first[key.line] == nil {
				s.first[key.line] = known
			}
		}
		if known != nil {
			return i
		}
	}
	return -1
}

// look returns the call of the function below frame i of a row, if passes repeat it.
func (s *search) look(r *site.Row, i int) *found {
	f, below := r.Stack[i], r.Stack[i-1]
	p, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || p.Decl == nil || p.Func != ast.Node(p.Decl) {
		return nil
	}
	e, ok := evidence.Executions(s.pass, *f)
	if !ok || e.PerCall < leastElements {
		return nil
	}
	calls := syntax.CallsTo(p, below.Function)
	var first *found
	for _, call := range calls {
		in := inputsOf(p, call)
		if in == nil || len(in.over) == 0 {
			return nil
		}
		one := s.inside(p, f, in, call)
		if one == nil {
			one = s.above(p, r, i, in, e.PerCall)
		}
		if one == nil || one.elements < leastElements || one.passes < leastPasses {
			return nil
		}
		if first == nil {
			one.call, one.function, one.calls = call, below.Function, len(calls)
			first = one
		}
	}
	return first
}

func (s *search) judge(c *finder.Case) bool {
	f := s.first[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if f == nil {
		return false
	}
	spent, _ := stacks.Sum(c.CPU)
	each, ok := evidence.PerExecution(s.pass, c.Site.Frame, float64(spent)*1e-9/float64(f.calls))
	if !ok || each < leastCost {
		return false
	}
	fine, file := effects.PureBelow(c.CPU, func(r *site.Row) int {
		for i, x := range r.Stack {
			if x.File == c.Site.File && x.Line == c.Site.Line {
				return i
			}
		}
		return -1
	})
	if !fine || file {
		return false
	}
	c.Callees = []string{f.function}
	c.Confidence = rule.Likely
	again := 1 - 1/f.passes
	c.Fraction = &rule.Fraction{Expect: 0.9 * again, Low: 0.6 * again, High: again}
	name := symbol.Short(c.Place.CalleeName(f.call))
	c.Cause = fmt.Sprintf("%s depends on the element alone, but %s goes through the same %s elements %s times and computes it again in each pass: %s each.",
		syntax.Text(f.call), f.where, units.Count(int64(math.Round(f.elements))), units.Number(f.passes), units.Seconds(each))
	c.Fix = fmt.Sprintf("Go through the elements once and update what all passes compute, or hoist it: compute the results of %s once before that loop, into a slice, and read them in each pass.", name)
	return true
}
