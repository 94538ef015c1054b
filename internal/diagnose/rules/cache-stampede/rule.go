// Package cachestampede finds results that several goroutines compute at the same time for one
// cache.
package cachestampede

import (
	"context"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// fewest calls that overlap with one of the same input, and their least share of all calls.
	// There is no other minimum: a value that expires differs each time, and of the calls without
	// parameters, which all have the same input, one of each group overlaps with none before.
	fewest, leastShare = 4, 0.3
	// A finding is measured if so many calls overlap, at least this share of the repeated ones
	// (the others would find the result in the cache), and this share of the results is equal,
	// where they could be compared.
	many, mostly, same = 10, 0.7, 0.9
)

// Rule is cache-stampede.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "cache-stampede",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedInputs},
		Title: "The same result computed by several goroutines at once",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own fraction.
				Fraction:    rule.Fraction{Expect: 0.7, Low: 0.3, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function looks into a cache, computes what it does not find, and
stores it. While one goroutine computes, others ask for the same, find nothing
either, and compute it as well. When an entry expires, or after a start, that
may be as many as there are requests at that moment (a cache stampede). The
cache's own lock does not help, because it is not held during the computation.

Use golang.org/x/sync/singleflight: Group.Do with the key runs the function once,
and gives its result to all that ask meanwhile. Or keep an entry with a sync.Once
(sync.OnceValue) in the cache. Look into the cache again inside.

It is fine where computing is cheap, or where the keys hardly repeat. The rule
counts calls that began while another call with the same input was running on
another goroutine. It reports functions for which three of ten calls did, if the
source shows the cache: the function looks first for the variable or the key
that it fills with the result, in a package variable or in a value with a lock
or an atomic pointer. It leaves alone fields of objects that each request
creates: equal work on several goroutines alone is not a stampede.

Seen in the field: caddyserver/caddy#5344 (passwords hashed again),
stormkit-io/stormkit-io#147 (26 queries for one host at one moment).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, suspects: map[string]*inputs.Function{}, seen: map[line]*miss{}, found: map[gocode.Pos]*miss{}}
	for i := range p.Inputs.Functions {
		if f := &p.Inputs.Functions[i]; f.Hashed == f.Calls && f.Overlapping >= fewest && float64(f.Overlapping) >= leastShare*float64(f.Calls) {
			s.suspects[f.Name] = f
		}
	}
	p.EachRow(s.dropRecursive)
	if len(s.suspects) == 0 {
		return finder.Line{}
	}
	return finder.Line{Start: finder.Frames(s.at), Judge: s.judge}
}

// search finds the lines that compute what is not in a cache.
type search struct {
	pass     *rule.Pass
	suspects map[string]*inputs.Function // those whose calls overlap, by name
	seen     map[line]*miss
	found    map[gocode.Pos]*miss
}

// line is a line, the function that it calls, and the suspect whose result that returns.
type line struct {
	gocode.Pos
	callee, of string
}

// miss is a call for what is not in a cache.
type miss struct {
	of    *inputs.Function
	call  *ast.CallExpr
	fills bool // the function around it looks for the result in a shared cache first, and fills it
	hands bool // the function around it only returns the result
}

// dropRecursive leaves out functions that call themselves: earlier versions counted such calls as
// overlapping.
func (s *search) dropRecursive(r *site.Row) {
	seen := map[string]bool{}
	for _, f := range r.Stack {
		if seen[f.Function] {
			delete(s.suspects, f.Function)
		}
		seen[f.Function] = true
	}
}

// at returns the frame, nearest the leaf, that fills a cache with the result of a suspect.
func (s *search) at(r *site.Row) int {
	var f *inputs.Function
	hands := false
	for i := 1; i < len(r.Stack); i++ {
		frame, callee := r.Stack[i], r.Stack[i-1].Function
		if once(callee) {
			return -1 // all callers wait for one
		}
		if g := s.suspects[callee]; g != nil {
			f = g
		} else if !hands {
			f = nil
		}
		hands = false
		if k := frame.Owner.Kind; f == nil || k != gocode.Main && k != gocode.Dependency {
			continue
		}
		m := s.look(frame, callee, f)
		if m.fills {
			s.found[gocode.Pos{File: frame.File, Line: frame.Line}] = m
			return i
		}
		hands = m.hands
	}
	return -1
}

