// Package quadraticsort finds lists that the program sorts itself, in quadratic time.
package quadraticsort

import (
	"context"
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

// least is the minimum mean length of the lists: below, insertion is as fast as any other sort.
const least = 64

// Rule is quadratic-sort.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "quadratic-sort",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "List sorted by comparing all pairs of elements",
		Doc:   doc,
		Finder: finder.Prepared{
			Claim: rule.Claim{
				// 64 elements take 2,000 comparisons instead of 400, 1,000 take 500,000 instead of
				// 10,000.
				Fraction:    rule.Fraction{Expect: 0.93, Low: 0.6, High: 1},
				Specificity: 1,
			},
			Prepare: prepare,
		},
	}
}

const doc = `Two nested loops compare each element of a list with all that follow and swap
them (bubble sort, selection sort), or move each element to its place among
those before (insertion sort). That takes about n²/2 comparisons: 500,000 for a
thousand elements, where slices.SortFunc needs 10,000.

Use slices.Sort, slices.SortFunc or slices.SortStableFunc. If only the first few
elements are needed, one pass that keeps them is enough.

It is fine for short lists, and for lists that are almost in order already. The
rule reports such loops if the list had 64 elements and more on average, and the
inner loop ran for an eighth of all pairs at least.

Seen in the field: LdDl/horizon#45.`

// sorting is two nested loops that sort a list.
type sorting struct {
	list   ast.Expr
	length float64 // of the list, mean
	inner  float64 // iterations of the inner loop for each list, mean
}

func prepare(_ context.Context, p *rule.Pass) finder.Line {
	found := finder.Remember(p, func(f *site.Frame, place *gocode.Place) *sorting { return sorts(p, f, place) })
	return finder.Line{Start: finder.Frames(found.Nearest), Judge: func(c *finder.Case) bool {
		s := found.At(&c.Site.Frame)
		if s == nil {
			return false
		}
		list := syntax.Text(s.list)
		c.Allocs, c.Live = nil, nil
		c.Confidence = rule.Likely
		c.Cause = fmt.Sprintf("Two nested loops sort %s by comparing its elements pair by pair: lists of %s elements took %s comparisons each, and the time grows with the square of the length.",
			list, units.Number(s.length), units.Number(s.inner))
		c.Fix = fmt.Sprintf("Use slices.SortFunc(%s, …) with a function that compares two elements: it needs about n·log₂(n) comparisons.", list)
		if ordered(syntax.Elem(c.Place.TypeOf(s.list))) {
			c.Fix = fmt.Sprintf("Use slices.Sort(%s): it needs about n·log₂(n) comparisons. For the reverse order, slices.SortFunc.", list)
		}
		c.Evidence = append(c.Evidence, rule.Evidence{What: evidence.ExecutionsCounted,
			Value: fmt.Sprintf("%s iterations of the outer loop, %s of the inner one for each list", units.Number(s.length), units.Number(s.inner))})
		return true
	}}
}

// ordered reports whether values of a type are numbers or texts, which slices.Sort compares itself.
func ordered(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsOrdered != 0
}

// sorts returns the sort that a line is part of; nil for none.
func sorts(p *rule.Pass, f *site.Frame, place *gocode.Place) *sorting {
	var nest []ast.Stmt // loops around the line, outermost first
	ast.Inspect(syntax.Body(place), func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return n == place.Func
		case *ast.ForStmt, *ast.RangeStmt:
			if syntax.Line(place, n.Pos()) <= place.Line && place.Line <= syntax.Line(place, n.End()) {
				nest = append(nest, n.(ast.Stmt))
			}
		}
		return true
	})
	for i := 0; i+1 < len(nest); i++ {
		outer, inner := nest[i], nest[i+1]
		list := sortedBy(place, outer, inner)
		if list == nil {
			continue
		}
		all, ok1 := p.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, outer.Pos()))
		each, ok2 := p.Counts.Loop(f.Owner.Package, f.File, syntax.Line(place, inner.Pos()))
		if !ok1 || !ok2 || all.Iterations < least {
			return nil
		}
		s := &sorting{list: list, length: all.Iterations, inner: all.Iterations * each.Iterations}
		if s.inner < all.Iterations*all.Iterations/8 {
			return nil
		}
		return s
	}
	return nil
}
