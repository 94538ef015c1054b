// Package chainrewalked finds loops over the links of a chain that walk the rest of the chain again
// for each link.
package chainrewalked

import (
	"context"
	"fmt"
	"go/ast"
	"path/filepath"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	// leastLinks is the minimum mean number of links that the loop visits.
	leastLinks = 5
	// leastRest is the minimum mean number of links that the called function visits.
	leastRest = 2
	// levels is how many functions below the called one may walk the rest.
	levels = 2
)

// Rule is chain-rewalked.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "chain-rewalked",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Rest of a chain walked again for each of its links",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.7, Low: 0.3, High: 1}, // each match overrides it
				Specificity: 3,                                             // it says why the calls take long
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop walks a chain, such as the causes of an error, the parents of
a node or the items of a linked list. For each link it calls a function that
walks the rest of the chain again: to build the path of a node, the text of an
error with all its causes, or the number of links that are left. A chain of n
links takes n²/2 steps. A loop over the positions of a linked list that asks for
each element by its number is the same: each time, the list is walked from its
start. A test with three links does not show it; thirty links are slow.

Do the work in one walk: compute the part of each link alone and add it to a
result, or go from the last link to the first and extend what was computed for
the rest. Step through a list in the loop itself, or keep its elements in a slice
if they are asked for by number. If the result is only compared, first compare
what is cheap, such as types or names of single links, and compute the rest for
those that are equal.

It is fine for chains of a few links. The rule reports loops with at least five
iterations each time that they are reached, as counted in the recording, and
counts only the work inside of the second walk. The rest of the calls is part of
what may be saved at most.

