// Package allforone finds lists that each call builds as a whole, to use one element.
package allforone

import (
	"context"
	"fmt"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastElements is the minimum number of elements that are made for one that is used.
	leastElements = 16
	// leastCalls is the minimum number of calls in a run of a program that exits.
	leastCalls = 100
	// mostLookups is the maximum number of elements that are looked up in each list.
	mostLookups = 2
	// mostly is the minimum part of the call's cost that must be work for each element.
	mostly = 0.5
)

// Rule is all-for-one.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "all-for-one",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Whole list built to look up one element",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// The one element remains to be made, and what it is allowed for to be tested.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.7, High: 1},
				Specificity: 4, // rules for what the list is made of report lines below the call
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function calls another one that makes a list of all elements, copies, views or
rows of a query, and then uses one: it puts them into a map and looks one key up,
or goes through them until an identifier matches. The list was there, for a page
that shows all of them, so it was the shortest way. Each call pays for all
elements, and the map costs more than the list.

Ask for the one element: a method that takes the key, looks it up where the
elements are kept (in a map by that key), and makes the same tests for this
element alone, such as whether the caller may see it. Of a database, a query with
the key in its WHERE.

It is fine for a few elements, where the map is used for many keys, and where the
elements must be parsed from one text anyway. The rule counts: it reports lists of
at least 16 elements of which one or two are looked up, if at least half of the
call's cost is work for each element.

Seen in the field: spiffe/spire#5819 (all authorized entries of an agent crawled
and cloned to sign one of them).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, costs: map[string]*cost{}, readers: map[string]bool{}}
	s.lines = finder.Remember(p, s.look)
	p.EachStack(s.weigh)
	return finder.Line{Start: finder.Frames(s.line), Judge: s.judge}
}

// search finds the lookups of a recording.
type search struct {
	pass  *rule.Pass
	lines *finder.Lines[lookup]
	costs map[string]*cost // by the calls
	// readers are functions that read what they return from a text.
	readers map[string]bool
}

// cost is how many stacks of the profiles have the call of a lookup, and how many of these are of
// work for each element.
type cost struct{ all, each float64 }

// look returns the lookup that a line is a part of; nil for none.
func (s *search) look(f *site.Frame, p *gocode.Place) *lookup {
	l := lookupAt(p)
	if l == nil {
		return nil
	}
	calls, ok := evidence.ExecutionsAt(s.pass, p, l.call.Pos())
	made, counted := s.elements(f, l)
	if !ok || !counted || calls.PerUnit <= 0 || s.pass.Manifest.Unit() == "run" && calls.PerUnit < leastCalls {
		return nil
	}
	l.calls, l.elements = calls.PerUnit, made/calls.PerUnit
	if l.elements < leastElements {
		return nil
	}
	asked := 0.0
	for _, read := range l.reads {
		n, ok := evidence.ReachedAt(s.pass, p, read.Pos())
		if !ok {
			return nil
		}
		asked += n
	}
	if asked > mostLookups*calls.PerUnit {
		return nil
	}
	return l
}

// elements returns how many elements the program visits for a lookup in each unit of work.
func (s *search) elements(f *site.Frame, l *lookup) (n float64, ok bool) {
	if l.test != nil {
		return evidence.ReachedAt(s.pass, l.place, l.test.Body.List[0].Pos())
	}
	ran, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(l.place, l.loop.Pos()))
	return ran.Iterations * ran.Entries, ok
}

// weigh adds a stack to the costs of the lookups whose call it has.
func (s *search) weigh(stack []*site.Frame) {
	for i := 1; i < len(stack); i++ {
		f := stack[i]
		if f.Owner.Kind != gocode.Main || stack[i-1].Owner.Kind != gocode.Main {
			continue
		}
		l := s.lines.At(f)
		if l == nil || f.Line != syntax.Line(l.place, l.call.Lparen) || loops.CallTo(l.place, stack[i-1].Function) != l.call {
			continue
		}
		c := s.costs[l.key()]
		if c == nil {
			c = &cost{}
			s.costs[l.key()] = c
		}
		c.all++
		if !s.reads(stack[i-1]) && s.perElement(stack[:i], l) {
			c.each++
		}
	}
}

// reads reports whether a function reads the elements from a text, or from files.
func (s *search) reads(f *site.Frame) bool {
	found, seen := s.readers[f.Function]
	if !seen {
		if p, ok := s.pass.Syntax.At(f.File, f.Line); ok && p.Decl != nil {
			found = readsText(p.Outer())
		}
		s.readers[f.Function] = found
	}
	return found
}

// perElement reports whether what a call does runs about once for each element of the list.
func (s *search) perElement(below []*site.Frame, l *lookup) bool {
	for i := len(below) - 1; i >= 0; i-- {
		f := below[i]
		if funcname.Match(f.Function, "bufio.*", "encoding/*", "os.*", "io.*", "net/http.*") {
			return false // a text that is read as a whole
		}
		if f.Owner.Kind != gocode.Main {
			continue
		}
		if e, ok := evidence.Executions(s.pass, *f); ok && e.PerUnit >= 0.5*l.elements*l.calls {
			return true
		}
	}
	return false
}

// line returns the frame of a row that is part of a lookup; -1 for none.
func (s *search) line(r *site.Row) int {
	i := s.lines.Nearest(r)
	if i < 0 {
		return -1
	}
	c := s.costs[s.lines.At(r.Stack[i]).key()]
	if c == nil || c.each < mostly*c.all {
		return -1
	}
	return i
}

func (s *search) judge(c *finder.Case) bool {
	l := s.lines.At(&c.Site.Frame)
	if l == nil {
		return false
	}
	name, of := syntax.FuncName(l.place), syntax.Short(syntax.Text(l.call.Fun))
	does := fmt.Sprintf("goes through them until one matches (line %d)", l.line())
	if l.into != nil {
		does = fmt.Sprintf("puts them all into the map %s (line %d), of which it looks up one", l.into.Name(), l.line())
	}
	c.Cause = fmt.Sprintf("%s calls %s (line %d), which makes a list of all elements, %s here, and %s. The others are created for nothing, on every call.",
		name, of, syntax.Line(l.place, l.call.Lparen), units.Number(l.elements), does)
	c.Fix = fmt.Sprintf("Ask for that one element: add a function beside %s that takes the key, looks the element up where all are kept (in a map by that key, or with a query that names the key), and makes the same tests for it alone.", of)
	c.Confidence = rule.Likely
	most := 1 - 2/(l.elements+1)
	c.Fraction = &rule.Fraction{Expect: 0.95 * most, Low: 0.6 * most, High: 1}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s lists per %s, %s elements each", units.Number(l.calls), s.pass.Manifest.Unit(), units.Number(l.elements))})
	return true
}
