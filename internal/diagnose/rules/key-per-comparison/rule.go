// Package keypercomparison finds sorts that derive the key of an element again for each comparison.
package keypercomparison

import (
	"context"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// Rule is key-per-comparison.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "key-per-comparison",
		Kind:  rule.CPU,
		Title: "Key of an element computed again for each comparison of a sort",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// A sort of n elements makes about n·log₂(n) comparisons of two keys each; n keys
				// remain. That saves nine tenths for 32 elements, and keeping the keys costs little
				// compared with computing them.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.6, High: 1},
				Specificity: 1,
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A comparison parses a date, converts a name to lower case, splits a
version or formats two fields into one text, for both of its elements. A sort of
n elements makes about n·log₂(n) comparisons, so each key of a thousand elements
is computed about twenty times, and allocated as often. So does a priority queue
(container/heap) for its elements.

Compute the key of each element once before the sort: in a field, or in a slice
of struct{ key; element } that is sorted by the key. Where a comparison needs no
key, it need not allocate one: compare the parts one after the other with
cmp.Or, compare byte by byte and ignore case, compare time.Time values instead
of their texts.

It is fine for short lists, and for keys that cost nothing, such as the result of
a getter. The rule reports calls in comparisons that depend on one of the two
elements only, and that do work of their own according to the profile.

Seen in the field: autobrr/qui#2319 (strings.ToLower in the comparisons of a
list); tailscale/tailscale#14457 (sorts that allocate in their comparisons).`

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	s := search{pass: p, known: map[at]*key{}, first: map[gocode.Pos]*key{}}
	return finder.Line{Start: finder.Frames(s.caller), Judge: s.judge}
}

// search remembers what the lines of comparisons compute.
type search struct {
	pass  *rule.Pass
	known map[at]*key
	first map[gocode.Pos]*key
}

// at is a call on a line of a comparison.
type at struct {
	pos    gocode.Pos
	callee string
}

// key is an expression of a comparison that depends on one of the two elements.
type key struct {
	expr ast.Expr
	std  bool // a call of the standard library, or a concatenation
	heap bool // the comparison orders a heap
}

// caller returns the index of the comparison's frame in a row that computes a key below a sort; -1
// for other rows.
func (s *search) caller(r *site.Row) int {
	sorting := slices.IndexFunc(r.Stack, func(f *site.Frame) bool { return sorts.Sorting(f.Function) || heaped(f.Function) })
	for i := sorting - 1; i >= 0; i-- { // from the sort towards the leaf
		f := r.Stack[i]
		if f.Owner.Kind != gocode.Main && f.Owner.Kind != gocode.Dependency {
			continue
		}
		callee := ""
		if i > 0 {
			callee = r.Stack[i-1].Function
		}
		if k := s.at(f, callee); k != nil {
			k.heap = heaped(r.Stack[sorting].Function)
			return i
		}
		if f.Owner.Kind != gocode.Main || !s.passesOn(f, callee) {
			return -1
		}
	}
	return -1
}

// heaped reports whether a function orders a heap.
func heaped(function string) bool { return strings.HasPrefix(function, "container/heap.") }

// passesOn reports whether a line of a comparison calls a function with both elements: a comparison
// that several sorts share.
func (s *search) passesOn(f *site.Frame, callee string) bool {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || place.Decl == nil {
		return false
	}
	c := comparison(place)
	return c != nil && slices.ContainsFunc(syntax.CallsTo(place, callee), func(call *ast.CallExpr) bool { return c.of(call) == 2 })
}

func (s *search) at(f *site.Frame, callee string) *key {
	id := at{gocode.Pos{File: f.File, Line: f.Line}, callee}
	found, seen := s.known[id]
	if seen {
		return found
	}
	if place, ok := s.pass.Syntax.At(f.File, f.Line); ok && place.Decl != nil {
		found = keyOn(place, callee)
	}
	s.known[id] = found
	if found != nil && s.first[id.pos] == nil {
		s.first[id.pos] = found
	}
	return found
}

const (
	// leastEach is the minimum time in seconds of a line's keys in one comparison, where executions
	// were counted.
	leastEach = 20e-9
	// mostlyBelow is the minimum share of a function's cost that must be in what it calls or
	// allocates, if it is not of the standard library: a getter has no work of its own.
	mostlyBelow = 0.3
	// leastOwn is the time in seconds of a line's keys in one comparison from which their functions
	// have work of their own in any case.
	leastOwn = 100e-9
)

func (s *search) judge(c *finder.Case) bool {
	k := s.first[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
	if k == nil {
		return false
	}
	seconds, _ := stacks.Sum(c.CPU)
	each, counted := evidence.PerExecution(c.Pass, c.Site.Frame, float64(seconds)/1e9)
	if counted && each < leastEach || !k.std && !(counted && each >= leastOwn) && !works(c) {
		return false
	}
	text := syntax.Text(k.expr)
	by := "the sort"
	if k.heap {
		by = "the heap"
	}
	c.Cause = fmt.Sprintf("%s depends on one element, and %s computes it again for each comparison: about 2·log₂(n) times for each of n elements.", text, by)
	if e, ok := evidence.Executions(c.Pass, c.Site.Frame); ok && counted {
		c.Cause += fmt.Sprintf(" The line runs %s per %s, %s each.", evidence.Times(e.PerUnit), c.Pass.Manifest.Unit(), units.Seconds(each))
	}
	c.Fix = fmt.Sprintf("Compute %s once for each element before the sort, in a field or in a slice of struct{ key; element }, and compare the keys.", text)
	if k.heap {
		c.Fix = fmt.Sprintf("Compute %s once for each element, when it is created, keep it in a field, and compare the fields.", text)
	}
	return true
}

// works reports whether a good part of the cost of the key's function is in what it calls, or it
// allocates.
func works(c *finder.Case) bool {
	if _, objects := stacks.Sum(c.Allocs); objects > 0 {
		return true
	}
	var all, below int64
	for _, r := range c.CPU {
		all += r.Value
		if len(r.Stack) > 1 && r.Stack[0].Owner.Kind == gocode.Std && !funcname.Match(r.Stack[0].Function, "runtime.asyncPreempt") {
			below += r.Value
		}
	}
	return float64(below) >= mostlyBelow*float64(all)
}
