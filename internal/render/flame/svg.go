package flame

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/symbol"
)

const (
	svgWidth  = 1200.0
	svgMargin = 8.0
	svgHead   = 44.0 // title and subtitle
	svgRow    = 18.0
	svgLetter = 6.6  // width of a letter of the 11 px monospaced font
	svgLeast  = 0.25 // narrower boxes, in px, are not drawn
)

// SVG draws the callees or, without these, the callers, with the root at the top. A tooltip on each
// box shows its function and value. The file has both themes; the viewer's preference selects one.
func SVG(w io.Writer, g *Graph) error {
	f := g.first()
	root := f.Boxes[0]
	scale := 0.0
	if root.Width > 0 {
		scale = (svgWidth - 2*svgMargin) / float64(root.Width)
	}
	deepest := int32(0)
	for _, b := range f.Boxes {
		if float64(b.Width)*scale >= svgLeast {
			deepest = max(deepest, b.Depth)
		}
	}
	height := svgHead + float64(deepest+1)*svgRow + svgMargin

	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="11">
<title>%s</title>
`, svgWidth, height, svgWidth, height, escape(g.Source+" · "+f.SampleType.Type))
	classes := g.svgStyle(out)
	fmt.Fprintf(out, `<rect class="back" width="100%%" height="100%%"/>
<text x="%g" y="19" font-size="14" font-weight="bold">%s</text>
<text x="%g" y="35" class="faint">%s</text>
`, svgMargin, escape(g.Source), svgMargin, escape(g.subtitle()))
	signed := g.signed()
	for _, b := range f.Boxes {
		if width := float64(b.Width) * scale; width >= svgLeast {
			g.svgBox(out, classes, signed, b, svgMargin+float64(b.X)*scale, width)
		}
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// svgStyle writes a class for each package, with its colour in both themes.
func (g *Graph) svgStyle(out io.Writer) map[string]string {
	classes := map[string]string{}
	var light, dark strings.Builder
	for _, fn := range g.first().Functions {
		pkg, _ := splitName(fn.Name)
		if classes[pkg] == "" {
			class := fmt.Sprintf("p%d", len(classes))
			classes[pkg] = class
			fmt.Fprintf(&light, ".%s{fill:%s}", class, tintOf(pkg).hex(.76))
			fmt.Fprintf(&dark, ".%s{fill:%s}", class, tintOf(pkg).dull().hex(.34))
		}
	}
	fmt.Fprintf(out, `<style>
rect{fill:#d7dae0;stroke:#fff;stroke-width:.6}.back{fill:#fff;stroke:none}text{fill:#1b1f24;pointer-events:none}.faint{fill:#667}
g:hover>rect{stroke:#1b1f24;stroke-width:1.4}.inlined{fill-opacity:.6}.more{fill:#f5c98f}.less{fill:#8fc3f5}
%s
@media(prefers-color-scheme:dark){rect{fill:#3a3e46;stroke:#16181c}.more{fill:#7d5320}.less{fill:#20537d}.back{fill:#16181c}text{fill:#e8eaed}.faint{fill:#99a}g:hover>rect{stroke:#fff}
%s}
</style>
`, light.String(), dark.String())
	return classes
}

// signed reports whether the graph shows a difference of profiles.
func (g *Graph) signed() bool {
	return slices.ContainsFunc(g.first().Boxes, func(b report.FlameBox) bool { return b.Value != b.Width })
}

func (g *Graph) svgBox(out io.Writer, classes map[string]string, signed bool, b report.FlameBox, x, width float64) {
	f := g.first()
	name, class, mark := "all", "", ""
	if b.Function >= 0 {
		name = f.Functions[b.Function].Name
		pkg, _ := splitName(name)
		class = classes[pkg]
	}
	if b.Inlined {
		class, mark = class+" inlined", " (inlined)"
	}
	sign := ""
	if signed {
		switch {
		case b.Value > 0:
			class, sign = "more", "▲ "
		case b.Value < 0:
			class, sign = "less", "▼ "
		default:
			class = ""
		}
	}
	value := func(v int64) string { return measure.Format(v, f.SampleType.Unit, "auto") }
	y := svgHead + float64(b.Depth)*svgRow
	fmt.Fprintf(out, `<g><title>%s%s: %s of %s (%s), self %s</title><rect class="%s" x="%s" y="%g" width="%s" height="%g"/>`,
		escape(sign+name), mark, value(b.Value), value(f.Total), strings.TrimSpace(measure.Percent(b.Value, f.Total)), value(b.Self),
		class, px(x), y, px(width), svgRow)
	if label := fit(sign+symbol.Short(name), int((width-6)/svgLetter)); label != "" {
		fmt.Fprintf(out, `<text x="%s" y="%g">%s</text>`, px(x+3), y+13, escape(label))
	}
	fmt.Fprintln(out, "</g>")
}

// escape escapes text for XML, and replaces control characters.
func escape(text string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}

// px formats a coordinate without digits that no screen can show.
func px(v float64) string { return fmt.Sprintf("%g", math.Round(v*100)/100) }

// subtitle describes the picture.
func (g *Graph) subtitle() string {
	f := g.first()
	s := f.SampleType.Type + " · " + measure.Format(f.Total, f.SampleType.Unit, "auto")
	if g.Duration > 0 {
		s += " over " + measure.Format(g.Duration, "nanoseconds", "auto")
	}
	return s
}

// fit cuts a text to n letters, or returns "" if these are too few to be useful.
func fit(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	if n < 4 {
		return ""
	}
	return string([]rune(text)[:n-1]) + "…"
}
