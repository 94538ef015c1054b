// Package pixelthroughinterface finds loops that access an image's pixels through an interface.
package pixelthroughinterface

import (
	"fmt"
	"go/ast"
	"go/types"

	"github.com/hone-go/hone/internal/diagnose/evidence"
	"github.com/hone-go/hone/internal/diagnose/finder"
	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/syntax"
)

// leastPixels is how often a line must run for each unit of work, or each time that its function is
// called, to go through an image.
const leastPixels = 1000

// Rule is pixel-through-interface.
func Rule() rule.Rule {
	return rule.Rule{
		ID:    "pixel-through-interface",
		Kind:  rule.CPU,
		Needs: []rule.Need{rule.NeedCounts},
		Title: "Pixels of an image read or written one by one through an interface",
		Doc:   doc,
		Finder: finder.Patterns{
			Claim: rule.Claim{
				// A typed method costs a fifth, an index of Pix less.
				Fraction:    rule.Fraction{Expect: 0.8, Low: 0.5, High: 0.95},
				Specificity: 1,
			},
			Lines: []finder.Line{
				{
					Start: finder.Calls{
						Functions: append(methods(), "image/color.*"),
						Types:     append(funcname.TypedAll(methods()), "(image.Image).At", "(image/draw.Image).Set"),
					},
					Judge: judge,
				},
				{Start: finder.Rows(finder.TakeOwn), Judge: boxesColor},
			},
		},
	}
}

const doc = `At of an image.Image returns a color.Color, an interface: for most
kinds of images it puts the color on the heap, for each pixel, and the RGBA
method of the color is another call through an interface. Set of a draw.Image
takes such an interface, and converts the color to the image's color model.

Assert the type once before the loop (*image.RGBA, *image.YCbCr) and use its own
methods, RGBAAt, SetRGBA, YCbCrAt, or an index of Pix, row by row. RGBA64At of
image.RGBA64Image allocates nothing. If images may have any type, draw the image
into an *image.RGBA first with draw.Draw, which knows the common kinds. A type of
image of your own that has a method RGBA64At is an image.RGBA64Image: packages
image/draw and golang.org/x/image/draw take its colors without allocating them.

It is fine for a few pixels. The rule reports lines that run a thousand times
and more for each unit of work or each call of their function, as counted.

Seen in the field: golang/go#15759, golang/go#44808 (RGBA64Image was added for
it), nicolashahn/diffimg-go#2 (half the time).`

// methods are the methods of standard images that take or return a color.Color, as in profiles.
func methods() []string {
	var all []string
	for _, t := range []string{"RGBA", "NRGBA", "RGBA64", "NRGBA64", "Gray", "Gray16", "Alpha", "Alpha16", "CMYK", "Paletted", "YCbCr", "NYCbCrA", "Uniform"} {
		all = append(all, "image.(*"+t+").At", "image.(*"+t+").Set")
	}
	return all
}

func judge(c *finder.Case) bool {
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	if !ok || max(e.PerUnit, e.PerCall) < leastPixels {
		return false
	}
	call := c.Calls[0]
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || len(c.CPU) == 0 {
		return false
	}
	what, instead := "At returns a color.Color", "RGBAAt, YCbCrAt or an index of Pix"
	if sel.Sel.Name == "Set" {
		what, instead = "Set takes a color.Color", "SetRGBA or an index of Pix"
	}
	to := syntax.Text(sel.X)
	c.Cause = fmt.Sprintf("%s goes through an interface for each pixel, %s per %s: %s, which is converted, and often allocated, each time.",
		syntax.Text(call), evidence.Times(e.PerUnit), c.Pass.Manifest.Unit(), what)
	c.Fix = fmt.Sprintf("Assert the type of %s once before the loop (such as %s.(*image.RGBA)) and use %s. If images may have any type, convert them to an *image.RGBA with draw.Draw first.", to, to, instead)
	if !types.IsInterface(c.Place.TypeOf(sel.X)) {
		c.Fix = fmt.Sprintf("Use the methods of its own color type, or rows of its Pix: %s.", instead)
	}
	return true
}

// boxesColor judges the line of a method At that puts the color of each pixel on the heap.
func boxesColor(c *finder.Case) bool {
	e, ok := evidence.Executions(c.Pass, c.Site.Frame)
	decl := c.Place.Decl
	if !ok || e.PerUnit < leastPixels || decl == nil || decl.Recv == nil || decl.Name.Name != "At" || c.Place.Func != decl {
		return false
	}
	sig := syntax.SignatureOf(c.Place)
	if sig.Params().Len() != 2 || sig.Results().Len() != 1 || types.TypeString(sig.Results().At(0).Type(), nil) != "image/color.Color" {
		return false
	}
	recv := sig.Recv().Type()
	if has, _, _ := types.LookupFieldOrMethod(recv, true, c.Place.Pkg, "RGBA64At"); has != nil {
		return false
	}
	name := syntax.TypeText(c.Place, recv)
	c.Cause = fmt.Sprintf("At of %s returns a color.Color, an interface: each pixel's color is boxed on the heap, %s per %s.",
		name, evidence.Times(e.PerUnit), c.Pass.Manifest.Unit())
	c.Fix = fmt.Sprintf("Add a method RGBA64At(x, y int) color.RGBA64 to %s: it is an image.RGBA64Image then, of which image/draw and golang.org/x/image/draw take colors without allocating. Or draw into an *image.RGBA once and pass that.", name)
	c.Evidence = append(c.Evidence, evidence.Compiler(c.Pass, c.Site)...)
	return true
}
