// Package windowperstep finds windows over a list that are added up from their start for each
// position.
package windowperstep

import (
	"fmt"
	"go/ast"
	"go/types"

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
again. Two windows next to each other have all elements but two in common, so for
n positions and windows of k elements that is n*k steps. A sum of all elements
before each position is the same with a window that grows: n²/2 steps.

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
	if p.Counts == nil || p.Syntax == nil {
		return nil
	}
	s := &search{pass: p}
	s.lines = finder.Remember(p, func(f *site.Frame, place *gocode.Place) *window { return s.windowAt(f, place) })
	return []finder.Line{{Start: finder.Frames(s.lines.Nearest), Judge: s.judge}}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[window]
}

// windowAt returns the window that a line goes through, if it is long; nil for none.
func (s *search) windowAt(f *site.Frame, p *gocode.Place) *window {
	for loop := p.Loop(); loop != nil; loop = p.LoopAround(loop) {
		w := windowOf(p, loop)
		if w == nil {
			continue
		}
		var ok bool
		w.counted, ok = s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
		if !ok || w.counted.Iterations < least {
			return nil
		}
		if w.steps == nil {
			return w
		}
		over, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, w.steps.Pos()))
		if !ok || over.Iterations < leastSteps {
			return nil
		}
		return w
	}
	return nil
}

func (s *search) judge(c *finder.Case) bool {
	w := s.lines.At(&c.Site.Frame)
	if w == nil {
		return false
	}
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
	n := units.Number(w.counted.Iterations)
	c.Cause = fmt.Sprintf("The loop on line %d goes through %s elements %s, to compute %s: all but one or two of them were in the window before.",
		syntax.Line(c.Place, w.loop.Pos()), n, from, w.result.Name())
	switch {
	case w.prefix:
		c.Cause = fmt.Sprintf("The loop on line %d goes through all elements up to the position %s, %s on average, to compute %s: n positions take n²/2 steps.",
			syntax.Line(c.Place, w.loop.Pos()), from, n, w.result.Name())
		c.Fix = fmt.Sprintf("Keep %s from one position to the next, and add the new element to it; for positions in any order compute prefix sums once.", w.result.Name())
	case w.extreme:
		c.Fix = fmt.Sprintf("Keep a queue of the positions that can still become %s: drop those at its end that the new element beats, and those at its front that have left the window.", w.result.Name())
	default:
		c.Fix = fmt.Sprintf("Keep %s from one position to the next: add the element that enters the window, subtract the one that leaves. Or compute prefix sums once, and subtract two of them.", w.result.Name())
	}
	c.Confidence = rule.Likely // an operation may have no inverse
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s elements for each window", n)})
}
