// Package unusedpart finds code of a function that computes only what the callers do not use of its
// results.
package unusedpart

import (
	"context"
	"fmt"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/effects"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/diagnose/used"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
)

const (
	// mostLookedUp is the largest share of the elements of a map that may be looked up.
	mostLookedUp = 0.5
	// leastElements is the minimum number of elements of a list or map.
	leastElements = 4
	// deciding is how many frames decide what is used of a result.
	deciding = 6
)

// Rule is unused-part.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "unused-part",
		Kind:  rule.CPU,
		Uses:  []rule.Need{rule.NeedCounts},
		Title: "Part of a result computed that the callers do not use",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// After the fix, only a test of what is needed remains. Matches of maps set their
				// own fraction: the counted share of values that nobody looks up.
				Fraction:    rule.Fraction{Expect: 0.95, Low: 0.6, High: 1},
				Specificity: 4, // how it is computed does not matter where it is not needed
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A function returns more than its caller takes: a report of which one figure is
shown, a list of which only the length is asked, a second result that is dropped,
a map with the values of all variables from which a text needs two. The function
computes all of it each time, because it was written for another caller.

Split the function: let callers ask for the part that they need, by a function or
method for each part. Count instead of making elements. Compute the values of a
map when they are looked up: a function of the name with a switch, or a map of
functions.

It is fine where the rest is cheap, and where the caller is the only one that can
check what it drops. The rule follows the results through variables, parameters
and up to four callers, and reports the code that neither the used part nor a side
effect of the function depends on. A map is reported if at most half of its values
are looked up, as counted.

Seen in the field: caddyserver/caddy#2674 (all placeholders computed for each
text).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := &search{pass: p, callers: used.Callers{Syntax: p.Syntax}, idle: map[string]*used.Idle{}}
	s.paths = finder.RememberPaths(deciding, s.look)
	start := func(r *site.Row) int {
		for i := len(r.Stack) - 2; i >= 0; i-- {
			if k := r.Stack[i].Owner.Kind; (k == gocode.Main || k == gocode.Dependency) && s.idles(r.Stack, i) {
				return i
			}
		}
		return -1
	}
	return finder.Line{Start: finder.Frames(start), Judge: s.judge}
}

type search struct {
	pass    *rule.Pass
	callers used.Callers
	paths   *finder.Paths[part]
	idle    map[string]*used.Idle // by the function and the parts that are used
}

// part is what a caller uses of the results of a function, if the function has idle code then.
type part struct {
	place    *gocode.Place
	result   used.Result
	idle     *used.Idle
	elements float64 // of a list or map that are made each time; 0 if that is not known
	lookups  float64 // each time, of a map; 0 for others
}

// idles reports whether the code of a frame on the way to the one below is idle.
func (s *search) idles(stack []*site.Frame, i int) bool {
	if s.paths.From(stack, i) < 0 {
		return false
	}
	line, ok := s.pass.Syntax.At(stack[i].File, stack[i].Line)
	if !ok {
		return false
	}
	below := ""
	if i > 0 {
		below = stack[i-1].Function
	}
	return s.paths.At(stack[i]).idle.Has(line, below)
}

// look returns what the callers of the function of a frame use, if it has idle code then.
func (s *search) look(stack []*site.Frame, from int) (*part, int) {
	p, ok := s.pass.Syntax.At(stack[from].File, stack[from].Line)
	if !ok || p.Decl == nil || p.Decl.Body == nil || p.Func != p.Decl {
		return nil, 0
	}
	r, ok := s.callers.Of(stack, from)
	if !ok || !partly(r) {
		return nil, 0
	}
	key := fmt.Sprint(syntax.Where(p, p.Decl.Pos()), r.Key())
	idle, seen := s.idle[key]
	if !seen {
		idle = used.Of(s.pass.Syntax, p.Outer(), r.Parts)
		s.idle[key] = idle
	}
	if idle == nil {
		return nil, 0
	}
	found := &part{place: p.Outer(), result: r, idle: idle, elements: s.made(idle)}
	if found.lookups, ok = s.lookups(r); !ok {
		return nil, 0
	}
	if found.lookups > 0 && (found.elements < leastElements || found.lookups > mostLookedUp*found.elements) {
		return nil, 0
	}
	return found, from
}

// partly reports whether a result is used, and another one or a part of it is not.
func partly(r used.Result) bool {
	some, all := false, true
	for _, u := range r.Parts {
		some = some || !u.None()
		all = all && u.Whole
	}
	return some && !all
}

// made returns how many elements idle code makes in each call; 0 if that is not known.
func (s *search) made(idle *used.Idle) (n float64) {
	for _, e := range idle.Elements {
		at, ok := evidence.ExecutionsAt(s.pass, e.Place, e.Node.Pos())
		if !ok {
			return 0
		}
		n += at.PerCall
	}
	return n
}

// lookups returns how often elements of maps in the results are looked up for each call; false if
// that is not known.
func (s *search) lookups(r used.Result) (n float64, ok bool) {
	calls, counted := 0.0, false
	for _, u := range r.Parts {
		for _, k := range u.Keys {
			if !counted {
				if s.pass.Counts == nil {
					return 0, false
				}
				if calls, counted = evidence.ReachedAt(s.pass, r.Place, r.Call.Pos()); !counted || calls <= 0 {
					return 0, false
				}
			}
			runs, ok := evidence.ReachedAt(s.pass, k.Place, k.Node.Pos())
			if !ok {
				return 0, false
			}
			n += runs / calls
		}
	}
	return n, true
}

func (s *search) judge(c *finder.Case) bool {
	f := s.paths.At(&c.Site.Frame)
	if f == nil {
		return false
	}
	at := func(r *site.Row) int {
		return slices.IndexFunc(r.Stack, func(x *site.Frame) bool { return x.File == c.Site.File && x.Line == c.Site.Line })
	}
	if fine, file := effects.PureBelow(c.CPU, at); !fine || file {
		return false
	}
	for _, r := range slices.Concat(c.CPU, c.Allocs) {
		if i := at(r); i > 0 && !slices.Contains(c.Callees, r.Stack[i-1].Function) {
			c.Callees = append(c.Callees, r.Stack[i-1].Function) // they are not needed, whatever is wrong with them
		}
	}
	f.describe(c)
	return true
}
