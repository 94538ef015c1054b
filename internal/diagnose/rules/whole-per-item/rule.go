// Package wholeperitem finds loops that process a whole collection again for each of their items.
package wholeperitem

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"github.com/hone-go/hone/internal/counts"
	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/loops"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/inputs"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is whole-per-item.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "whole-per-item",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedInputs, rule.NeedCounts},
		Title: "Whole collection processed again for each item of a loop",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match overrides it with the share of the iterations but the first.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.3, High: 1},
				Specificity: -1, // after rules that know the call
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop over items calls a function for each item, and something below it processes
all elements of another collection, the same ones each time: it reads all files
of a directory, checks all rules, or computes the state of a whole tree. The item
hardly matters for that part. The loop takes items times elements steps. A
profile shows only expensive functions, and the call looks like one of a single
item.

Do that part once, before the loop or after it: pass all items in one call, if
the package has one, keep what the part computes, or use an option that leaves it
out.

It is fine if the part depends on what each iteration changes, and is needed
before the next one. The rule uses counted executions and inputs: the part runs
about once in each iteration, and got the same input as in the iteration before;
a function below it is called at least 32 times in each iteration, with as many
different inputs in the whole recording as in one iteration, and returns the same
for the same input. It leaves alone loops that only count, such as the steps of a
simulation, and loops over channels.

