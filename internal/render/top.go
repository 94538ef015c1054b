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

// TopTable is the table of `hone top` and its input.
type TopTable struct {
	Source string
	View   *report.View
	Top    *report.Table
	Blind  blindspots.Spots
	Notes  []string // about the sources; part of the JSON, but printed to stderr beside a text
}

// Top draws the table of `hone top` with pprof's columns.
func Top(w io.Writer, t TopTable, s Style) {
	top, unit := t.Top, t.View.ReadableUnit(t.Top.Smallest())
	value := func(v int64) string { return t.View.Readable(v, unit) }
	viewHead(w, t.Source, t.View, t.Blind, s)
	line(w, "showing %s of %s total (%s)", value(top.Flat), value(top.Total),
		strings.TrimSpace(measure.Percent(top.Flat, top.Total)))
	if top.Dropped > 0 {
		line(w, "%s", s.paint(faint, fmt.Sprintf("dropped %s below %s", plural(top.Dropped, "row"), value(top.Cutoff))))
	}
	if n := top.Nodes - len(top.Rows); n > 0 {
		fmt.Fprintln(w, s.paint(faint, plural(n, "row")+" more with a larger -top"))
	}
	names := newNaming(t.View.Names == report.ExactNames, top.Rows, func(r *report.Row) string { return r.Name })
	rows := [][]string{{"flat", "flat%", "sum%", "cum", "cum%", ""}}
	var sum int64
	for _, r := range top.Rows {
		sum += r.Flat
		name := strings.TrimSpace(names.row(r) + " " + r.Inline.String())
		rows = append(rows, []string{value(r.Flat), measure.Percent(r.Flat, top.Total), measure.Percent(sum, top.Total),
			value(r.Cum), measure.Percent(r.Cum, top.Total), name})
	}
	for i, line := range table(rows, "  ", 0, 1, 2, 3, 4) {
		if i == 0 {
			line = s.paint(faint, line)
		}
		fmt.Fprintln(w, line)
	}
	drawNotes(w, blindNotes(t.View, t.Blind), s)
}

func (t TopTable) notes() []string {
	return append(slices.Clone(t.Notes), blindNotes(t.View, t.Blind)...)
}

// viewHead draws the line above a report that describes it, and the filters, unless compact_labels
// is set.
func viewHead(w io.Writer, source string, v *report.View, blind blindspots.Spots, s Style) {
	if v.CompactLabels {
		return
	}
	head := source + " · " + v.SampleType.Type
	if use := cpuUse(blind); use != "" {
		head += " · " + use
	} else if d := v.Profile.DurationNanos; d > 0 {
		head += " · over " + seconds(float64(d)/1e9)
	}
	line(w, "%s", head)
	if filters := v.Filters(); len(filters) > 0 {
		line(w, "%s", s.paint(faint, "filters: "+strings.Join(filters, " ")))
	}
}

// inlineJSON returns the JSON value for the inline marks of the text.
func inlineJSON(i report.Inline) string {
	switch i {
	case report.AllInlined:
		return "all"
	case report.PartlyInlined:
		return "partial"
	}
	return ""
}

// TopJSON is the form of `hone top -json`.
func TopJSON(t TopTable) any {
	type row struct {
		Function string `json:"function,omitempty"`
		Readable string `json:"readable,omitempty"` // readable name of the function, if it differs
		File     string `json:"file,omitempty"`
		Line     int64  `json:"line,omitempty"`
		Column   int64  `json:"column,omitempty"`
		Address  uint64 `json:"address,omitempty"`
		Inline   string `json:"inline,omitempty"` // "all" or "partial": which of its calls were inlined
		Flat     int64  `json:"flat"`
		Cum      int64  `json:"cum"`
	}
	rows := []row{}
	for _, r := range t.Top.Rows {
		rows = append(rows, row{r.Name, readableIfOther(r.Name), r.File, r.Line, r.Column, r.Address, inlineJSON(r.Inline), r.Flat, r.Cum})
	}
	return struct {
		Schema     string `json:"schema"`
		Source     string `json:"source"`
		SampleType string `json:"sample_type"`
		Unit       string `json:"unit"`
		Total      int64  `json:"total"`
		Nodes      int    `json:"nodes"`
		Dropped    int    `json:"dropped"`
		Rows       []row  `json:"rows"`

		CPU   *cpuUseJSON `json:"cpu,omitempty"`
		Notes []string    `json:"notes,omitempty"`
	}{"hone/top/v1", t.Source, t.View.SampleType.Type, t.Top.SampleType.Unit, t.Top.Total, t.Top.Nodes, t.Top.Dropped, rows, newCPUUseJSON(t.Blind), t.notes()}
}
