// Package functionofbyte finds costly functions of numbers that a table of their results replaces.
package functionofbyte

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is function-of-byte.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "function-of-byte",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedInputs},
		Title: "Costly function of a byte computed instead of read from a table",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// An element of a table of 2 KiB takes one or two nanoseconds.
				Fraction:    rule.Fraction{Expect: 0.92, Low: 0.75, High: 0.98},
				Specificity: 1,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A color channel, a sample of sound or a byte of a file has 256 values (65,536
with 16 bits). A function of it alone has as many results at most: the linear
light of an sRGB channel, a gamma correction, a logarithm. math.Pow, math.Exp
and their like take 10 to 60 ns; an element of a table takes one or two.

Compute all results once, into an array that is a package variable, and index it
with the byte: [256]float64 has 2 KiB. Where the function has another parameter
that stays the same, such as the gamma of one image, fill the table before the
loop.

It is fine for a few values. The rule reports functions of package math and
functions of numbers without side effects, whose arguments are computed from one
value of at most 16 bits, from constants and from what the loops around them do
not change, and which run thousands of times and take at least 10 ns a call, as
counted and measured (20 ns for 16 bits, where the table has 512 KiB).

Seen in the field: bbrks/go-blurhash#6 (three math.Pow for each pixel and
component of a photo: two thirds of the time).`

const (
	leastRuns = 1000  // of a line, per unit of work or per call of its function
	leastCost = 10e-9 // seconds per call; reading an element takes one or two nanoseconds
	// A table of 65,536 results is not in the L1 cache, and pays only after many calls.
	leastRunsWide = 4 << 16
	leastCostWide = 20e-9
)

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, pure: map[*types.Func]bool{}}
	s.edges = finder.RememberEdges(s.look)
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	edges *finder.Edges[found]
	pure  map[*types.Func]bool
}

// found is a call that a table replaces.
type found struct {
	function string // as in profiles
	call     *ast.CallExpr
	input
	calls int // of the function on the line
	runs  float64
}

// caller returns the frame of a row, nearest the leaf, whose line makes such a call.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f := r.Stack[i]
		if k := f.Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && s.edges.At(f, r.Stack[i-1]) != nil {
			return i
		}
	}
	return -1
}

// look returns the calls of a function on a line, if a table replaces all of them.
func (s *search) look(f, below *site.Frame) *found {
	p, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok {
		return nil
	}
	e, ok := evidence.Executions(s.pass, *f)
	runs := max(e.PerUnit, e.PerCall)
	if !ok || runs < leastRuns {
		return nil
	}
	calls := syntax.CallsTo(p, below.Function)
	var first *found
	for _, call := range calls {
		in, ok := inputOf(p.Outer(), call)
		if !ok || in.bits == 0 || in.bits > 8 && runs < leastRunsWide || in.given && e.PerCall < leastRuns || !s.computes(p, call) {
			return nil
		}
		if first == nil {
			first = &found{function: below.Function, call: call, input: in, calls: len(calls), runs: e.PerUnit}
		}
		first.bits, first.given = max(first.bits, in.bits), first.given || in.given
	}
	return first
}

// computes reports whether a call computes numbers from numbers and does nothing else.
func (s *search) computes(p *gocode.Place, call *ast.CallExpr) bool {
	fn := p.Callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Signature().Recv() != nil || fn.Signature().Results().Len() == 0 {
		return false
	}
	for v := range fn.Signature().Results().Variables() {
		if t, ok := v.Type().Underlying().(*types.Basic); !ok || t.Info()&types.IsNumeric == 0 {
			return false
		}
	}
	if fn.Pkg().Path() == "math" {
		return true
	}
	pure, seen := s.pure[fn]
	if !seen {
		in, ok := s.pass.Syntax.Declared(fn)
		pure = ok && effects.Pure(in)
		s.pure[fn] = pure
	}
	return pure
}

func (s *search) judge(c *finder.Case) bool {
	f := s.edges.From(&c.Site.Frame)
	if f == nil {
		return false
	}
	spent, _ := stacks.Sum(c.CPU)
	each, ok := evidence.PerExecution(s.pass, c.Site.Frame, float64(spent)*1e-9/float64(f.calls))
	if !ok || each < leastCost || f.bits > 8 && each < leastCostWide {
		return false
	}
	c.Callees = []string{f.function}
	c.Confidence = rule.Measured
	name, values := syntax.Text(f.call.Fun), 1<<f.bits
	c.Cause = fmt.Sprintf("%s is a function of %s alone, which has %s values at most, but computes each result again, %s per %s: %s each.",
		syntax.Text(f.call), f.text, units.Count(int64(values)), evidence.Times(f.runs*float64(f.calls)), s.pass.Manifest.Unit(), units.Seconds(each))
	if seen := evidence.InputsSeen(s.pass, f.function); seen != "" {
		c.Cause += fmt.Sprintf(" %s %s.", symbol.Short(funcname.Typed(f.function)), seen)
	}
	result := types.TypeString(f.result(c.Place), nil)
	c.Fix = fmt.Sprintf("Compute the %s results of %s once, in a table (a package variable of type [%d]%s), and index it with %s.",
		units.Count(int64(values)), name, values, result, f.text)
	if f.given {
		c.Confidence = rule.Likely
		c.Fix = fmt.Sprintf("Fill a table, a [%d]%s, with the %s results of %s before the loop, and index it with %s.",
			values, result, units.Count(int64(values)), name, f.text)
	}
	return true
}

// result returns the type of a call's first result.
func (f *found) result(p *gocode.Place) types.Type {
	return p.Callee(f.call).Signature().Results().At(0).Type()
}
