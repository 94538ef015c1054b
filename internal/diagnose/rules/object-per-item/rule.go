// Package objectperitem finds lines that allocate an object for each of many items of a request, of
// which hardly any lives on.
package objectperitem

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

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
	// leastShare of the program's CPU that allocating the objects and collecting them must take.
	leastShare = 0.2
	// leastTimes that the line must run per request or operation, or per run of a program that
	// exits: fewer may be one for each item of the answer.
	leastTimes, leastTimesRun = 200, 20_000
	leastPerLoop              = 20 // executions of the line per execution of the loop's function
	largest                   = 1024
	// kept is the share of the allocated bytes that may still be live.
	kept = 0.02
	// levels of callers in which the loop may be.
	levels = 4
)

// Rule is object-per-item.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "object-per-item",
		Kind:  rule.Alloc,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Short-lived object allocated for each of many items",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// A value costs a copy, a slot of a reused slice has to be found and cleared.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.4, High: 1},
				Specificity: -1,
			},
			Start: finder.Rows(take),
			Judge: judge,
		},
	}
}

const doc = `A search allocates a match for each document that it looks at, an iterator an
element for each step, a parser a token for each word. The objects are read once,
or compared with the best so far, and dropped. Each costs 20 to 100 ns in the
allocator, and the garbage collector runs more often.

Return the struct by value, or fill one that the caller passes. Where pointers are
needed, take the objects from a slice that the caller keeps and empties for the
next request, or from blocks of a hundred. Keep a copy only of those that stay.

It is fine where the objects are the answer, or few. The rule reports lines that
run two hundred times per request and more, in a loop, whose objects take a fifth
of the CPU and of which hardly any was live when the heap was measured.

Seen in the field: blevesearch/bleve#2098 (a match for each hit),
elliotchance/orderedmap#30 (an element for each step of an iteration).`

// take returns the rows of allocating single objects, not of growing a slice.
func take(s *site.Site) rule.Match {
	m := finder.TakeOwn(s)
	m.CPU = stacks.Select(m.CPU, func(r *site.Row) bool { return !stacks.Calls(r, "runtime.growslice*") })
	return m
}

func judge(c *finder.Case) bool {
	p, place := c.Pass, c.Place
	ran, ok := evidence.Executions(p, c.Site.Frame)
	least := float64(leastTimes)
	if p.Manifest.Unit() == "run" {
		least = leastTimesRun
	}
	bytes, objects := stacks.Sum(c.Allocs)
	if !ok || ran.PerUnit < least || objects == 0 || bytes/objects > largest {
		return false
	}
	live, _ := stacks.Sum(c.Live)
	spent := c.Site.Cost.MallocSeconds + c.Site.Cost.GCSeconds
	if float64(live) > kept*float64(bytes) || spent < leastShare*p.Table.Totals.TotalSeconds {
		return false
	}
	for _, n := range syntax.Allocating(place) {
		what := object(place, n)
		if what == "" || stored(place, n) {
			continue
		}
		where := inLoop(c, n, ran.PerCall)
		if where == "" {
			continue
		}
		c.Confidence = rule.Likely // whether something needs objects of their own is not known
		c.Cause = fmt.Sprintf("%s allocates %s of about %s for each item of %s, %s per %s, of which hardly any lives on: allocating and collecting them takes %s of the CPU.",
			syntax.FuncName(place), what, units.Bytes(float64(bytes)/float64(objects)), where, evidence.Times(ran.PerUnit), p.Manifest.Unit(),
			units.Percent(spent/p.Table.Totals.TotalSeconds))
		c.Fix = fix(place, n)
		c.Live = nil
		return true
	}
	return false
}

// inLoop describes the loop that makes a node run for each item; "" for none.
func inLoop(c *finder.Case, n ast.Node, perCall float64) string {
	if loop := c.Place.LoopAround(n); loop != nil && perCall >= leastPerLoop {
		return fmt.Sprintf("the loop on line %d", syntax.Line(c.Place, loop.Pos()))
	}
	row := stacks.Largest(c.Allocs)
	caller, ok := loops.Calling(c.Pass.Syntax, row.Stack, row.Owner, levels)
	if !ok {
		return ""
	}
	if ran, ok := evidence.Executions(c.Pass, *caller.Frame); !ok || ran.PerCall < leastPerLoop {
		return ""
	}
	return fmt.Sprintf("the loop on line %d of %s", caller.Line(), caller.Name())
}

// object describes what a node allocates, "a match" or "a []int"; "" for anything but structs,
// arrays and slices.
func object(p *gocode.Place, n ast.Node) string {
	var t types.Type
	switch n := n.(type) {
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			t = p.TypeOf(n.X)
		}
	case *ast.CompositeLit:
		t = p.TypeOf(n)
	case *ast.CallExpr:
		if name := p.CalleeName(n); name == "new" || name == "make" {
			t = p.TypeOf(n.Args[0])
		}
	}
	if t == nil {
		return ""
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array, *types.Slice:
		return "a " + syntax.TypeText(p, t)
	}
	return ""
}

func fix(p *gocode.Place, n ast.Node) string {
	if e, ok := n.(ast.Expr); ok {
		if _, slice := p.TypeOf(e).Underlying().(*types.Slice); slice {
			return "Take the slices as parts of one array that is made once per request, or kept by the caller and emptied for the next one. Copy only those that stay."
		}
	}
	return "Return the struct by value, or fill one that the caller passes. Where pointers are needed, take the objects from one slice that the caller keeps and empties for the next request. Copy only those that stay."
}
