// Package reflectsort finds calls of sort.Slice where package slices sorts without reflection.
package reflectsort

import (
	"fmt"
	"go/ast"
	"go/types"
	"go/version"

	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
	"github.com/hone-go/hone/profile/symbol"
)

// Rule is reflect-sort.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "reflect-sort",
		Kind:  rule.CPU,
		Title: "sort.Slice swaps by reflection",
		Doc:   doc,
		Finder: finder.Line{
			Claim: rule.Claim{
				// For 1000 elements slices.SortFunc took 90 µs instead of 153 (structs of 40 B),
				// slices.Sort 24 instead of 87 (ints). The comparisons themselves are charged to
				// the closure's own line.
				Fraction: rule.Fraction{Expect: 0.4, Low: 0.15, High: 0.7},
			},
			Start: finder.Calls{Functions: []string{"sort.Slice", "sort.SliceStable"}},
			Judge: judge,
		},
	}
}

const doc = `sort.Slice does not know the type of the elements: it gets a function that swaps
two of them from package reflect, and calls the comparison with indices, which
then has to index the slice twice. slices.SortFunc is compiled for the element's
type: swaps are moves, the comparison gets the elements, and for plain numbers
and strings slices.Sort compares them in place.

It is fine for short slices and cold paths, and in modules whose go line is
older than 1.21, which have no slices package: the rule reports nothing there.
SortFunc takes a comparison that returns a number (cmp.Compare). Neither sort is
stable; replace SliceStable with SortStableFunc.

Seen in the field: Go's own rewrite for it is the slicessort analyzer of go fix
(golang.org/x/tools/go/analysis/passes/modernize).`

func judge(c *finder.Case) bool {
	if v := c.Place.Pkg.GoVersion(); v != "" && version.Compare(v, "go1.21") < 0 {
		return false
	}
	var elem types.Type
	ok := c.All(func(call *ast.CallExpr) bool {
		if len(call.Args) != 2 {
			return false
		}
		t := c.Place.TypeOf(call.Args[0])
		if t == nil {
			return false
		}
		s, ok := t.Underlying().(*types.Slice)
		if ok {
			elem = s.Elem()
		}
		return ok
	})
	if !ok {
		return false // in an interface: only reflection can access the elements
	}
	call := c.Calls[0]
	variant := "slices.SortFunc"
	if c.Name() == "sort.SliceStable" {
		variant = "slices.SortStableFunc"
	}
	name := syntax.TypeText(c.Place, elem)
	c.Cause = fmt.Sprintf("%s swaps the elements of %s through a function made by reflection, and compares them by index.", symbol.Short(c.Name()), syntax.Text(call.Args[0]))
	c.Fix = fmt.Sprintf("Write %s(%s, func(a, b %s) int { … }) with cmp.Compare", variant, syntax.Text(call.Args[0]), name)
	if b, basic := elem.Underlying().(*types.Basic); basic && b.Info()&types.IsOrdered != 0 {
		c.Fix += fmt.Sprintf("; if the order is the natural one, slices.Sort(%s)", syntax.Text(call.Args[0]))
	}
	c.Fix += "."
	return true
}
