// Package copiedperpiece finds functions that return a new slice with all of a long one and a short
// one, called so often that a text built with them is copied for each of its pieces.
package copiedperpiece

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	leastLong  = 128 // elements of the longer operand, on average
	leastRatio = 8   // of the lengths
	leastCalls = 100 // for each unit of work
	// leastFed is the share of the calls that must get a result of an earlier call as the long
	// operand. A prefix that is put before each of many texts does not grow.
	leastFed = 0.5
)

// Rule is copied-per-piece.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "copied-per-piece",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts, rule.NeedInputs},
		Title: "Whole text or list copied for each piece that is added",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// With a buffer that grows, or one join, each element is copied once or twice.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.5, High: 0.98},
				Specificity: 3, // after byte-loop, which would only make the copies faster
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function returns a new slice with all elements of its two operands, as the
operator + of an interpreter does for texts. A caller that builds a text from many
pieces passes the last result each time, so that n pieces cost n²/2 copied
elements, and as much garbage. A benchmark of two short operands does not show it.

Keep the operands in a tree (a rope) and join them once, when the text is read; or
collect the pieces in a slice or a buffer that grows and that nobody else reads.

It is fine for short texts, and for operands that are about equally long. The rule
reports functions that copy both operands into a slice of the sum of their
lengths, or return a + b, slices.Concat(a, b) or append to a copy, at least 100
times per request or operation, where one operand has at least 128 elements on
average and eight times as many as the other. In half of the calls, an earlier
call must have returned that operand, as counted or as in x = x.plus(y).

Seen in the field: google/go-jsonnet#259 (texts built with + copied rune by rune).`

// found is such a function.
type found struct {
	*shape
	name        string
	long, short length
	calls       float64 // for each unit of work
	fold        *fold   // the statement that passes the last result; nil if results were seen again
}

// length is one of the operands and its mean length.
type length struct {
	operand
	n float64
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.lines = finder.Remember(p, s.at)
	return finder.Line{Start: finder.Frames(s.lines.Nearest), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[found]
}

func (s *search) at(f *site.Frame, place *gocode.Place) *found {
	sh := shapeOf(place)
	if sh == nil {
		sh = joinOf(place)
	}
	if sh == nil || f.Line < sh.from || f.Line > sh.until {
		return nil
	}
	e, ok := evidence.ExecutionsAt(s.pass, place, sh.made.Pos())
	if !ok || e.PerUnit < leastCalls {
		return nil
	}
	return &found{shape: sh, name: f.Function, calls: e.PerUnit}
}

func (s *search) judge(c *finder.Case) bool {
	f := s.lines.At(&c.Site.Frame)
	if f == nil || !s.known(f, c) && !s.folded(f, c) {
		return false
	}
	f.describe(c)
	return true
}

// known completes a function whose two lengths were counted, and whose results were seen again as
// its long operand.
func (s *search) known(f *found, c *finder.Case) bool {
	a, b := f.length(s.pass, &c.Site.Frame, c.Place, 0), f.length(s.pass, &c.Site.Frame, c.Place, 1)
	if a.n < b.n {
		a, b = b, a
	}
	f.long, f.short = a, b
	return a.n >= leastLong && b.n > 0 && a.n >= leastRatio*b.n && fed(s.pass, f.name, c.Place, a) >= leastFed
}

// folded completes a function whose callers replace one operand by the result. The mean length is
// that of the allocated memory.
func (s *search) folded(f *found, c *finder.Case) bool {
	if !f.joins {
		return false
	}
	var of *fold
	var all, with int64
	for _, r := range c.Allocs {
		all += r.Value
		i := slices.IndexFunc(r.Stack, func(x *site.Frame) bool { return *x == c.Site.Frame })
		if found := s.foldAt(f.shape, c.Place, r.Stack, i); found != nil {
			of, with = found, with+r.Value
		}
	}
	bytes, ok := evidence.PerExecution(s.pass, c.Site.Frame, float64(all))
	if of == nil || !ok || float64(with) < leastFed*float64(all) {
		return false
	}
	f.fold = of
	f.short = f.length(s.pass, &c.Site.Frame, c.Place, 1-of.operand)
	f.long = length{operand: f.operands[of.operand], n: bytes/elementSize(c.Place, f.operands[of.operand].of) - f.short.n}
	if f.short.n == 0 && of.pieces < leastPieces {
		return false
	}
	return f.long.n >= leastLong && f.long.n >= leastRatio*f.short.n
}

// elementSize returns the size of the elements of a text or slice.
func elementSize(p *gocode.Place, e ast.Expr) float64 {
	s, ok := p.TypeOf(e).Underlying().(*types.Slice)
	if !ok {
		return 1
	}
	return max(1, float64(syntax.Sizes().Sizeof(s.Elem())))
}

// length returns an operand with its mean length: the iterations of the loop that copies it or, for
// a parameter, the lengths that were seen; 0 if both are unknown.
func (sh *shape) length(p *rule.Pass, f *site.Frame, place *gocode.Place, i int) length {
	o := sh.operands[i]
	if o.loop != nil {
		if l, ok := p.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, o.loop.Pos())); ok {
			return length{operand: o, n: l.Iterations}
		}
	}
	in := p.Inputs.Of(f.Function)
	at := syntax.ParamIndex(syntax.SignatureOf(place), o.param)
	if syntax.LocalVar(place, o.of) == o.param && in != nil && at >= 0 && at < len(in.Given) {
		return length{operand: o, n: in.Given[at].Mean()}
	}
	return length{operand: o}
}

// fed returns the share of the calls whose long operand an earlier call had returned. Where calls
// have thousands of inputs, the results of a part of them are known.
func fed(p *rule.Pass, function string, place *gocode.Place, long length) float64 {
	in := p.Inputs.Of(function)
	at := syntax.ParamIndex(syntax.SignatureOf(place), long.param)
	if in == nil || at < 0 || at >= len(in.Given) || len(in.Returned) == 0 {
		return 0
	}
	known := min(in.Given[at].Seen, in.Returned[0].Seen)
	if known < leastCalls {
		return 0
	}
	return min(1, float64(in.Given[at].Fed)/float64(known))
}

func (f *found) describe(c *finder.Case) {
	name := symbol.Short(funcname.Typed(f.name))
	long, short := syntax.Text(f.long.of), syntax.Text(f.short.of)
	piece, counted := short, ""
	if f.short.n > 0 {
		piece = fmt.Sprintf("%s of %s", units.Number(f.short.n), short)
		counted = " and " + piece
	}
	source := fmt.Sprintf("In most calls, as far as results are known, %s is what an earlier call returned", f.long.param.Name())
	if f.fold != nil {
		source = fmt.Sprintf("Most calls are at %s, where %s is what an earlier call returned", f.fold.where, f.long.param.Name())
	}
	c.Cause = fmt.Sprintf("%s copies all of %s, %s elements on average, to add %s, %s times per %s. %s: the whole is copied again for each piece, so the cost grows with the square of the length.",
		name, long, units.Number(f.long.n), piece, units.Number(f.calls), c.Pass.Manifest.Unit(), source)
	c.Fix = fmt.Sprintf("Let %s keep its two operands in a tree (a rope), and join them once when the whole is read; or collect the pieces in the caller, and join them once at the end (strings.Builder, append to one slice).", name)
	c.Live = nil
	c.Confidence = rule.Likely // how many is an estimate
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s elements of %s%s in each call", units.Number(f.long.n), long, counted),
	})
}
