// Package byteloop finds loops over single bytes or elements where one call handles many at a time.
package byteloop

import (
	"context"
	"fmt"
	"go/ast"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// least is the minimum mean number of iterations. A call costs about as much as four; from
	// there on it handles 16 and more at a time.
	least = 64
	// mostHits is the largest share of the bytes that is found: each one ends a call and starts the
	// next.
	mostHits = 1.0 / 32
)

// Rule is byte-loop.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "byte-loop",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Loop over single bytes where one call handles many at a time",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The loop takes 0.3 to 0.6 ns for a byte; the calls 0.03 and a few nanoseconds.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 0.99},
				Specificity: 2,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop that looks for a line break, counts a byte, compares two texts or copies
elements one after the other takes about half a nanosecond for each. The
compiler does not vectorize such loops. bytes.IndexByte and Count, the comparison
of strings, bytes.Equal, copy and append of a whole slice are written in assembly:
they handle 16 to 64 bytes at a time, and are ten times faster.

Use the call. To find all places, go from one to the next with IndexByte on the
rest of the text.

It is fine for short texts, and where every few bytes are found: each call costs
some nanoseconds. The rule reports loops that do nothing else and have 64
iterations and more on average, as counted, and find at most one byte in 32.
It leaves alone loops that look for several different bytes.

Seen in the field: jeduden/mdsmith#642 (5 % of a run in a loop for line breaks),
200sc/bebop#36, shraddhaag/1brc#4.`

// found is a loop and how often it ran.
type found struct {
	shape
	head       int // its line
	iterations float64
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *found { return loopAt(p, f, place) })
	leaf := func(r *site.Row) int { // such a loop calls nothing
		i := lines.Nearest(r)
		if i > 0 && !strings.HasPrefix(r.Stack[i-1].Function, "runtime.asyncPreempt") {
			return -1
		}
		return i
	}
	return finder.Line{Start: finder.Frames(leaf), Judge: func(c *finder.Case) bool {
		f := lines.At(&c.Site.Frame)
		if f == nil || len(c.CPU) == 0 {
			return false
		}
		c.Allocs, c.Live = nil, nil
		f.describe(c)
		return true
	}}
}

// loopAt returns the loop that a line is part of; nil if there is none that one call could replace.
func loopAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *found {
	var loop ast.Stmt
	for _, n := range place.Nodes { // outermost first
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if s := n.(ast.Stmt); !place.Drives(s) {
				loop = s
			}
		}
	}
	if loop == nil {
		return nil
	}
	sh, ok := shapeOf(place, loop)
	if !ok || f.Line > sh.until {
		return nil
	}
	s := &found{shape: sh, head: syntax.Line(place, loop.Pos())}
	l, ok := p.Counts.Loop(f.Owner.Package, f.File, s.head)
	if !ok || l.Iterations < least {
		return nil
	}
	s.iterations = l.Iterations
	if sh.hit != nil {
		hits, ok := p.Counts.Line(f.Owner.Package, f.File, syntax.Line(place, sh.hit.Pos()))
		if !ok || hits.PerUnit > mostHits*l.Iterations*l.Entries {
			return nil
		}
	}
	return s
}

func (f *found) describe(c *finder.Case) {
	c.Confidence = rule.Measured
	c.Cause = fmt.Sprintf("The loop on line %d %s one after the other, %s each time it is reached.", f.head, f.does, units.Number(f.iterations))
	c.Fix = f.instead
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations each time the loop is reached", units.Number(f.iterations)),
	})
}
