// Package scanperlookup finds loops that scan many elements to find one or a few.
package scanperlookup

import (
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/counts"
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
	// least is the minimum mean number of elements of a search for which an index is faster: a map
	// lookup of a string takes about 20 ns, a comparison 1 to 2 ns.
	least = 32
	// mostKept is the largest share of the elements that a filter keeps to be a search for a few.
	mostKept = 0.1
	// growth is the factor by which the iterations must rise from the first window to the last to
	// be reported.
	growth = 1.25
)

// Rule is scan-per-lookup.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "scan-per-lookup",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Many elements scanned to find one or a few",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// A lookup in a map replaces half of the elements' comparisons or all. What a
				// predicate needs may not fit into an index, so the low end is far away. For exact
				// keys the match has its own fraction.
				Fraction:    rule.Fraction{Expect: 0.7, Low: 0.2, High: 1},
				Specificity: 2, // lock-per-item would lock elements that need not be visited in another way
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop that compares one element after the other until it finds the right one
costs as much as the list is long, on every call. A profile shows the loop's
line, not the length of the list. The execution counts of the recording show it:
the iterations per run of the loop, and whether they grow as the program runs.

Keep an index beside the list: a map from the compared key to the element or, if
only part of the key is known, from that part to a few candidates. If the order
matters, or a range is looked for (the points between two times), keep the list
sorted and use slices.BinarySearch. If the list only grows, also remove elements
that are no longer needed.

A visit of all elements for those in a state is the same, as of all sessions on
each request for those that expired, or of all jobs for those that wait: keep them
in the order of their time, or in a queue of their own. So is a pass over all
queues, connections or places of which nearly all have nothing to do: keep a set
of those that have something. So is an event given to all subscribers, of which
most return at once because they want others.

So is a search of each element of a list in the same list, as for duplicates: it
compares every pair. One pass with a map finds them.

A search for the smallest, the oldest or the least loaded element, again and
again, is the same: use container/heap, as for the nearest node in Dijkstra's
algorithm; one for each kind, if only those of one kind count. If elements have
to pass another test, keep them sorted, and stop at the first that passes.

So is a pass over a whole cache for each change, to remove the entries that the
change is about: collect the changes and go through the cache once for many of
them, or index its entries by what a change names.

It is fine for lists of a few dozen elements, for which a scan is faster than a
map. The rule reports only loops that scan at least 32 elements each time, as
counted in the recording, and do nothing with the others. It leaves alone loops
over the bytes of strings, lists that are created for the search, and states and
orders that change for many elements between two visits. Calls of
slices.IndexFunc, ContainsFunc and their like count too, by how often they call
their function. If a function searches a list that it gets, such as lo.Find,
lo.Contains or one of the program with a test as parameter, the finding is at the
call that has the list.

Seen in the field: ehabterra/apispec#495 (a map searched for one key, 10.6 % of
CPU); emitter-io/emitter#206 (a slice of subscribers became a map); ulule/limiter#86
(all entries visited for those that expired); pokt-network/path#516 (10 % of the
CPU of a gateway); moby/moby#18266 (events filtered by each subscriber);
kubernetes/kubernetes#45070 (a queue without a heap: 257 µs for each insertion
became 3.5); syndtr/goleveldb#402 (an iterator that compares all its sources);
moby/swarmkit#193 (a scheduler that compares all nodes for each task);
df-mc/dragonfly#118 (all loaded chunks visited in each tick).`

func prepare(p *rule.Pass) []finder.Line {
	if p.Syntax == nil {
		return nil
	}
	lines := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *search { return searchAt(p, f, place) })
	judge := func(c *finder.Case) bool {
		s := lines.At(&c.Site.Frame)
		if s == nil || (s.kind == extreme || s.kind == idle) && !s.lasts(c) {
			return false
		}
		s.describe(c.Place, c.Match)
		if s.kind == matching {
			c.Cause += passes(c, s)
		}
		c.Uncertain = s.listed(p, c.Site, lines)
		if s.kind == idle || s.kind == due || s.in != nil {
			c.Callees = []string{"sync.(*Mutex).Lock", "sync.(*Mutex).Unlock", "sync.(*RWMutex).RLock", "sync.(*RWMutex).RUnlock"}
		}
		return true
	}
	help := newHelpers(p, lines)
	own := func(r *site.Row) int {
		if at, leave := help.caller(r); at >= 0 || leave {
			return -1
		}
		return nearest(lines)(r)
	}
	helped := func(r *site.Row) int {
		at, _ := help.caller(r)
		return at
	}
	visits := finder.Remember(p, func(_ *site.Frame, place *gocode.Place) *visit { return visitAt(p, place) })
	return []finder.Line{
		{Start: finder.Frames(own), Judge: judge},
		{Start: finder.Frames(helped), Judge: help.judge},
		{Start: finder.Frames(tests), Judge: judgeTests},
		{Start: finder.Frames(nearestVisit(visits)), Judge: func(c *finder.Case) bool {
			v := visits.At(&c.Site.Frame)
			return v != nil && v.judge(c)
		}},
	}
}

