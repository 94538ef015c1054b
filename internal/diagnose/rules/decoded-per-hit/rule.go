// Package decodedperhit finds bytes that a program keeps, as in a cache, and decodes again for each
// use.
package decodedperhit

import (
	"context"
	"fmt"
	"go/ast"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/codecs"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/kept"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastPerChange is the minimum number of times that bytes are decoded for each change.
	leastPerChange = 10
	// leastRuns is the minimum number of times in a program that runs and exits.
	leastRuns = 100
	// mostNew is the largest share of calls whose bytes were not decoded before.
	mostNew = 0.5
	// leastKnown is the minimum number of calls whose inputs were counted.
	leastKnown = 50
)

// Rule is decoded-per-hit.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "decoded-per-hit",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Uses:  []rule.Need{rule.NeedInputs},
		Title: "Kept bytes decoded again for each use",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Changes still decode.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 1, // how the bytes are decoded does not matter if it is done once
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A cache in memory keeps values as bytes, because the same interface serves a
remote cache, or so that callers cannot change what it keeps. Each hit decodes
them: reflection, a new struct, a string for each text. A lookup that takes 50 ns
then takes 50 µs, and is the largest source of garbage. The same holds for a
document that a field keeps as JSON, and that each request decodes.

Keep the decoded value in the cache, and treat it as immutable: a caller that
changes it copies it first. If the cache must keep bytes (for its size limit, or
to share it with other processes), put a small map of decoded values before it.

It is fine if most of the bytes are decoded once, or if callers change what they
get. The rule follows the bytes to the field or the package variable that keeps
them, and counts executions: it reports bytes that are decoded at least ten times
for each time that a line of the program changes what is kept.

Seen in the field: ray-project/kuberay#5208 (snapshots of sessions kept as JSON in
an LRU cache and decoded for each request), go-redis/cache#20.`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	if p.Benchmark() {
		return finder.Line{} // they use the same values again, whatever programs do
	}
	s := &search{pass: p, decoders: codecs.Decoders()}
	s.paths = finder.RememberPaths(deepest, s.follow)
	return finder.Line{Start: finder.Frames(s.frame), Judge: s.judge}
}

type search struct {
	pass     *rule.Pass
	decoders []string
	paths    *finder.Paths[found]
}

// found is a line that decodes kept bytes.
type found struct {
	decoder string
	bytes   string
	origin  *kept.Origin
	uses    float64 // for each unit of work
	changes float64
}

// frame returns the frame of the line that decodes kept bytes.
func (s *search) frame(r *site.Row) int {
	decoder := stacks.Outermost(r.Stack, s.decoders...)
	if decoder < 0 {
		return -1
	}
	return s.paths.From(r.Stack, decoder)
}

// deepest is the number of frames above a decoder that decide.
const deepest = 9

// follow returns the line of the main module that calls a decoder, and the index of its frame, if
// it decodes kept bytes that hardly change; else nil.
func (s *search) follow(stack []*site.Frame, decoder int) (*found, int) {
	i := decoder + 1 + slices.IndexFunc(stack[decoder+1:], func(f *site.Frame) bool { return f.Owner.Kind == gocode.Main })
	if i <= decoder || i > decoder+3 {
		return nil, 0
	}
	p, ok := s.pass.Syntax.At(stack[i].File, stack[i].Line)
	if !ok || p.Decl == nil {
		return nil, 0
	}
	call := loops.CallTo(p, stack[i-1].Function)
	if call == nil {
		return nil, 0
	}
	from := decoded(p, call)
	if from == nil {
		return nil, 0
	}
	origin, ok := kept.From(s.pass.Syntax, stack, i, p, from)
	if !ok {
		return nil, 0
	}
	ran, ok := evidence.ExecutionsAt(s.pass, p, call.Pos())
	if !ok || !evidence.Hot(s.pass, ran) || s.pass.Manifest.Unit() == "run" && ran.PerUnit < leastRuns {
		return nil, 0
	}
	f := &found{decoder: stack[decoder].Function, bytes: syntax.Text(unwrapped(p, from)), origin: origin, uses: ran.PerUnit}
	if f.changes, ok = origin.Changes(s.pass); !ok || f.uses < leastPerChange*f.changes {
		return nil, 0
	}
	return f, i
}

// decoded returns the bytes that a call decodes, or the reader from which it reads them.
func decoded(p *gocode.Place, call *ast.CallExpr) ast.Expr {
	switch len(call.Args) {
	case 0:
		return nil
	case 1: // of a decoder that reads them
		return syntax.Receiver(call)
	}
	for _, arg := range call.Args {
		if syntax.StringOrBytes(p.TypeOf(arg)) {
			return arg
		}
	}
	return nil
}

// unwrapped returns the bytes that a decoder or a reader was made of.
func unwrapped(p *gocode.Place, e ast.Expr) ast.Expr {
	for {
		call, ok := syntax.Origin(p, e).(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return e
		}
		e = call.Args[0]
	}
}

func (s *search) judge(c *finder.Case) bool {
	f := s.paths.At(&c.Site.Frame)
	if f == nil {
		return false
	}
	c.Confidence = rule.Likely
	in := s.pass.Inputs.Of(f.decoder)
	known := in != nil && in.Hashed >= leastKnown && in.DifferentTexts > 0
	if known && float64(in.DifferentTexts) > mostNew*float64(in.Texts) {
		return false
	}
	if f.origin.Built {
		c.Confidence = rule.Hint
	}
	from, unit := f.origin.Names(), s.pass.Manifest.Unit()
	changed := "which did not change while executions were counted"
	if f.changes > 0 {
		changed = fmt.Sprintf("which changes once for %s uses", units.Number(f.uses/f.changes))
	}
	name := symbol.Short(funcname.Typed(f.decoder))
	c.Cause = fmt.Sprintf("%s decodes %s again %s per %s. They are bytes that %s keeps, %s, so each use makes a new copy of the same value.", name, f.bytes, evidence.Times(f.uses), unit, from, changed)
	if known {
		c.Cause += fmt.Sprintf(" In %s calls it got %s different texts.", units.Count(in.Texts), units.Count(in.DifferentTexts))
	}
	c.Fix = fmt.Sprintf("Keep the decoded value in %s in place of the bytes, or beside them, and decode where that is set. Callers share it then, and must copy it before they change it.", from)
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("decoded %s times and changed %s times per %s", units.Number(f.uses), units.Number(f.changes), unit),
	})
	return true
}
