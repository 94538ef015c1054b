// Package growinglistwalked finds linked lists that are walked for each node that they get.
package growinglistwalked

import (
	"context"
	"fmt"
	"go/ast"

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
	// leastNodes is the minimum mean number of nodes of a walk.
	leastNodes = 32
	// leastWalks is the minimum number of walks for each unit of work.
	leastWalks = 16
	// leastVisits is the minimum number of visits for each node that is linked in.
	leastVisits = 16
)

// Rule is growing-list-walked.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "growing-list-walked",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Linked list walked again and again while it gets more nodes",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Without the nodes that stay, or with a pointer to the right one, a walk has a
				// step or two. Others may need some of the nodes.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.4, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop follows a field (next, NextSibling) from node to node, to find the end of
a linked list or a node in it. It runs for each node that is added, and the nodes
stay: each walk is longer than the last one, n nodes take n²/2 steps, and each
step may miss the cache. A test with a short list does not show it.

Unlink nodes that nobody needs any more. A parser that returns one element after
the other has to remove what stood before it, too, such as the text between two
elements. Keep a pointer to the last node to append, continue from the node
of the last walk, and look nodes up in a map.

It is fine if most walks end after a few steps, or if there are few of them. The
rule counts executions: it reports loops with 32 steps and more on average that
visit each node at least sixteen times, in a function that links a node, or below
a loop of a caller that also links nodes.

Seen in the field: antchfx/xmlquery#59 (a parser of streams removed the element
that it had returned, and left the texts between elements in the tree).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p}
	s.lines = finder.Remember(p, s.look)
	start := func(at *site.Site) rule.Match {
		if k := at.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			return rule.Match{}
		}
		w := s.lines.At(&at.Frame)
		if w == nil {
			return rule.Match{}
		}
		return finder.Take(at, func(r *site.Row) bool { return w.appends || s.growsBetween(w, r) })
	}
	return finder.Line{Start: finder.Rows(start), Judge: s.judge}
}

type search struct {
	pass  *rule.Pass
	lines *finder.Lines[walk]
}

// walk is a loop over the nodes of a linked list.
type walk struct {
	loop *ast.ForStmt
	link link
	sets []set
	// appends is true if the function around the loop links a node.
	appends bool
	// callers are the calls in a loop that also links nodes.
	callers *finder.Edges[ast.CallExpr]
	// For each unit of work: how often the loop is entered, how many nodes a list gets and loses.
	walks, linked, unlinked float64
	nodes                   float64 // mean for each walk
}

// look returns the walk that a line is part of, if it visits the same nodes often; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *walk {
	loop, ok := loops.At(p).(*ast.ForStmt)
	if !ok || p.Decl == nil {
		return nil
	}
	w := &walk{loop: loop}
	if w.link, ok = linkOf(p, loop); !ok {
		return nil
	}
	l, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(p, loop.Pos()))
	if !ok || l.Iterations < leastNodes || l.Entries < leastWalks {
		return nil
	}
	w.walks, w.nodes = l.Entries, l.Iterations
	w.sets = w.link.sets(p)
	for _, n := range w.sets {
		w.appends = w.appends || !n.unlinks && syntax.Within(p.Decl, n.at) && !syntax.Within(loop, n.at)
		times, ok := evidence.ReachedAt(s.pass, p, n.at.Pos())
		switch {
		case !ok || syntax.Within(loop, n.at):
		case n.unlinks:
			w.unlinked += times
		default:
			w.linked += times
		}
	}
	grows := w.linked >= w.nodes && w.walks*w.nodes >= leastVisits*w.linked && w.walks >= w.nodes/2
	if !grows {
		return nil
	}
	w.callers = finder.RememberEdges(func(f, below *site.Frame) *ast.CallExpr { return s.between(w, f, below) })
	return w
}

func (s *search) judge(c *finder.Case) bool {
	w := s.lines.At(&c.Site.Frame)
	if w == nil {
		return false
	}
	unit := s.pass.Manifest.Unit()
	lost := ""
	if w.unlinked > 0 {
		lost = fmt.Sprintf(" and %s are unlinked", units.Number(w.unlinked))
	}
	c.Cause = fmt.Sprintf("%s iterates over a linked list from node to node (%s): %s nodes on average, %s times per %s. Meanwhile, %s nodes are linked in%s. The nodes stay in the list, so each walk is longer than the last one, and the work grows with the square of their number.",
		syntax.FuncName(c.Place), w.link.field.Name(), units.Number(w.nodes), units.Number(w.walks), unit, units.Number(w.linked), lost)
	c.Fix = fmt.Sprintf("Unlink the nodes that are not needed any more, so that the list stays short; or keep a pointer to the node where the next walk can start (the last one, to append), or a map of the nodes that are searched. `%s` shows the callers.",
		evidence.WhyCommand(s.pass, c.Site))
	c.Evidence = append(c.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s steps and %s nodes linked in per %s: each is visited %s times", units.Number(w.walks*w.nodes), units.Number(w.linked), unit, units.Number(w.walks*w.nodes/w.linked)),
	})
	c.Confidence = rule.Likely
	return true
}