Seen in the field: go-git/go-git#993 (Worktree.Add computes the status of the
whole tree for each path).`

const (
	// leastRuns is the minimum number of iterations in the recording, leastIterations the minimum
	// mean number each time that the loop is reached.
	leastRuns       = 20
	leastIterations = 3
	// leastElements is the minimum number of elements that each iteration processes.
	leastElements = 32
	// leastSame is the minimum share of repeated inputs and results that are the same.
	leastSame = 0.8
)

// part is what a loop repeats for each item.
type part struct {
	loop     *ast.RangeStmt
	call     *ast.CallExpr
	each     counts.Loop
	whole    *inputs.Function // runs once in each iteration
	element  *inputs.Function // runs for each element
	elements float64          // calls of element in each iteration
	spent    int64            // CPU in whole, in nanoseconds
	option   string           // what leaves the part out, for a sentence; "" for none
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	if p.Inputs == nil || p.Counts == nil || p.Syntax == nil || p.Benchmark() {
		return finder.Line{}
	}
	s := &search{pass: p, watched: map[string]*inputs.Function{}, edges: map[edge]*below{}, found: map[gocode.Pos]*part{}}
	s.collect()
	judge := func(c *finder.Case) bool {
		found := s.found[gocode.Pos{File: c.Site.File, Line: c.Site.Line}]
		if found != nil {
			found.describe(c)
		}
		return found != nil
	}
	return finder.Line{Start: finder.Frames(s.caller), Judge: judge}
}

// describe fills in the words for a part.
func (w *part) describe(c *finder.Case) {
	n := w.each.Iterations
	share := 1 - 1/n
	c.Confidence = rule.Likely // an iteration may need what the one before changed
	c.Fraction = &rule.Fraction{Expect: 0.9 * share, Low: 0.3 * share, High: 1}
	c.Callees = []string{w.whole.Name}
	whole, element := symbol.Short(funcname.Typed(w.whole.Name)), symbol.Short(funcname.Typed(w.element.Name))
	c.Cause = fmt.Sprintf("The loop on line %d calls %s for each item, %s times in a row, and each call runs %s, which processes the same whole collection again: %s gets %s different inputs, and is called %s times in each iteration, %s times in all.",
		syntax.Line(c.Place, w.loop.Pos()), syntax.Text(w.call.Fun), units.Number(n), whole, element, units.Count(w.element.Stable), units.Count(int64(w.elements+0.5)), units.Count(w.element.Calls))
	c.Fix = fmt.Sprintf("Run %s once for all items, before or after the loop: with a call that takes all items, or by keeping its result.", whole)
	if w.option != "" {
		c.Cause += " " + w.option + " leaves that out."
		c.Fix = fmt.Sprintf("Use %s, so that %s does not run for each item, if the items need nothing of it; else run it once for all items.", w.option, whole)
	}
	c.Evidence = append(c.Evidence, rule.Evidence{
		What: evidence.ExecutionsCounted, Value: fmt.Sprintf("%s: %s calls with %s different inputs", element, units.Count(w.element.Calls), units.Count(w.element.Stable)),
	})
}

// edge is a line, and a function that it calls.
type edge struct {
	line  gocode.Pos
	below string
}

// search is what the rows show below the loops of the program.
type search struct {
	pass    *rule.Pass
	watched map[string]*inputs.Function
	edges   map[edge]*below // nil for those that are in no loop over items
	found   map[gocode.Pos]*part
}

// below are the watched functions below an edge in a loop, with the CPU of their rows.
type below struct {
	loop  *ast.RangeStmt
	call  *ast.CallExpr
	each  counts.Loop
	runs  float64 // of the line in the recording
	spent map[string]int64
	above map[string]*site.Frame // the line that calls a function, of one of its rows
	pairs map[[2]string]bool     // an outer and an inner function
}

func edgeOf(r *site.Row, i int) edge {
	return edge{gocode.Pos{File: r.Stack[i].File, Line: r.Stack[i].Line}, r.Stack[i-1].Function}
}

// collect finds the parts of all lines.
func (s *search) collect() {
	for i := range s.pass.Inputs.Functions {
		s.watched[s.pass.Inputs.Functions[i].Name] = &s.pass.Inputs.Functions[i]
	}
	s.pass.EachRow(func(r *site.Row) {
		for i, f := range r.Stack {
			if i == 0 || f.Owner.Kind != gocode.Main {
				continue
			}
			e := edgeOf(r, i)
			b, seen := s.edges[e]
			if !seen {
				b = s.loop(f, e.below)
				s.edges[e] = b
			}
			if b != nil {
				s.add(b, r, i)
			}
		}
	})
	for e, b := range s.edges {
		if b == nil {
			continue
		}
		found, other := s.part(b), s.found[e.line]
		if found != nil && (other == nil || found.spent > other.spent || found.spent == other.spent && found.whole.Name < other.whole.Name) {
			s.found[e.line] = found
		}
	}
}

// loop returns the loop over items in which a line calls a function, without what is below; nil for
// none.
func (s *search) loop(f *site.Frame, callee string) *below {
	ran, ok := evidence.Executions(s.pass, *f)
	runs := ran.PerUnit * max(1, s.pass.Inputs.Units)
	if !ok || runs < leastRuns {
		return nil
	}
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok {
		return nil
	}
	call := loops.CallTo(place, callee)
	loop := overItems(place, call)
	if loop == nil {
		return nil
	}
	each, ok := s.pass.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, loop.Pos()))
	if !ok || each.Iterations < leastIterations {
		return nil
	}
	return &below{loop: loop, call: call, each: each, runs: runs, spent: map[string]int64{}, above: map[string]*site.Frame{}, pairs: map[[2]string]bool{}}
}

// add adds a row that passes through the frame i.
func (s *search) add(b *below, r *site.Row, i int) {
	var outer []string
	for j := i - 1; j >= 0; j-- {
		f := s.watched[r.Stack[j].Function]
		if f == nil {
			continue
		}
		if elements(f, b.runs) {
			for _, o := range outer {
				b.pairs[[2]string{o, f.Name}] = true
			}
		}
		if once(f, b.runs) {
			outer = append(outer, f.Name)
		}
		if b.above[f.Name] == nil {
			b.above[f.Name] = r.Stack[j+1]
		}
		b.spent[f.Name] += r.Value
	}
}

// part returns what a loop repeats for each item; nil for nothing.
func (s *search) part(b *below) *part {
	var most [2]string
	for pair := range b.pairs {
		if most[0] == "" || longer(b, pair, most) {
			most = pair
		}
	}
	if most[0] == "" {
		return nil
	}
	w := &part{loop: b.loop, call: b.call, each: b.each, spent: b.spent[most[0]], whole: s.watched[most[0]], element: s.watched[most[1]]}
	w.elements = float64(w.element.Calls) / b.runs
	w.option = option(s.pass, b.above[most[0]], most[0])
	return w
}

// longer reports whether a pair of functions takes more CPU than another.
func longer(b *below, a, than [2]string) bool {
	if a[0] != than[0] {
		return b.spent[a[0]] > b.spent[than[0]] || b.spent[a[0]] == b.spent[than[0]] && a[0] < than[0]
	}
	return b.spent[a[1]] > b.spent[than[1]] || b.spent[a[1]] == b.spent[than[1]] && a[1] < than[1]
}

// overItems returns the loop around a call if it is over a list or a map, and the call gets its
// item; nil otherwise.
func overItems(p *gocode.Place, call *ast.CallExpr) *ast.RangeStmt {
	if call == nil {
		return nil
	}
	around := loops.Around(p, call)
	if len(around) == 0 {
		return nil
	}
	loop, ok := around[0].(*ast.RangeStmt)
	if !ok {
		return nil
	}
	switch t := p.TypeOf(loop.X).Underlying().(type) {
	case *types.Slice, *types.Array, *types.Map:
	case *types.Pointer:
		if _, ok := t.Elem().Underlying().(*types.Array); !ok {
			return nil
		}
	default:
		return nil
	}
	gets := false
	ast.Inspect(call, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		for _, item := range []ast.Expr{loop.Key, loop.Value} {
			of, named := item.(*ast.Ident)
			gets = gets || ok && named && p.Object(of) != nil && p.Object(id) == p.Object(of)
		}
		return !gets
	})
	if !gets {
		return nil
	}
	return loop
}

// once reports whether a function runs about once in each iteration, with the input of the one
// before: its input does not depend on the item.
func once(f *inputs.Function, runs float64) bool {
	if f.Stopped || len(f.Again) == 0 || f.Hashed != f.Calls {
		return false
	}
	k, again := float64(f.Calls)/runs, f.Again[0]
	return k >= 0.9 && k <= 1.2 && float64(again.Calls) >= leastSame*float64(f.Calls) && float64(again.Same) >= leastSame*float64(again.Calls)
}

// elements reports whether a function runs for each element of one collection in each iteration,
// and returns the same for the same element.
func elements(f *inputs.Function, runs float64) bool {
	if f.Stopped || f.Hashed != f.Calls || f.Compared == 0 || float64(f.Same) < leastSame*float64(f.Compared) {
		return false
	}
	k := float64(f.Calls) / runs
	return k >= leastElements && float64(f.Stable) >= 0.7*k && float64(f.Stable) <= 1.2*k
}

// caller returns the index of the frame whose loop repeats a part, for rows in that part; -1 for
// others. It fits [finder.Frames].
func (s *search) caller(r *site.Row) int {
	for i, f := range r.Stack {
		if i == 0 || f.Owner.Kind != gocode.Main || s.edges[edgeOf(r, i)] == nil {
			continue
		}
		found := s.found[gocode.Pos{File: f.File, Line: f.Line}]
		if found != nil && slices.ContainsFunc(r.Stack[:i], func(b *site.Frame) bool { return b.Function == found.whole.Name }) {
			return i
		}
	}
	return -1
}
