package scanperlookup

import (
	"fmt"
	"go/ast"
	"go/token"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/units"
)

// few describes how many of the elements are found.
func (s *search) few() string {
	if s.found == 0 {
		return "none"
	}
	return units.Percent(s.found)
}

// pairs returns the loop around a search if that goes through the same list, and the search
// compares the elements of both; nil for others.
func (s *search) pairs(p *gocode.Place) ast.Stmt {
	for _, n := range p.Enclosing(s.scan) {
		loop, ok := n.(ast.Stmt)
		if n == p.Func || n == ast.Node(s.scan) || !ok || loops.Body(n) == nil {
			continue
		}
		over, vars := walked(p, loop)
		if over != nil && syntax.Same(p, over, s.over) && vars.in(p, s.cond) {
			return loop
		}
	}
	return nil
}

// pairWords fills in a search of each element of a list in the list itself.
func (s *search) pairWords(p *gocode.Place, m *rule.Match, outer ast.Stmt, result, grows string) {
	over := syntax.Text(s.over)
	m.Cause = fmt.Sprintf("The loops on lines %d and %d compare every pair of %s: for each element, the inner one scans %s to find those where %s, and %s. That takes n² steps.%s",
		syntax.Line(p, outer.Pos()), s.head, over, units.Number(s.Iterations), syntax.Text(s.cond), result, grows)
	if s.key == nil {
		m.Fix = fmt.Sprintf("Go through %s once with a map, whose key is what equal elements have in common (a hash, a length, a kind): look each element up before you add it, and test only those with the same key.", over)
		m.Confidence = rule.Likely // the call does not show whether its test has such a key
		return
	}
	elem := "T"
	if t := p.TypeOf(s.key); t != nil {
		elem = syntax.TypeText(p, t)
	}
	m.Fix = fmt.Sprintf("Go through %s once with a map[%s]: look the %s of each element up in it before you add the element; or sort %s by that, and compare neighbours.", over, elem, syntax.Text(s.element), over)
	m.Fraction = lookup(s.Iterations)
}

// visits describes the loop.
func (s *search) visits(n string) string {
	over := syntax.Text(s.over)
	if s.in == nil {
		return fmt.Sprintf("The loop on line %d visits all %s elements of %s each time it is reached", s.head, n, over)
	}
	return fmt.Sprintf("The loop on line %d calls %s for all %s elements of %s each time it is reached", s.head, syntax.FuncName(s.in), n, over)
}

// bestWords fills in a search of the first in an order.
func (s *search) bestWords(m *rule.Match, n, grows string) {
	over, order := syntax.Text(s.over), syntax.Text(s.cond)
	among := ""
	switch {
	case s.key != nil:
		among = fmt.Sprintf(" among those of one %s", syntax.Text(s.element))
	case len(s.passes) > 0:
		among = fmt.Sprintf(" among those that pass a test (%s)", syntax.Text(s.passes[0]))
	}
	m.Cause = fmt.Sprintf("The loop on line %d scans all %s elements of %s each time it is reached, to find the first in the order of %s%s.%s",
		s.head, n, over, order, among, grows)
	m.Fix = fmt.Sprintf("Keep %s in that order as it changes: container/heap for a minimum or maximum, container/list with the last used at the front for the least recently used, or a sorted slice.", over)
	m.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.4, High: 1}
	switch {
	case s.key != nil:
		m.Fix = fmt.Sprintf("Keep a heap (container/heap) in that order for each %s, update it (heap.Fix) where an element changes, and take its first element.", syntax.Text(s.element))
	case len(s.passes) > 0:
		m.Fix = fmt.Sprintf("Keep %s sorted in that order as it changes (a sorted slice, or a tree), go through it from the first, and stop at the first element that passes.", over)
		m.Fraction = &rule.Fraction{Expect: 0.75, Low: 0.2, High: 0.99}
	}
	m.Confidence = rule.Likely // the loop does not show how often the order changes
}

// dueWords fills in a visit of all elements for those in a state.
func (s *search) dueWords(m *rule.Match, n, grows string) {
	over, cond := syntax.Text(s.over), syntax.Text(s.cond)
	if s.inverted {
		m.Cause = fmt.Sprintf("%s, and leaves those alone where %s: it works on %s of them.%s", s.visits(n), cond, s.few(), grows)
	} else {
		m.Cause = fmt.Sprintf("%s, to find those where %s: it finds %s of them.%s", s.visits(n), cond, s.few(), grows)
	}
	m.Fix = fmt.Sprintf("Keep the elements that it looks for in a set or a queue of their own, beside %s, updated where %s changes, and visit only those.", over, cond)
	if s.clock {
		m.Fix = fmt.Sprintf("Keep %s in the order of that time (container/heap; container/list if all elements wait equally long), and stop at the first that is not due. "+
			"If it only removes what has expired, check the element that is asked for, and sweep the others seldom.", over)
	}
	m.Confidence = rule.Likely // other code may change the state
	m.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.99}
}