Seen in the field: cockroachdb/errors#153 (for each cause of an error, the text
and the types of all causes below it).`

// walk is a call in a loop over a chain that walks the rest of the chain again.
type walk struct {
	place    *gocode.Place // of the call
	call     *ast.CallExpr
	loop     ast.Node
	callee   string // as profiles name it
	name     string // of the callee
	links    float64
	rest     int // line of the second walk
	from, to int // its lines
	file     string
	by       string // the function that has it; "" for the callee
	position bool   // the chain is walked from its start to a position that the loop passes
}

type search struct {
	pass  *rule.Pass
	edges *finder.Edges[walk]
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.edges = finder.RememberEdges(s.look)
	judge := func(c *finder.Case) bool {
		w := s.edges.From(&c.Site.Frame)
		if w != nil {
			w.describe(c)
			// What the calls do for the link that they are called for goes too, if the fix compares
			// something cheap before.
			c.Uncertain.CPU, c.Uncertain.Allocs = finder.Passing(p, c.Site, func(r *site.Row) bool { return s.caller(r) < 0 }, w.callee)
		}
		return w != nil
	}
	return finder.Line{Start: finder.Frames(s.caller), Judge: judge}
}

// caller returns the frame of a row that calls such a function, if the row is work of the second
// walk; -1 for others.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f, below := r.Stack[i], r.Stack[i-1]
		if !ours(f) || !ours(below) || f.Function == below.Function {
			continue
		}
		if w := s.edges.At(f, below); w != nil && (w.within(r.Stack[:i]) || recurs(r.Stack[:i])) {
			return i
		}
	}
	return -1
}

// within reports whether a stack has a line of the second walk.
func (w *walk) within(stack []*site.Frame) bool {
	return slices.ContainsFunc(stack, func(f *site.Frame) bool {
		return ours(f) && w.from <= f.Line && f.Line <= w.to && filepath.Base(f.File) == w.file
	})
}

func ours(f *site.Frame) bool {
	return f.Owner.Kind == gocode.Main || f.Owner.Kind == gocode.Dependency
}

// recurs reports whether a function of the program or of a dependency calls itself in a stack, as
// one does that follows a chain.
func recurs(stack []*site.Frame) bool {
	seen := map[string]bool{}
	for _, f := range stack {
		if ours(f) && seen[f.Function] {
			return true
		}
		seen[f.Function] = true
	}
	return false
}

// look returns the call on a line of a function, if a loop makes it for each link of a chain and
// the function walks the rest.
func (s *search) look(f, below *site.Frame) *walk {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok {
		return nil
	}
	callee, ok := s.pass.Syntax.At(below.File, below.Line)
	if !ok || callee.Decl == nil || callee.Func != ast.Node(callee.Decl) {
		return nil
	}
	for _, call := range syntax.CallsTo(place, below.Function) {
		for _, loop := range loops.Around(place, call) {
			rest := s.restAfter(place, call, loop, callee)
			if rest.walk == nil {
				continue
			}
			l, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, loop.Pos()))
			if !ok || l.Iterations < leastLinks || s.short(rest) {
				continue
			}
			w := &walk{place: place, call: call, loop: loop, callee: below.Function, name: syntax.FuncName(callee), links: l.Iterations, position: rest.position}
			w.from, w.to = syntax.Line(rest.place, rest.walk.Pos()), syntax.Line(rest.place, rest.walk.End())
			w.rest, w.file = w.from, filepath.Base(rest.place.Fset.Position(rest.walk.Pos()).Filename)
			if rest.place.Decl != callee.Decl {
				w.by = syntax.FuncName(rest.place)
			}
			return w
		}
	}
	return nil
}

// restAfter returns the walk that a call in a loop makes: over the rest of the chain whose links
// the loop visits, or from the start of a list to the position that the loop has reached.
func (s *search) restAfter(place *gocode.Place, call *ast.CallExpr, loop ast.Node, callee *gocode.Place) remainder {
	if chain, ok := stepsIn(place, loop); ok {
		return restIn(callee, parameter(callee, index(place, call, chain)), chain, levels)
	}
	return positioned(place, call, loop, callee)
}

// short reports whether the second walk visits too few links, or if that is not known. A function
// that remembers what it found for a link seldom calls itself.
func (s *search) short(r remainder) bool {
	calls, known := evidence.ReachedAt(s.pass, r.place, r.place.Decl.Body.List[0].Pos())
	at := r.walk.Pos()
	body := loops.Body(r.walk)
	if body != nil && len(body.List) > 0 {
		at = body.List[0].Pos()
	} else if body != nil {
		at = body.Lbrace
	}
	each, ok := evidence.ReachedAt(s.pass, r.place, at)
	if body == nil {
		calls -= each // those from outside
	}
	return !ok || !known || each < leastRest*calls
}

func (w *walk) describe(c *finder.Case) {
	n, does := w.links, fmt.Sprintf("%s walks", w.name)
	if w.by != "" {
		does = fmt.Sprintf("%s calls %s, which walks", w.name, w.by)
	}
	if w.position {
		c.Cause = fmt.Sprintf("The loop on line %d calls %s for each position of a list, %s on average, and %s the list from its start to that position on line %d: its work grows with the square of the length.",
			syntax.Line(w.place, w.loop.Pos()), w.name, units.Number(n), does, w.rest)
		c.Fix = fmt.Sprintf("Go through the list once: step from one element to the next in the loop itself, or give the list an iterator. If positions come in any order, keep the elements in a slice instead of %s.", w.name)
	} else {
		c.Cause = fmt.Sprintf("The loop on line %d calls %s for each link of a chain, %s on average, and %s the rest of the chain again on line %d: its work grows with the square of the number of links.",
			syntax.Line(w.place, w.loop.Pos()), w.name, units.Number(n), does, w.rest)
		c.Fix = fmt.Sprintf("Walk the chain once: compute the part of each link alone, or start at the last link and extend the result for the rest. If what %s returns is only compared, compare cheap parts of single links first, and call it for those that are equal.",
			symbol.Short(c.Place.CalleeName(w.call)))
	}
	most := 1 - 2/(n+1) // n steps of n(n+1)/2 are left
	c.Fraction = &rule.Fraction{Expect: 0.8 * most, Low: 0.4 * most, High: 1}
	c.Confidence, c.Callees = rule.Likely, []string{w.callee}
}