// nearest returns the frame of a row that is part of a search; -1 for none, and for what a function
// that gets each element does with those that it looks for.
func nearest(lines *finder.Lines[search]) func(*site.Row) int {
	return func(r *site.Row) int {
		i := lines.Nearest(r)
		if i > 0 && lines.At(r.Stack[i]).beyond(r.Stack[:i]) {
			return -1
		}
		return i
	}
}

// search is a loop that looks for elements, and how often it did.
type search struct {
	shape
	counts.Loop
	head  int // its line
	at    *gocode.Place
	made  ast.Expr // what the range clause evaluates, once
	found float64  // elements found, for each iteration
}

// searchAt returns the search that a line is part of; nil when there is none that scans enough
// elements.
func searchAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *search {
	all := loopsAround(place)
	for i, loop := range all {
		s := &search{head: syntax.Line(place, loop.Pos()), at: place}
		if r, ok := loop.(*ast.RangeStmt); ok {
			s.made = r.X
		}
		var counted bool
		if s.Loop, counted = p.Counts.Loop(f.Owner.Package, f.File, s.head); !counted {
			continue
		}
		sh, ok := shapeOf(place, loop, func(i *ast.IfStmt) bool { return s.seldom(p, f, place, i) })
		if !ok {
			sh = shape{scan: loop}
		}
		s.shape = sh
		if !ok && s.Iterations >= least {
			if found := sifted(p, s, place, f.Line); found != nil {
				return found
			}
			if s.idle(p, place) && !s.idling.within(f.File, f.Line) {
				return s
			}
		}
		if !ok || f.Line > sh.until {
			continue
		}
		if s.Iterations < least && i+1 < len(all) {
			s.widen(p, f, place, loop, all[i+1])
		}
		if s.Iterations < least {
			continue
		}
		if hit, ok := p.Counts.Line(f.Owner.Package, f.File, syntax.Line(place, sh.hit.Pos())); ok {
			s.found = hit.PerUnit / (s.Iterations * s.Entries)
		}
		if s.kind == last || s.always {
			s.found = 1 / s.Iterations
		}
		if s.found > mostKept || s.kind == extreme && !s.remains(p, place) || s.counts != nil && !s.invalidates(place) {
			continue
		}
		return s
	}
	return nil
}

// seldom reports whether the body of a statement of the loop runs for few elements, or for none.
func (s *search) seldom(p *rule.Pass, f *site.Frame, place *gocode.Place, stmt *ast.IfStmt) bool {
	const most = 0.02
	if len(stmt.Body.List) == 0 {
		return false
	}
	body, ok := p.Counts.Line(f.Owner.Package, f.File, syntax.Line(place, stmt.Body.List[0].Pos()))
	return ok && body.PerUnit <= most*s.Iterations*s.Entries
}

// widen makes a search of the loop around it, if that only searches a list of each of its elements
// for the same key.
func (s *search) widen(p *rule.Pass, f *site.Frame, place *gocode.Place, inner, outer ast.Stmt) {
	over, vars := walked(place, outer)
	if over == nil || s.key == nil || vars.in(place, s.key) || s.kind != matching {
		return
	}
	for i, stmt := range loops.Body(outer).List {
		if a, ok := stmt.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, lhs := range a.Lhs {
				if id, ok := lhs.(*ast.Ident); ok {
					vars[place.Object(id)] = true
				}
			}
			continue
		}
		if stmt != inner || i+1 < len(loops.Body(outer).List) {
			return
		}
	}
	head := syntax.Line(place, outer.Pos())
	l, ok := p.Counts.Loop(f.Owner.Package, f.File, head)
	if !ok || vars.in(place, s.key) {
		return
	}
	l.Iterations *= s.Iterations
	s.Loop, s.head, s.over = l, head, over
	s.Windows = nil // of the outer loop alone
}