// once reports whether a function in a stack runs what is below it for all callers together.
func once(function string) bool {
	return strings.HasPrefix(function, "sync.(*Once).") || strings.Contains(function, "singleflight.(*Group")
}

// look judges a line that calls a function, which is a suspect or returns what a suspect does.
func (s *search) look(frame *site.Frame, callee string, of *inputs.Function) *miss {
	key := line{gocode.Pos{File: frame.File, Line: frame.Line}, callee, of.Name}
	if m := s.seen[key]; m != nil {
		return m
	}
	m := &miss{of: of}
	s.seen[key] = m
	place, ok := s.pass.Syntax.At(frame.File, frame.Line)
	if !ok || place.Decl == nil {
		return m
	}
	if m.call = calling(place, callee); m.call == nil {
		return m
	}
	_, m.hands = syntax.Parent(place, m.call).(*ast.ReturnStmt)
	if runsOnce(place, place.Declaration(place.Callee(m.call)), 2) {
		return m
	}
	by := refills(place, m.call, s.kept(place, m.call, stores(place, m.call)))
	m.fills = by != nil && !s.remade(place, frame, by.typ)
	return m
}

// leastKept is the minimum share of the results that a cache keeps. What is computed again because
// it is not kept, such as that there is nothing, is another mistake.
const leastKept = 0.5

// kept returns the stores that keep most of the results of a call, as far as executions were
// counted.
func (s *search) kept(p *gocode.Place, call *ast.CallExpr, all []store) []store {
	if s.pass.Counts == nil {
		return all
	}
	computed, known := evidence.ExecutionsAt(s.pass, p, call.Pos())
	if !known {
		return all
	}
	return slices.DeleteFunc(all, func(st store) bool {
		var at ast.Node = st.to
		if st.call != nil {
			at = st.call
		}
		runs, ok := evidence.ExecutionsAt(s.pass, p, at.Pos())
		return ok && runs.PerUnit < leastKept*computed.PerUnit
	})
}

// calling returns the call on a line of a function, given as a profile names it: by its name,
// through an interface, or of a function value if that is the only one.
func calling(p *gocode.Place, callee string) *ast.CallExpr {
	if calls := syntax.CallsTo(p, callee); len(calls) > 0 {
		return calls[0]
	}
	var found *ast.CallExpr
	for _, call := range syntax.Calls(p) {
		if !dynamic(p, call, callee[strings.LastIndexByte(callee, '.')+1:]) {
			continue
		}
		if found != nil {
			return nil
		}
		found = call
	}
	return found
}

// overlaps reports whether most calls of a function that repeat an input started while another one
// with that input ran.
func overlaps(f *inputs.Function) bool {
	again := f.Calls - f.Stable
	return f.Overlapping >= many && float64(f.Overlapping) >= mostly*float64(again) && float64(f.Same) >= same*float64(f.Compared)
}

func (s *search) judge(c *finder.Case) bool {
	m := s.found[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if m == nil {
		return false
	}
	f := m.of
	part := float64(f.Overlapping) / float64(f.Calls)
	c.Callees = []string{f.Name}
	c.Fraction = &rule.Fraction{Expect: part, Low: part / 2, High: min(1, max(part, 1-float64(f.Stable)/float64(f.Calls)))}
	c.Cause = fmt.Sprintf("%s calls %s for what is not in the cache. Of %s calls, %s started while another goroutine was computing the same result (%s), and each of them stores it.",
		syntax.FuncName(c.Place), syntax.Text(m.call.Fun), units.Count(f.Calls), units.Count(f.Overlapping), evidence.Different(units.Count(f.Stable)))
	c.Fix = "Let one goroutine compute it while the others wait for its result: Do of a singleflight.Group (golang.org/x/sync) with the key, and look into the cache again inside Do."
	c.Confidence = rule.Measured
	if !overlaps(f) {
		c.Confidence = rule.Likely
	}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.InputsCounted, Value: fmt.Sprintf("%s of %s calls started while another call with the same input ran", units.Count(f.Overlapping), units.Count(f.Calls))})
	return true
}
