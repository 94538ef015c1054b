// Package walkperroot finds graphs that are walked again for each of many of their nodes.
package walkperroot

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastRoots is the minimum mean number of walks each time the loop over the roots is reached.
	leastRoots = 8
	// leastNodes is the minimum mean number of nodes that a walk visits.
	leastNodes = 16
	// leastVisits is the minimum mean number of walks that visit a node.
	leastVisits = 4
	// levels is how many callers away from the start of the walk the loop over the roots may be.
	levels = 1
)

// Rule is walk-per-root.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "walk-per-root",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Graph walked again from each of many nodes",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				Fraction:    rule.Fraction{Expect: 0.7, Low: 0.3, High: 1}, // each match overrides it
				Specificity: 3,                                             // it says why there are so many steps
			},
			Prepare: prepare,
		},
	}
}

const doc = `For each of many nodes, a function walks everything that can be
reached from it: all dependencies of each package, all callees of each function,
all roles of each user. Each walk starts with an empty set of what it has seen, so
it goes again through what the walks before have found. What two roots have in
common, which is most of a connected graph, is visited once for each of them: n
nodes and n roots are n² steps.

What can be reached from a node does not depend on the root, so compute it once
for each node and share it. In a graph without cycles, keep the result of a node
when the walk leaves it. With cycles that is wrong, because a node that is still
in progress has no result yet: first group the nodes that reach each other
(strongly connected components, by the algorithm of Tarjan), and compute one
result for each group. If the results are only joined, share one set between all
walks. If the question is which nodes reach a given one, walk once from that one,
against the edges.

It is fine for a few roots, and for small graphs. The rule reports walks that
visit a node four times or more on average, by the number of nodes that another
loop over the same list or map has, as counted in the recording. It leaves alone
walks that depend on their root, such as those that count steps or compute
distances.

Seen in the field: goccy/tobari#57 (what each of 3,000 functions reaches, 55 % of
the time of an analysis).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	walks := finder.Remember(p, s.walkAt)
	return finder.Line{Start: finder.Frames(walks.Nearest), Judge: func(c *finder.Case) bool {
		w := walks.At(&c.Site.Frame)
		if w != nil {
			w.describe(c)
		}
		return w != nil
	}}
}

func (w *walk) describe(c *finder.Case) {
	name := syntax.FuncName(w.start)
	from := fmt.Sprintf("The loop on %s calls %s", syntax.Where(w.roots.Place, w.roots.Loop.Pos()), name)
	if w.roots.Place.Decl == w.start.Decl {
		from = fmt.Sprintf("The loop on %s walks a graph in %s", syntax.Where(w.roots.Place, w.roots.Loop.Pos()), name)
	}
	c.Cause = fmt.Sprintf("%s from %s nodes, one after the other, and each walk starts with an empty set (%s). A walk visits %s nodes, but %s has only %s: "+
		"each of them is visited by %s walks, and what can be reached from it does not depend on where a walk started.",
		from, units.Number(w.roots.Items), w.set.Name(), units.Number(w.visits), w.list, units.Number(w.nodes), units.Number(w.each()))
	c.Fix = "Compute what can be reached from a node once, and share it between the roots: without cycles, keep the result of each node when the walk leaves it; " +
		"with cycles, first group the nodes that reach each other (strongly connected components). " +
		"If the results are only joined, share one set between all walks; if they ask who reaches one node, walk once from that node, against the edges."
	most := 1 - 1/w.each()
	c.Fraction = &rule.Fraction{Expect: 0.8 * most, Low: 0.3 * most, High: 1}
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s walks of %s nodes each, %s has %s elements", units.Number(w.roots.Items), units.Number(w.visits), w.list, units.Number(w.nodes))})
}

// each returns by how many walks a node is visited on average.
func (w *walk) each() float64 { return w.roots.Items * w.visits / w.nodes }
