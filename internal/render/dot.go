package render

import (
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
	"github.com/hone-go/hone/profile/symbol"
)

// Dot writes the call graph in the DOT language of Graphviz, with the weights, widths and dotted
// residual edges of pprof's output.
func Dot(w io.Writer, p GraphPage) {
	g, value := p.Graph, p.value()
	title, notes := p.head()
	fmt.Fprintf(w, "digraph %s {\n", dotQuote(p.Source))
	fmt.Fprintln(w, `node [style=filled fillcolor="#f8f8f8" shape=box]`)
	fmt.Fprintf(w, "L [shape=note fontsize=14 label=%s]\n", dotQuote(strings.Join(append(title, notes...), "\n")+"\n"))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		l := newNodeLabel(n, g.Total, value)
		fmt.Fprintf(w, "N%d [label=%s fontsize=%.0f tooltip=%s]\n", i+1,
			dotQuote(strings.Join(append(l.name, l.cost...), "\n")), l.size, dotQuote(l.tip))
	}
	for _, e := range g.Edges {
		share := shareOf(e.Weight, g.Total)
		fmt.Fprintf(w, "N%d -> N%d [label=%s weight=%d penwidth=%d tooltip=%s", e.From+1, e.To+1, dotQuote(" "+callLabel(e, value)),
			1+int(min(100*share, 100)), 1+int(min(5*share, 5)), dotQuote(callTip(g, e, value)))
		if e.Residual {
			fmt.Fprint(w, ` style="dotted"`)
		}
		fmt.Fprintln(w, "]")
	}
	fmt.Fprintln(w, "}")
}

// dotQuote quotes a string for DOT; its lines are left-aligned.
func dotQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\l`).Replace(s) + `"`
}

func shareOf(v, total int64) float64 {
	if total == 0 {
		return 0
	}
	return math.Abs(float64(v) / float64(total))
}

// nodeLabel is the text in a node's box.
type nodeLabel struct {
	name []string // package, then function, then place
	cost []string // flat, then cum if it differs
	tip  string
	size float64 // size of the name's text, which grows with flat as in pprof
}

func newNodeLabel(n *report.Node, total int64, value func(int64) string) nodeLabel {
	l := nodeLabel{tip: fmt.Sprintf("%s\nflat %s, cum %s", n, value(n.Flat), value(n.Cum))}
	name := shortName(n.Name)
	if pkg, function, ok := strings.Cut(name, "."); ok && !strings.ContainsAny(pkg, "[<( ") {
		l.name = append(l.name, clip(pkg, 40), clip(function, 40))
	} else if name != "" {
		l.name = append(l.name, clip(name, 40))
	}
	bare := report.Node{File: path.Base(n.File), Line: n.Line, Column: n.Column, Address: n.Address, Object: n.Object}
	if n.File == "" {
		bare.File = ""
	}
	if n.Line != 0 || n.File != "" || n.Address != 0 || name == "" {
		l.name = append(l.name, bare.String())
	}
	share := func(v int64) string { return " (" + strings.TrimSpace(measure.Percent(v, total)) + ")" }
	if n.Flat != 0 {
		l.cost = append(l.cost, value(n.Flat)+share(n.Flat))
	}
	if n.Cum != n.Flat {
		of := "of "
		if n.Flat == 0 {
			of = "0 of "
		}
		l.cost = append(l.cost, of+value(n.Cum)+share(n.Cum))
	}
	l.size = 11 + math.Ceil(13*math.Sqrt(min(1, shareOf(n.Flat, total))))
	return l
}

// shortName leaves out the path of the package and the arguments of generic functions.
func shortName(name string) string {
	var b strings.Builder
	depth := 0
	for _, r := range name {
		if r == ']' && depth > 0 {
			if depth--; depth == 0 {
				b.WriteRune('…')
			}
		}
		if depth == 0 {
			b.WriteRune(r)
		}
		if r == '[' {
			depth++
		}
	}
	if depth > 0 { // a bracket that does not enclose type arguments
		return name
	}
	name = b.String()
	return symbol.Short(name)
}

func callLabel(e report.Edge, value func(int64) string) string {
	return value(e.Weight) + inlineMark(e)
}

func callTip(g *report.CallGraph, e report.Edge, value func(int64) string) string {
	arrow := " → "
	if e.Residual {
		arrow = " ⇢ "
	}
	return g.Nodes[e.From].String() + arrow + g.Nodes[e.To].String() + " (" + callLabel(e, value) + ")"
}
