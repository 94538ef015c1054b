// Package windowperstep finds windows over a list that are added up from their start for each
// position.
package windowperstep

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// least is the minimum mean number of elements of a window: a running sum takes two additions,
	// and a queue for a maximum about ten steps.
	least = 32
	// leastSteps is the minimum mean number of windows of a loop.
	leastSteps = 8
	// levels is how many callers away the loop over the positions may be.
	levels = 5
)

// Rule is window-per-step.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "window-per-step",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Each window added up from its start",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Two additions replace those of at least 32 elements.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 2, // it says why the loop runs so often
			},
			Prepare: prepare,
		},
	}
}

const doc = `A moving average, a rate over the last minute or the largest of the last k
values is computed for each position of a list by going through the whole window
again, in a loop or in a function that gets it, such as slices.Max, or each
element is given to an object that adds it to its sums. Two windows
next to each other have all elements but two in common, so for n positions and
windows of k elements that is n*k steps. A window may also be all that happened
within a span of time. A sum of all elements before each position is the same
with a window that grows: n²/2 steps.

Keep a running sum: add the element that enters, subtract the one that leaves. Or
compute prefix sums once: a window is the difference of two of them. For a
minimum or maximum keep a queue of candidates: drop those at its end that a new
element beats, and those at its front that have left. For a prefix, keep the
result of the last position. Floating-point sums collect rounding errors: start
again from time to time.

It is fine for short windows. The rule reports windows of at least 32 elements,
as counted in the recording, that move by one position. It leaves alone windows
that do not overlap, weights that depend on the place in the window (a filter),
and values that need the window's own mean.

Seen in the field: sdcoffey/techan (its moving averages add up each window),
markusressel/fan2go#10 (all values of a sensor added up for each average).`

func prepare(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	s := &search{pass: p}
	s.lines = finder.Remember(p, func(f *site.Frame, place *gocode.Place) *window { return s.windowAt(f, place) })
	s.parts = finder.Remember(p, func(f *site.Frame, place *gocode.Place) *window { return s.partAt(f, place) })
	return []finder.Line{
		{Start: finder.Frames(s.window), Judge: s.judge},
		{Start: finder.Frames(s.passedAt), Judge: s.judgePassed},
	}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[window] // loops through a window
	parts *finder.Lines[window] // calls that get one
}

// windowAt returns the window that a line goes through, if it is long; nil for none.
func (s *search) windowAt(f *site.Frame, p *gocode.Place) *window {
	for loop := loops.At(p); loop != nil; loop = p.LoopAround(loop) {
		w := windowOf(p, loop)
		if w == nil {
			continue
		}
		if !w.long(s.pass, f, p, loop) || !s.many(f, p, w) {
			return nil
		}
		return w
	}
	return nil
}

// long reports whether a loop goes through many elements, as counted.
func (w *window) long(pass *rule.Pass, f *site.Frame, p *gocode.Place, loop ast.Stmt) bool {
	l, ok := pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
	w.iterations = l.Iterations
	return ok && l.Iterations >= least
}

// many reports whether the loop over the positions has many of them, or is in a caller.
func (s *search) many(f *site.Frame, p *gocode.Place, w *window) bool {
	if w.steps == nil {
		return true
	}
	over, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, w.steps.Pos()))
	return ok && over.Iterations >= leastSteps
}

func (s *search) judge(c *finder.Case) bool {
	w := s.lines.At(&c.Site.Frame)
	return w != nil && s.positions(c, w)
}

// positions completes a window whose positions a loop steps through.
func (s *search) positions(c *finder.Case, w *window) bool {
	from := ""
	if w.steps != nil {
		from = fmt.Sprintf("for each position of the loop on line %d", syntax.Line(c.Place, w.steps.Pos()))
	} else if from = s.called(c, w); from == "" {
		return false
	}
	w.describe(c, from)
	return true
}

// called describes the loop of a caller that passes one position after the other, itself or through
// functions that pass it on; "" for none.
func (s *search) called(c *finder.Case, w *window) string {
	for _, r := range c.CPU {
		for i, f := range r.Stack {
			if f.File != c.Site.File || f.Line != c.Site.Line {
				continue
			}
			if p, loop := s.passing(r.Stack, i, c.Place, w.step); loop != nil {
				return fmt.Sprintf("for each %s that the loop on %s passes", w.step.Name(), syntax.Where(p, loop.Pos()))
			}
			break
		}
	}
	return ""
}

// passing returns the loop of a caller of the frame i of a stack that passes its own position for a
// parameter; nil for none.
func (s *search) passing(stack []*site.Frame, i int, p *gocode.Place, param *types.Var) (*gocode.Place, ast.Stmt) {
	for j := i + 1; j < len(stack) && j <= i+levels && param != nil; j++ {
		at := syntax.ParamIndex(syntax.SignatureOf(p), param)
		from, ok := s.pass.Syntax.At(stack[j].File, stack[j].Line)
		if !ok || at < 0 {
			return nil, nil
		}
		call := loops.CallTo(from, stack[j-1].Function)
		if call == nil || at >= len(call.Args) {
			return nil, nil
		}
		if loop := from.LoopAround(call); loop != nil {
			m := &mover{p: from, loop: loop, steps: loop, step: position(from, loop)}
			if moves, ok := m.moves(call.Args[at]); m.step != nil && moves && ok {
				return from, loop
			}
			return nil, nil
		}
		p, param = from, parameter(from, call.Args[at])
	}
	return nil, nil
}

func (w *window) describe(c *finder.Case, from string) {
	what, result, of := "", "the result of "+w.call, "all elements"
	if w.iterations > 0 {
		of = units.Number(w.iterations) + " elements"
	}
	if w.loop != nil {
		what, result = fmt.Sprintf("The loop on line %d", syntax.Line(c.Place, w.loop.Pos())), w.result.Name()
		from += ", to compute " + result
	} else {
		what, of = w.call, of+" of "+w.list
	}
	c.Cause = fmt.Sprintf("%s goes through %s %s: all but one or two of them were in the window before.", what, of, from)
	switch {
	case w.prefix:
		side, mean := "up to", ""
		if w.suffix {
			side = "from"
		}
		if w.iterations > 0 {
			mean = fmt.Sprintf(" (%s on average)", units.Number(w.iterations))
		}
		c.Cause = fmt.Sprintf("%s goes through all elements %s the position%s %s: n positions take n²/2 steps.", what, side, mean, from)
		c.Fix = fmt.Sprintf("Keep %s from one position to the next, and add the new element to it; for positions in any order compute prefix sums once.", result)
	case w.extreme:
		c.Fix = fmt.Sprintf("Keep a queue of the positions that can still become %s: drop those at its end that the new element beats, and those at its front that have left the window.", result)
	default:
		c.Fix = fmt.Sprintf("Keep %s from one position to the next: add the element that enters the window, subtract the one that leaves. Or compute prefix sums once, and subtract two of them.", result)
	}
	if w.object && !w.prefix {
		c.Fix += fmt.Sprintf(" For that, give the type of %s a method that removes an element.", result)
	}
	if w.span != nil {
		c.Fix += fmt.Sprintf(" Keep the other end of the window too, and move it while %s does not hold: if the elements are in that order, it only moves forward.", syntax.Text(w.span))
		if w.breaks {
			c.Fix = strings.Replace(c.Fix, "does not hold", "holds", 1)
		}
	}
	c.Confidence = rule.Likely // an operation may have no inverse
	if w.iterations > 0 {
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s elements for each window", units.Number(w.iterations))})
	}
}
