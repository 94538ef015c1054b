package render

import (
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/hone-go/hone/internal/layout"
	"github.com/hone-go/hone/profile/report"
)

//go:embed callgraph.css
var callgraphCSS string

//go:embed callgraph.js
var callgraphJS string

// Sizes of the picture, in pixels. Text is set in a monospaced font, so that its width is known
// without measuring it.
const (
	letterWidth = 0.61 // of the size of the text
	lineHeight  = 1.25
	costSize    = 11.0
	headSize    = 13.0
	padding     = 6.0
)

// CallGraphSVG draws the call graph as one self-contained SVG file: drag to move, scroll to zoom,
// click a node to highlight its callers and callees.
func CallGraphSVG(w io.Writer, p GraphPage) error {
	g, value := p.Graph, p.value()
	labels := make([]nodeLabel, len(g.Nodes))
	for i := range g.Nodes {
		labels[i] = newNodeLabel(&g.Nodes[i], g.Total, value)
	}
	l, err := layout.Layered(boxes(g, labels, value), layout.Options{NodeGap: 24, LayerGap: 34, Margin: 16})
	if err != nil {
		return err
	}
	title, notes := p.head()
	head := append(title, notes...)
	top := headSize*lineHeight*float64(len(head)) + 16
	width := l.Width
	for _, line := range head {
		width = max(width, textWidth(line, headSize)+32)
	}
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="100%%" height="100%%" viewBox="0 0 %.0f %.0f" preserveAspectRatio="xMidYMin meet">`+"\n", width, top+l.Height)
	fmt.Fprintf(w, "<title>%s</title>\n<style>%s</style>\n", escape(p.Source), callgraphCSS)
	fmt.Fprintln(w, `<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 1 10 5 0 9z"/></marker></defs>`)
	fmt.Fprintln(w, `<rect class="page" x="-100000" y="-100000" width="200000" height="200000"/>`)
	for i, line := range head {
		class := "head"
		if i > len(title) {
			class = "note"
		}
		fmt.Fprintf(w, `<text class="%s" x="16" y="%.1f" font-size="%g">%s</text>`+"\n", class, 8+headSize*lineHeight*float64(i+1), headSize, escape(line))
	}
	fmt.Fprintf(w, `<g transform="translate(%.1f %.1f)">`+"\n", (width-l.Width)/2, top)
	for i, e := range g.Edges {
		drawEdge(w, g, e, l.Edges[i], value)
	}
	for i := range g.Nodes {
		drawNode(w, i, &g.Nodes[i], labels[i], l.Nodes[i], g.Total)
	}
	_, err = fmt.Fprintf(w, "</g>\n<script>//<![CDATA[\n%s//]]></script>\n</svg>\n", callgraphJS)
	return err
}

// boxes returns the graph to lay out, with nodes and labels as large as their text.
func boxes(g *report.CallGraph, labels []nodeLabel, value func(int64) string) layout.Graph {
	var out layout.Graph
	for _, l := range labels {
		out.Nodes = append(out.Nodes, l.box())
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, layout.Edge{
			From: int(e.From), To: int(e.To), Weight: 20 * shareOf(e.Weight, g.Total),
			LabelWidth: textWidth(callLabel(e, value), costSize) + 4, LabelHeight: costSize * lineHeight,
		})
	}
	return out
}

func (l nodeLabel) box() layout.Node {
	n := layout.Node{Width: 30, Height: 2 * padding}
	for _, line := range l.lines() {
		n.Width = max(n.Width, textWidth(line.text, line.size)+2*padding)
		n.Height += line.size * lineHeight
	}
	return n
}

type labelLine struct {
	text, class string
	size        float64
}

// lines returns the lines of a node: the package in small letters, the function in a size that
// grows with its flat value, the costs in small letters.
func (l nodeLabel) lines() []labelLine {
	var out []labelLine
	for i, text := range l.name {
		line := labelLine{text, "name", l.size}
		if i == 0 && len(l.name) > 1 {
			line.class, line.size = "package", max(costSize, 0.7*l.size)
		}
		out = append(out, line)
	}
	for _, text := range l.cost {
		out = append(out, labelLine{text, "cost", costSize})
	}
	return out
}

func textWidth(s string, size float64) float64 {
	return letterWidth * size * float64(utf8.RuneCountInString(s))
}

func drawNode(w io.Writer, i int, n *report.Node, l nodeLabel, at layout.Point, total int64) {
	box := l.box()
	x, y := at.X-box.Width/2, at.Y-box.Height/2
	rect := fmt.Sprintf(`x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="3"`, x, y, box.Width, box.Height)
	heat := "hot"
	if n.Cum < 0 {
		heat = "cold"
	}
	fmt.Fprintf(w, `<g class="node" data-node="%d" data-function="%s" tabindex="0"><title>%s</title><rect class="box" %s/>`, i, escape(n.Name), escape(l.tip), rect)
	fmt.Fprintf(w, `<rect class="%s" %s fill-opacity="%.2f" stroke-opacity="%.2f"/>`, heat, rect,
		0.5*math.Sqrt(min(1, shareOf(n.Cum, total))), 0.2+0.8*math.Sqrt(min(1, shareOf(n.Cum, total))))
	y += padding
	for _, line := range l.lines() {
		y += line.size * lineHeight
		fmt.Fprintf(w, `<text class="%s" x="%.1f" y="%.1f" font-size="%.1f">%s</text>`, line.class, at.X, y-0.3*line.size, line.size, escape(line.text))
	}
	fmt.Fprintln(w, "</g>")
}

func drawEdge(w io.Writer, g *report.CallGraph, e report.Edge, r layout.Route, value func(int64) string) {
	if len(r.Curve) == 0 {
		return
	}
	class := "edge"
	if e.Residual {
		class += " residual"
	}
	if e.Weight < 0 {
		class += " less"
	}
	share := min(1, shareOf(e.Weight, g.Total))
	fmt.Fprintf(w, `<g class="%s" data-from="%d" data-to="%d"><title>%s</title><path d="%s" stroke-width="%.1f" stroke-opacity="%.2f" marker-end="url(#tip)"/>`,
		class, e.From, e.To, escape(callTip(g, e, value)), curve(r.Curve), 1+4*share, 0.35+0.65*math.Sqrt(share))
	fmt.Fprintf(w, `<text x="%.1f" y="%.1f" font-size="%g">%s</text></g>`+"\n", r.Label.X, r.Label.Y+0.35*costSize, costSize, escape(callLabel(e, value)))
}

// curve returns the SVG path for a chain of Bézier curves.
func curve(points []layout.Point) string {
	var b strings.Builder
	for i, p := range points {
		switch {
		case i == 0:
			b.WriteByte('M')
		case i%3 == 1:
			b.WriteByte('C')
		default:
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%.1f %.1f", p.X, p.Y)
	}
	return b.String()
}

// escape escapes text for XML; characters that XML does not allow become U+FFFD.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