// loopsAround returns the loops around a line, innermost first, including one whose head is on the
// line.
func loopsAround(place *gocode.Place) []ast.Stmt {
	var all []ast.Stmt
	for _, n := range place.Nodes {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if loop := n.(ast.Stmt); !place.Drives(loop) {
				all = append([]ast.Stmt{loop}, all...)
			}
		}
	}
	return all
}

func (s *search) describe(place *gocode.Place, m *rule.Match) {
	grows := ""
	if n := len(s.Windows); n >= 3 && s.Windows[0] > 0 && s.Windows[n-1] >= growth*s.Windows[0] {
		grows = fmt.Sprintf(" It grows: %s elements at first, %s at the end.", units.Number(s.Windows[0]), units.Number(s.Windows[n-1]))
	}
	s.words(place, m, grows)
	if grows != "" {
		m.Fix += " Remove elements that are no longer needed."
	}
	m.Evidence = append(m.Evidence, rule.Evidence{
		What:  evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations each time the loop is reached", units.Number(s.Iterations)),
	})
}

// words fills in what the loop looks for, and what finds it without a scan.
func (s *search) words(place *gocode.Place, m *rule.Match, grows string) {
	n := units.Number(s.Iterations)
	switch s.kind {
	case last:
		m.Cause = fmt.Sprintf("The loop on line %d follows the linked list to its end, %s links each time it is reached.%s", s.head, n, grows)
		m.Fix = "Keep a pointer to the last element too; or use a slice and append to it."
		m.Fraction = &rule.Fraction{Expect: 0.95, Low: 0.7, High: 1}
		return
	case extreme:
		s.bestWords(m, n, grows)
		return
	case rows:
		m.Cause = fmt.Sprintf("The loop on line %d reads %s rows each time it is reached, and keeps %s of them: those where %s.%s",
			s.head, n, units.Percent(s.found), syntax.Text(s.cond), grows)
		m.Fix = "Put the condition into the query (WHERE …), with an index for it, so that only those rows are read."
		m.Fraction = &rule.Fraction{Expect: 0.9 * (1 - s.found), Low: 0.5 * (1 - s.found), High: 1}
		return
	case idle:
		s.idleWords(place, m, n, grows)
		return
	case due:
		s.dueWords(m, n, grows)
		return
	}
	if s.in != nil {
		s.offeredWords(m, n, grows)
		return
	}
	result := fmt.Sprintf("finds one in %s of its runs", units.Percent(min(1, s.found*s.Iterations)))
	if s.filters {
		result = "keeps " + units.Percent(s.found) + " of them"
	}
	m.Cause = fmt.Sprintf("The loop on line %d scans %s elements of %s each time it is reached to find those where %s, and %s.%s",
		s.head, n, syntax.Text(s.over), syntax.Text(s.cond), result, grows)
	defer s.prepared(place, m)
	if outer := s.pairs(place); outer != nil {
		s.pairWords(place, m, outer, result, grows)
		return
	}
	if s.key == nil && s.invalidates(place) {
		s.dropWords(place, m, n, grows)
		return
	}
	if s.key == nil {
		m.Fix = fmt.Sprintf("Index %s by what %s compares, or by a part of it that leaves a few candidates, and test those alone.", syntax.Text(s.over), syntax.Text(s.cond)) + cheaperFirst(place, s.cond)
		if s.contains(place) {
			m.Fix = fmt.Sprintf("Keep the networks of %s in a trie of prefixes, or in a map[netip.Prefix] that is asked for each length of a prefix: an IPv4 address is in 33 of them, however many networks there are.", syntax.Text(s.over))
		}
		if s.lastWins(place) {
			m.Fix += fmt.Sprintf(" The last element that passes decides: go through %s from its end, and stop at the first.", syntax.Text(s.over))
		}
		m.Confidence = rule.Likely // the call does not show whether its test can be indexed
		return
	}
	elem := keyType(place, s.key)
	element, key := s.sides()
	m.Fix = fmt.Sprintf("Keep a map[%s] beside %s from %s to the element, and look %s up in it; or keep the list sorted and use slices.BinarySearch.",
		elem, syntax.Text(s.over), element, key)
	m.Fraction = lookup(s.Iterations)
}

// comparisons is how many elements are compared in the time of a lookup in a map.
const comparisons = 10

// lookup returns the share of a scan that a lookup saves.
func lookup(scanned float64) *rule.Fraction {
	return &rule.Fraction{Expect: max(0.9, min(0.98, 1-comparisons/scanned)), Low: 0.5, High: 1}
}