// idleWords fills in a visit of all elements, of which a few have something to do.
func (s *search) idleWords(p *gocode.Place, m *rule.Match, n, grows string) {
	over := syntax.Text(s.over)
	m.Cause = fmt.Sprintf("%s, nearly all of which have nothing to do: what they have to do, on %s, runs for %s of them.%s",
		s.visits(n), syntax.Where(p, s.idling.main().pos), s.few(), grows)
	m.Fix = fmt.Sprintf("Keep the elements of %s that have something to do in a set or a queue of their own, updated where that changes, and visit only those.", over)
	if limits := s.idling.limits; len(limits) > 0 && !s.clock {
		test := syntax.Text(limits[0])
		if other := syntax.Text(limits[len(limits)-1]); other != test {
			test += ", " + other
		}
		m.Cause = fmt.Sprintf("%s, to select a few by a comparison (%s): what follows it, on %s, runs for %s of them.%s",
			s.visits(n), test, syntax.Where(p, s.idling.main().pos), s.few(), grows)
		m.Fix = fmt.Sprintf("Keep %s sorted by what %s compares (it may be in that order already), find the first that passes with slices.BinarySearchFunc, "+
			"and stop at the first that does not; or keep it in a container/heap, if only the first are taken.", over, syntax.Text(limits[0]))
	} else if s.clock {
		m.Fix = fmt.Sprintf("Keep %s in the order of what the test compares (container/heap, or a sorted slice), and stop at the first that has nothing to do.", over)
	}
	m.Confidence = rule.Likely // other code may decide what there is to do
	m.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.99}
}

// idleWords fills in a visit by a function, of elements of which a few have something to do.
func (v *visit) idleWords(c *finder.Case, n string) {
	over := syntax.Text(v.over)
	c.Cause = fmt.Sprintf("%s visits %s elements of %s each time, nearly all of which have nothing to do: what they have to do, on %s, runs for %s of them.",
		v.by, n, over, syntax.Where(c.Place, v.idling.main().pos), units.Percent(v.found))
	c.Fix = fmt.Sprintf("Keep the elements of %s that have something to do in a set or a queue of their own, updated where that changes, and visit only those.", over)
	c.Confidence = rule.Likely // other code may decide what there is to do
	c.Fraction = &rule.Fraction{Expect: 0.85, Low: 0.4, High: 0.99}
}

// offeredWords fills in a loop that gives all elements to a function, which works on a few.
func (s *search) offeredWords(m *rule.Match, n, grows string) {
	over, cond := syntax.Text(s.over), syntax.Text(s.cond)
	m.Cause = fmt.Sprintf("%s; it returns at once unless %s, and works on %s of them.%s", s.visits(n), cond, s.few(), grows)
	m.Fix = fmt.Sprintf("Index %s by what %s compares, or by a part of it that leaves a few candidates, and call %s for those alone.", over, cond, syntax.FuncName(s.in))
	if s.key != nil {
		m.Fix = fmt.Sprintf("Keep a map beside %s from %s to the elements that have it, and call %s for those alone.", over, syntax.Text(s.element), syntax.FuncName(s.in))
	}
	m.Confidence = rule.Likely // the call does not show whether its test can be indexed
	m.Fraction = &rule.Fraction{Expect: 0.9, Low: 0.4, High: 0.99}
}

// contains reports whether a test asks whether a network has an address.
func (s *search) contains(p *gocode.Place) bool {
	for _, part := range syntax.Conjuncts(s.cond) {
		if call, ok := ast.Unparen(part).(*ast.CallExpr); ok && funcname.Match(p.CalleeName(call), "(*net.IPNet).Contains", "(net/netip.Prefix).Contains") {
			return true
		}
	}
	return false
}

// lastWins reports whether a search goes on after an element that passes, and sets only variables
// of the function to parts of it, so that the next one that passes replaces what is set.
func (s *search) lastWins(p *gocode.Place) bool {
	_, vars := walked(p, s.scan)
	body, ok := syntax.Parent(p, s.hit).(*ast.BlockStmt)
	r, ranges := s.scan.(*ast.RangeStmt)
	if !ok || !s.filters || s.inverted || !ranges || syntax.IsMap(p.TypeOf(r.X)) {
		return false
	}
	for _, stmt := range body.List {
		a, ok := stmt.(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != len(a.Rhs) {
			return false
		}
		for i, lhs := range a.Lhs {
			v := syntax.LocalVar(p, lhs)
			_, constant := p.Const(a.Rhs[i])
			if v == nil || syntax.Inside(s.scan, v.Pos()) || syntax.Mentions(p, a.Rhs[i], v) || !constant && !vars.in(p, a.Rhs[i]) {
				return false
			}
		}
	}
	return len(body.List) > 0
}
