// Package listperelement finds loops over a list inside of a loop over the same list that do the
// same in each iteration of the outer loop.
package listperelement

import (
	"context"
	"fmt"
	"go/ast"

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
	// least is the minimum mean number of elements of the inner loop.
	least = 16
	// mostly is the minimum share of the outer loop's iterations that run the inner one, and of the
	// list that the inner one goes through before it ends.
	mostly = 0.5
)

// Rule is list-per-element.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "list-per-element",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "A list gone through again for each of its own elements",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// Each match has its own fraction: of n runs of the inner loop, one or two remain.
				Fraction:    rule.Fraction{Expect: 0.9, Low: 0.5, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `A loop goes through a list, and for each element a loop inside of it goes
through the same list again: n² steps. What the inner loop does with an element
depends on that element alone, not on the one of the outer loop, or only on
whether both are the same. So it computes the same again and again: whether any
element passes a test, or the sum of the others. The second list may look like
another one, as that of the siblings of a node, found through its parent. Or a
function that the outer loop calls goes through it.

Go through the list once before the outer loop, and keep what it needs: a flag, a
count or a sum (that of the others is the total without the element), the largest
and the second largest. If the inner loop was meant to go through something else,
such as the children of the element, go through those.

It is fine for a few elements. The rule reports inner loops with at least sixteen
iterations that run in most iterations of the outer loop, as counted in the
recording. It leaves alone loops that compare the elements of a pair, whose
result is a list, or which read what the outer loop changes.

Seen in the field: gomarkdown/markdown (the end of each list compared all blocks
beside it).`

// nest is a loop inside of a loop over the same list.
type nest struct {
	outer, inner     ast.Node
	call             *ast.CallExpr // of what has the inner loop; nil if the outer loop's function has it
	in               *gocode.Place // the function that call calls, if its source has the inner loop
	all, again       loops.Elements
	up               bool // the inner list is found through the parent of the outer element
	outside, counted counts.Loop
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	nests := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *nest { return nestAt(p, f, place) })
	return finder.Line{Start: finder.Frames(nests.Nearest), Judge: func(c *finder.Case) bool {
		n := nests.At(&c.Site.Frame)
		if n != nil {
			n.describe(c)
		}
		return n != nil
	}}
}

// nestAt returns the nest whose inner loop has a line; nil for none.
func nestAt(p *rule.Pass, f *site.Frame, place *gocode.Place) *nest {
	around := nested(place)
	for i := 0; i+1 < len(around); i++ {
		n := &nest{outer: around[i], inner: around[i+1]}
		var ok bool
		if n.all, ok = loops.ElementsOf(place, n.outer); !ok {
			continue
		}
		if n.again, ok = loops.ElementsOf(place, n.inner); !ok {
			continue
		}
		if ok, n.up = n.all.Again(place, n.again); !ok {
			continue
		}
		if n.often(p, f, place) && repeats(place, n, loops.Body(n.outer), loops.Body(n.inner)) {
			return n
		}
	}
	return nestBelow(p, f, place)
}

// nested returns the loops of the function around a line, outermost first, including those whose
// head is on the line.
func nested(place *gocode.Place) (all []ast.Node) {
	ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return n == place.Func
		case *ast.ForStmt, *ast.RangeStmt:
			if syntax.Line(place, n.Pos()) <= place.Line && place.Line <= syntax.Line(place, n.End()) {
				all = append(all, n)
			}
		}
		return true
	})
	return all
}

// often reports whether the inner loop is frequent, as counted.
func (n *nest) often(p *rule.Pass, f *site.Frame, place *gocode.Place) bool {
	var ok1, ok2 bool
	n.outside, ok1 = p.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, n.outer.Pos()))
	n.counted, ok2 = p.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, n.inner.Pos()))
	return ok1 && ok2 && n.frequent()
}

func (n *nest) describe(c *finder.Case) {
	outer, inner := syntax.Text(n.all.List), syntax.Text(n.again.List)
	line := syntax.Line(c.Place, n.outer.Pos())
	same := "all of them"
	if n.up {
		same = fmt.Sprintf("all of %s (the list that the element itself is in)", inner)
	} else if inner != outer && n.in == nil {
		same = fmt.Sprintf("all of %s (the same list)", inner)
	}
	again := fmt.Sprintf("the loop on line %d", syntax.Line(c.Place, n.inner.Pos()))
	if n.in != nil {
		again = fmt.Sprintf("the loop on line %d of %s", syntax.Line(n.in, n.inner.Pos()), syntax.FuncName(n.in))
	} else if n.call != nil {
		again = syntax.Text(n.call.Fun)
	}
	c.Cause = fmt.Sprintf("The loop on line %d goes through %s, and for each element %s goes again through %s, %s on average: n² steps, %s per %s. "+
		"What the inner loop does with an element does not depend on the element of the outer one.",
		line, outer, again, same, units.Number(n.counted.Iterations), evidence.Times(n.outside.Entries), c.Pass.Manifest.Unit())
	c.Fix = fmt.Sprintf("Go through %s once, before the loop on line %d, and keep what that needs: whether an element passes, how many do, or their sum.", outer, line)
	if n.up {
		c.Fix += " If the elements below each element were meant, not those beside it, go through those."
	}
	one := 1 / n.counted.Iterations
	c.Fraction = &rule.Fraction{Expect: 0.95 * (1 - one), Low: 0.5, High: 1}
	c.Confidence = rule.Likely
	c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
		Value: fmt.Sprintf("%s iterations of the outer loop, %s of the inner one, %s per %s", units.Number(n.outside.Iterations), units.Number(n.counted.Iterations*n.outside.Iterations), evidence.Times(n.outside.Entries), c.Pass.Manifest.Unit())})
}
