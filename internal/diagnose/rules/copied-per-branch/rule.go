// Package copiedperbranch finds searches that copy what they remember for each branch.
package copiedperbranch

import (
	"context"
	"fmt"
	"go/token"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastBytes is the minimum mean size of a copy: paths of a few elements cost little.
	leastBytes = 256
	// mostKept is the largest share of the copies that may be kept as results.
	mostKept = 0.3
)

// Rule is copied-per-branch.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "copied-per-branch",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Path or state copied for each branch or step of a search",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// What is left is one addition and one removal for each branch.
				Fraction:    rule.Fraction{Expect: 0.85, Low: 0.5, High: 1},
				Specificity: 4, // it says why elements are copied: before quadratic-insert, copy-to-read
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function calls itself for each neighbour of a node, child or candidate, and
passes a copy of its path or of its set of visited nodes, so that branches do not
disturb each other. At depth d each copy has d elements: a chain of n nodes
copies n²/2 of them, and a graph does so on every branch. A search with a queue
has the same form if each entry of the queue has a path of its own. So has a loop
that changes a few elements of its state in each step and keeps a copy of all of
it, to find out at the end how it came there: n steps keep n²/2 elements.

Use one list or set for the whole search: add the node, call, and remove it again
after the call (backtracking). To detect cycles, keep one state for each node (not
seen, on the path, done): each node is then visited once. To return the path
that a search with a queue found, remember for each node where it was reached
from, and follow these links back from the target, once. Copy a path only where it
is kept as a result. A loop keeps what each step changes, or such links, instead of
states; for differences of texts, Myers' algorithm has a variant that needs linear
space.

It is fine for paths of a few elements, and where each branch runs in a goroutine
of its own. The rule reports copies of 256 bytes or more, on average, most of which
are not kept, and of states those of which a step changes three quarters or less.

Seen in the field: stevenle/topsort#2 (the visited nodes copied for each edge),
pkg/diff#26 (the state of each step kept: out of memory).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{made: map[token.Pos]*size{}}
	s.found = finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *branch { return branchAt(p, place) })
	for _, at := range p.Table.Sites {
		for _, r := range at.Allocs {
			s.add(r)
		}
	}
	return finder.Line{Start: finder.Frames(s.at), Judge: func(c *finder.Case) bool {
		b := s.found.At(&c.Site.Frame)
		if b == nil || !b.judge(c, s.made[b.copied.id()]) {
			return false
		}
		c.Callees = s.callees(c)
		return true
	}}
}

// search remembers the copies of a recording.
type search struct {
	found *finder.Lines[branch]
	made  map[token.Pos]*size
}

// size is what all copies of one place in the source allocate, which may be several lines: one that
// creates a map, and a loop that fills it.
type size struct{ bytes, objects int64 }

func (s *search) add(r *site.Row) {
	i := s.at(r)
	if i < 0 {
		return
	}
	id := s.found.At(r.Stack[i]).copied.id()
	if s.made[id] == nil {
		s.made[id] = &size{}
	}
	s.made[id].bytes += r.Value
	s.made[id].objects += r.Count
}

// callees returns the functions that a line calls to copy.
func (s *search) callees(c *finder.Case) (names []string) {
	for _, r := range slices.Concat(c.CPU, c.Allocs) {
		if i := s.at(r); i > 0 && !slices.Contains(names, r.Stack[i-1].Function) {
			names = append(names, r.Stack[i-1].Function)
		}
	}
	return names
}

// at returns the frame of a row that copies for a branch; -1 for none.
func (s *search) at(r *site.Row) int {
	for i, f := range r.Stack {
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if b := s.found.At(f); b != nil && (i == 0 || b.copiesIn(r.Stack[i-1])) {
			return i
		}
	}
	return -1
}

// copiesIn reports whether a function that the line calls is one that copies, and not one that the
// search calls for its next step.
func (b *branch) copiesIn(below *site.Frame) bool {
	if k := below.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
		return true
	}
	for _, call := range syntax.CallsTo(b.place, below.Function) {
		if call == b.copied.call {
			return true
		}
	}
	return false
}

func (b *branch) judge(c *finder.Case, all *size) bool {
	made := c.Site.Frame // the copies are made once on this line, and filled on others
	made.Line = syntax.Line(b.place, b.copied.created(b.place).Pos())
	e, ok := evidence.Executions(c.Pass, made)
	if !ok || all == nil || !evidence.Hot(c.Pass, e) {
		return false
	}
	each, known := b.each(c.Pass, made, all)
	if !known || each < leastBytes || b.kept(c.Pass, e.PerUnit) {
		return false
	}
	c.Live = nil
	v := syntax.Text(b.copied.source)
	size := fmt.Sprintf("%s on average, %s times per %s", units.Bytes(each), units.Number(e.PerUnit), c.Pass.Manifest.Unit())
	switch {
	case b.step != nil:
		changed, elements, few := b.step.few(c.Pass, b.place.Outer(), each)
		if !few {
			return false
		}
		c.Cause, c.Fix = b.step.words(changed, elements, size)
		c.Fraction = &rule.Fraction{Expect: 0.95 * (1 - changed/elements), Low: 0.2, High: 1}
	case b.queue != nil:
		c.Cause = fmt.Sprintf("The search copies the path %s for each entry that it adds to %s: %s. A path of n elements is copied n times on its way, n²/2 elements in all.", v, syntax.Text(b.queue), size)
		c.Fix = fmt.Sprintf("Put only the next element into %s, and remember for each element from which one it was reached, in a map or a slice. Follow these links back from the target, once, to build the path.", syntax.Text(b.queue))
	default:
		c.Cause = fmt.Sprintf("%s copies %s for each call of itself: %s. The copy grows with the depth, so a path of n elements costs n²/2 copied elements.", b.name, v, size)
		c.Fix = fmt.Sprintf("Use one %s for the whole search: add the element before the call of %s and remove it after it. If it only serves to find cycles, keep one state for each element instead (not seen, on the path, done), and visit each element once. Copy %[1]s only where it is kept as a result.", v, b.name)
	}
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted, Value: evidence.Runs(c.Pass, c.Site.Frame, c.Site.Cost)})
	return true
}

// each returns the mean size of a copy. A list is copied to one object, a set to several.
func (b *branch) each(pass *rule.Pass, made site.Frame, all *size) (float64, bool) {
	if t := b.place.TypeOf(b.copied.source); t != nil && syntax.Elem(t) != nil {
		return float64(all.bytes) / float64(max(1, all.objects)), true
	}
	return evidence.PerExecution(pass, made, float64(all.bytes))
}
