// Package mapiteration finds loops over maps that are reached often while the map hardly changes.
package mapiteration

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastShare is the minimum share of the CPU that stepping through the map takes.
	leastShare = 0.03
	// leastSteps and mostSteps bound the mean number of iterations. A loop over many entries needs
	// an index, not a faster iteration.
	leastSteps = 2
	mostSteps  = 100
	// mostChanged is the most entries that may change, for each one that is visited.
	mostChanged = 0.1
)

// Rule is map-iteration.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "map-iteration",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Map iterated over again and again",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// The rows are the iterator's own: 5 to 15 ns for each entry and 20 to 50 ns for
				// each loop, where a slice takes less than 1.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.7, High: 1},
				Specificity: -1, // a rule that knows what the loop looks for knows better
			},
			Start: finder.Rows(stepping),
			Judge: judge,
		},
	}
}

const doc = `A loop over a map starts at a random place, skips empty slots, and
checks at each step whether the map has grown meanwhile: 5 to 15 ns for an
entry, and 20 to 50 ns before the first. In a slice the next element is an
addition away, and the processor fetches it ahead.

If the loop runs often and the map hardly changes, keep the entries in a slice
as well, which whoever changes the map replaces, and iterate over that. Of a map
that is only iterated over, keep the slice alone. Within another loop, collect
the entries before that, or exchange the loops: the map is then iterated over
once.

It is fine for a map that changes as often. The rule reports loops over at most
a hundred entries whose iterator alone takes 3 % of the CPU, if the outer loop
does not change the map, or if the execution counts show less than one change
for ten entries that are visited.

Seen in the field: beorn7/perks#3 (half the time), faiface/pixel#262 (from a
sixth of the CPU to a hundredth), siglens/siglens#2796 (6.7 s became 3.3 with
the loops exchanged), siglens/siglens#2797.`

// stepping selects the rows in which a line steps through a map.
func stepping(s *site.Site) rule.Match {
	return finder.TakeCalls(s, "runtime.mapIter*", "runtime.mapiter*", "internal/runtime/maps.(*Iter).*")
}

func judge(c *finder.Case) bool {
	loop := loopOver(c.Place)
	if loop == nil || !worth(c) {
		return false
	}
	l, ok := c.Pass.Counts.Loop(c.Site.Owner.Package, c.Site.File, c.Site.Line)
	if !ok || l.Iterations < leastSteps || l.Iterations > mostSteps {
		return false
	}
	m := syntax.Text(loop.X)
	switch outer := c.Place.LoopAround(loop); {
	case outer != nil && unchanged(c.Place, outer, loop.X):
		c.Cause = fmt.Sprintf("The loop steps through the map %s, %s entries each time, in every iteration of the loop on line %d, which does not change it.",
			m, units.Number(l.Iterations), syntax.Line(c.Place, outer.Pos()))
		c.Fix = fmt.Sprintf("Exchange the loops, or collect the entries of %s in a slice before the outer loop and iterate over that.", m)
	default:
		changed, ok := changedEntries(c.Pass, c.Place, loop.X, l)
		if !ok || changed > mostChanged*l.Iterations*l.Entries {
			return false
		}
		unit := c.Pass.Manifest.Unit()
		rarely := "and its entries do not change"
		if changed > 0 {
			rarely = fmt.Sprintf("and %s entries change", units.Number(changed))
		}
		c.Cause = fmt.Sprintf("The loop steps through the map %s, %s entries each time: it is reached %s per %s, %s.",
			m, units.Number(l.Iterations), evidence.Times(l.Entries), unit, rarely)
		c.Fix = fmt.Sprintf("Keep the entries of %s in a slice too, make a new one where the map changes, and iterate over the slice.", m)
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations each time the loop is reached", units.Number(l.Iterations)),
	})
	return true
}

// loopOver returns the loop over a map whose head is on the line; nil if there is none.
func loopOver(p *gocode.Place) *ast.RangeStmt {
	for _, n := range p.Nodes {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || syntax.Line(p, loop.Pos()) != p.Line {
			continue
		}
		if t := p.TypeOf(loop.X); t != nil {
			if _, ok := t.Underlying().(*types.Map); ok {
				return loop
			}
		}
	}
	return nil
}

// worth reports whether the iterator takes enough of the CPU.
func worth(c *finder.Case) bool {
	nanoseconds, _ := stacks.Sum(c.CPU)
	return float64(nanoseconds)*1e-9 >= leastShare*c.Pass.Table.Totals.TotalSeconds
}

// unchanged reports whether a loop does not change a map: a variable of the function or a field of
// one, which the loop neither assigns to nor passes to a call.
func unchanged(p *gocode.Place, loop ast.Node, m ast.Expr) bool {
	root, _ := syntax.Var(p, m)
	if !syntax.Local(p, root) || !loops.Invariant(p, loop, m) {
		return false
	}
	same := true
	ast.Inspect(loop, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return same
		}
		if name := p.CalleeName(call); name == "len" {
			return same
		}
		given := call.Args
		if recv := syntax.Receiver(call); recv != nil {
			given = append([]ast.Expr{recv}, given...)
		}
		for _, e := range given {
			if v, part := syntax.Var(p, e); v == root && (!part || syntax.Same(p, e, m)) {
				same = false
			}
		}
		return same
	})
	return same
}

// changedEntries returns how many entries of a field, a package variable or a variable of an
// enclosing function change for each unit of work, at most. It reports false where that is not
// known.
func changedEntries(p *rule.Pass, place *gocode.Place, m ast.Expr, l counts.Loop) (float64, bool) {
	v := syntax.Named(place, m)
	if v == nil || v.Pkg() != place.Pkg || v.IsField() && v.Exported() && place.Pkg.Name() != "main" {
		return 0, false
	}
	if !v.IsField() && v.Parent() != place.Pkg.Scope() {
		lit, ok := place.Func.(*ast.FuncLit)
		if !ok || syntax.Inside(lit, v.Pos()) {
			return 0, false
		}
	}
	c := changes{pass: p, place: place, of: v, entries: l.Iterations, known: true}
	for _, file := range place.Files() {
		ast.Inspect(file, c.visit)
	}
	return c.n, c.known
}
