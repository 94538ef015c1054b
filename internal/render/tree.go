package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hone-go/hone/profile/blindspots"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

// GraphPage is a call graph and its input.
type GraphPage struct {
	Source string
	View   *report.View
	Graph  *report.CallGraph
	Blind  blindspots.Spots
	Notes  []string // about the sources; part of the JSON, but printed to stderr beside a text
	// Shown are the numbers of the nodes that the page is about; nil is all.
	Shown []int
}

func (p *GraphPage) shown() []int {
	if p.Shown != nil {
		return p.Shown
	}
	all := make([]int, len(p.Graph.Nodes))
	for i := range all {
		all[i] = i
	}
	return all
}

// Least returns the smallest magnitude other than zero on the page, or 0 if there is none.
func (p *GraphPage) Least() int64 {
	var least int64
	see := func(v int64) {
		if v = max(v, -v); v > 0 && (least == 0 || v < least) {
			least = v
		}
	}
	for _, i := range p.shown() {
		n := &p.Graph.Nodes[i]
		see(n.Flat)
		see(n.Cum)
		for _, e := range p.Graph.In(i) {
			see(e.Weight)
		}
		for _, e := range p.Graph.Out(i) {
			see(e.Weight)
		}
	}
	return least
}

// value returns the function that formats values of this page.
func (p *GraphPage) value() func(int64) string {
	unit := p.View.ReadableUnit(p.Graph.Least())
	return func(v int64) string { return p.View.Readable(v, unit) }
}

// head returns a title that describes the numbers, and notes about what is shown and what was left
// out.
func (p *GraphPage) head() (title, notes []string) {
	g, value := p.Graph, p.value()
	var b strings.Builder
	viewHead(&b, p.Source, p.View, p.Blind, Style{})
	if b.Len() > 0 {
		title = strings.Split(strings.TrimSpace(b.String()), "\n")
	}
	share := strings.TrimSpace(measure.Percent(g.Flat, g.Total))
	notes = append(notes, fmt.Sprintf("showing %s of %s total (%s)", value(g.Flat), value(g.Total), share))
	if g.DroppedNodes > 0 {
		notes = append(notes, fmt.Sprintf("dropped %s below %s", plural(g.DroppedNodes, "node"), value(g.NodeCutoff)))
	}
	if g.DroppedEdges > 0 {
		notes = append(notes, fmt.Sprintf("dropped %s below %s", plural(g.DroppedEdges, "call"), value(g.EdgeCutoff)))
	}
	if n := g.Candidates - len(g.Nodes); n > 0 {
		notes = append(notes, plural(n, "node")+" more with a larger -nodecount")
	}
	return title, notes
}

// Tree draws each node between its callers and callees, in the columns of pprof's tree and peek.
// The column calls has the weight of a call, calls% its share of the node's cum.
func Tree(w io.Writer, p GraphPage, s Style) {
	g, value := p.Graph, p.value()
	viewHead(w, p.Source, p.View, p.Blind, s)
	_, notes := p.head()
	for i, note := range notes {
		if i > 0 {
			note = s.paint(faint, note)
		}
		line(w, "%s", note)
	}
	separator := s.paint(faint, strings.Repeat("-", 58)+"+"+strings.Repeat("-", 13))
	fmt.Fprintln(w, separator)
	fmt.Fprintln(w, s.paint(faint, "      flat  flat%   sum%        cum   cum%      calls calls%  | context"))
	names := newNaming(p.View.Names == report.ExactNames, g.Nodes, func(n *report.Node) string { return n.Name })
	text := func(i int32) string {
		n := g.Nodes[i]
		n.Name = names.of(n.Name)
		return n.String()
	}
	call := func(e report.Edge, cum int64, other int32) {
		line(w, "%50s %s |   %s%s", value(e.Weight), measure.Percent(e.Weight, cum), text(other), s.paint(faint, inlineMark(e)))
	}
	var sum int64
	for _, i := range p.shown() {
		n := &g.Nodes[i]
		fmt.Fprintln(w, separator)
		for _, e := range g.In(i) {
			call(e, n.Cum, e.From)
		}
		sum += n.Flat
		line(w, "%10s %s %s %10s %s                | %s", value(n.Flat), measure.Percent(n.Flat, g.Total),
			measure.Percent(sum, g.Total), value(n.Cum), measure.Percent(n.Cum, g.Total), s.paint(strong, text(int32(i))))
		for _, e := range g.Out(i) {
			call(e, n.Cum, e.To)
		}
	}
	if len(g.Nodes) > 0 {
		fmt.Fprintln(w, separator)
	}
	drawNotes(w, blindNotes(p.View, p.Blind), s)
}

// jsonNotes are notes about the numbers; those of head are about what was left out.
func (p *GraphPage) jsonNotes() []string {
	return append(slices.Clone(p.Notes), blindNotes(p.View, p.Blind)...)
}

func inlineMark(e report.Edge) string {
	if e.Inline {
		return " (inline)"
	}
	return ""
}

// graphNode and graphEdge are the JSON forms of nodes and edges. Edges refer to nodes by their
// index in the list.
type graphNode struct {
	Function string `json:"function,omitempty"`
	Readable string `json:"readable,omitempty"` // readable name of the function, if it differs
	File     string `json:"file,omitempty"`
	Line     int64  `json:"line,omitempty"`
	Column   int64  `json:"column,omitempty"`
	Address  uint64 `json:"address,omitempty"`
	Flat     int64  `json:"flat"`
	Cum      int64  `json:"cum"`
}

type graphEdge struct {
	From     int32 `json:"from"`
	To       int32 `json:"to"`
	Weight   int64 `json:"weight"`
	Inline   bool  `json:"inline,omitempty"`
	Residual bool  `json:"residual,omitempty"`
}

// GraphJSON returns the JSON form of `hone tree`, `hone peek` or `hone graph`; name is the command.
// Shown is present if the report is about some nodes only.
func GraphJSON(name string, p GraphPage) any {
	g := p.Graph
	nodes, edges := []graphNode{}, []graphEdge{}
	for _, n := range g.Nodes {
		nodes = append(nodes, graphNode{n.Name, readableIfOther(n.Name), n.File, n.Line, n.Column, n.Address, n.Flat, n.Cum})
	}
	for _, e := range g.Edges {
		edges = append(edges, graphEdge{e.From, e.To, e.Weight, e.Inline, e.Residual})
	}
	return struct {
		Schema       string      `json:"schema"`
		Source       string      `json:"source"`
		SampleType   string      `json:"sample_type"`
		Unit         string      `json:"unit"`
		Total        int64       `json:"total"`
		Candidates   int         `json:"candidates"`
		DroppedNodes int         `json:"dropped_nodes"`
		DroppedEdges int         `json:"dropped_edges"`
		Shown        []int       `json:"shown,omitempty"`
		Nodes        []graphNode `json:"nodes"`
		Edges        []graphEdge `json:"edges"`
		CPU          *cpuUseJSON `json:"cpu,omitempty"`
		Notes        []string    `json:"notes,omitempty"`
	}{"hone/" + name + "/v1", p.Source, g.SampleType.Type, g.SampleType.Unit, g.Total, g.Candidates, g.DroppedNodes, g.DroppedEdges, p.Shown, nodes, edges, newCPUUseJSON(p.Blind), p.jsonNotes()}
}
