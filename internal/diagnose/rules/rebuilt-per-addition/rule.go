// Package rebuiltperaddition finds functions that add one element to a collection and then compute
// something from all of its elements again.
package rebuiltperaddition

import (
	"fmt"
	"go/ast"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/sorts"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const (
	// leastElements is the minimum mean number of elements that each addition visits again.
	leastElements = 12
	// leastAdditions is the minimum number of additions in a run of a program that exits.
	leastAdditions = 24
)

// Rule is rebuilt-per-addition.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "rebuilt-per-addition",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "All elements processed again for each one that is added",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// Each match overrides it: of n elements, an addition needs the work of one.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.3, High: 1},
				Specificity: 1, // after rules that know how the one result can be kept up to date
				Removes:     true,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A method adds an element to a list or map of its object and then calls a
function that goes through all elements: it builds the ring of a consistent hash,
compiles all patterns, verifies a graph for cycles, or makes an index from
nothing. A program that adds n elements one by one, as most do when they start,
pays for n²/2. A test with three elements does not show it. The same holds if the
addition only marks the result as outdated, and each addition is followed by a use
that computes it again, as in a view that is drawn after each line.

Let the addition process the new element alone: hash its points and merge them
into the sorted ring, compile its pattern, search for cycles through the new edges.
Or remember that something was added, and compute the rest once, before the next
lookup, or from the last element that it has on. A method that adds many elements
at once also helps, if callers have them together.

It is fine for a few elements, and where each addition is followed by a lookup
that needs all of the result. The rule reports functions that visit at least
twelve elements again, on average, for each that they add.

Seen in the field: uber-go/dig#209 (the graph of constructors verified again for
each one that is provided), rivo/tview#266 (all lines of a view measured again for
each that is written).`

// rebuilt is a call that processes all elements of a collection after an addition to it.
type rebuilt struct {
	place    *gocode.Place // of the call
	callee   string        // as profiles name it
	name     string        // of the callee
	of       string        // the collection, as source names it
	added    int           // line of the addition
	where    string        // of the loop over all elements
	elements float64       // mean, for each run of the loop
	runs     float64       // of the loop, for each unit of work
}

type search struct {
	pass  *rule.Pass
	edges *finder.Edges[rebuilt]
}

func prepare(p *rule.Pass) []finder.Line {
	if p.Syntax == nil || p.Counts == nil {
		return nil
	}
	s := &search{pass: p}
	s.edges = finder.RememberEdges(s.look)
	judge := func(c *finder.Case) bool {
		r := s.edges.From(&c.Site.Frame)
		if r != nil {
			r.describe(c)
		}
		return r != nil
	}
	return []finder.Line{{Start: finder.Frames(s.caller), Judge: judge}, computedLater(p)}
}

// caller returns the frame of a row, nearest the leaf, that calls such a function after an
// addition; -1 for none.
func (s *search) caller(r *site.Row) int {
	for i := 1; i < len(r.Stack); i++ {
		f, below := r.Stack[i], r.Stack[i-1]
		if k := f.Owner.Kind; k != gocode.Main && k != gocode.Dependency {
			continue
		}
		if s.edges.At(f, below) != nil {
			return i
		}
	}
	return -1
}

// look returns the call on a line that processes all elements of a collection to which the function
// adds one before; nil for none.
func (s *search) look(f, below *site.Frame) *rebuilt {
	place, ok := s.pass.Syntax.At(f.File, f.Line)
	if !ok || place.Decl == nil || sorts.Sorting(below.Function) || f.Function == below.Function {
		return nil // sort-per-insert; a function that calls itself adds for its next step
	}
	for _, call := range syntax.CallsTo(place, below.Function) {
		for _, add := range additions(place, call) {
			w := walk{pass: s.pass, of: add.of, below: below}
			if w.through(place, call, 0); w.loop == nil || !w.computes {
				continue
			}
			if !s.each(place, add.node, call, w.counted.Entries) {
				continue
			}
			return &rebuilt{
				place: place, callee: below.Function, name: calleeName(place, call), of: add.text, added: syntax.Line(place, add.node.Pos()),
				where: w.where, elements: w.counted.Iterations, runs: w.counted.Entries,
			}
		}
	}
	return nil
}

// each reports whether a call, in which a loop runs so often, runs about once for each addition. An
// addition that seldom happens is not why the function runs; a call that seldom happens processes a
// batch when it is full, or checks all elements from time to time.
func (s *search) each(place *gocode.Place, add ast.Node, call *ast.CallExpr, loops float64) bool {
	added, known := evidence.ExecutionsAt(s.pass, place, add.Pos())
	called, counted := evidence.ExecutionsAt(s.pass, place, call.Pos())
	return known && counted && added.PerUnit >= 0.5*loops && called.PerUnit >= 0.5*added.PerUnit
}

func calleeName(p *gocode.Place, call *ast.CallExpr) string {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		return sel.Sel.Name
	}
	return syntax.Text(call.Fun)
}

func (r *rebuilt) describe(c *finder.Case) {
	c.Cause = fmt.Sprintf("%s adds one element to %s (line %d), and then %s processes all elements again, %s on average (%s). Adding n elements one by one costs n²/2 steps.",
		syntax.FuncName(c.Place), r.of, r.added, r.name, units.Number(r.elements), r.where)
	c.Fix = fmt.Sprintf("Process only the new element in %s. Or mark the result as outdated there, and call %s once before it is used; or add all elements first, in one call.",
		syntax.FuncName(c.Place), r.name)
	most := 1 - 2/(r.elements+1)
	c.Fraction = &rule.Fraction{Expect: 0.9 * most, Low: 0.3 * most, High: 1}
	c.Confidence, c.Callees = rule.Likely, []string{r.callee}
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s per %s, %s elements each", evidence.Times(r.runs), c.Pass.Manifest.Unit(), units.Number(r.elements))})
}
