package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/inspect"
	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/profile/measure"
	"github.com/hone-go/hone/profile/report"
)

// List draws annotated source: flat and cum in front of each line.
func List(w io.Writer, p *inspect.Listing, s Style) {
	unit := p.View.Unit
	if unit == "minimum" {
		unit = "auto" // as in pprof, each value has its own unit
	}
	value := func(v int64) string {
		if v == 0 {
			return "."
		}
		return screen.Line(p.View.Readable(v, unit))
	}
	names := newNaming(p.View.Names == report.ExactNames, p.Functions, func(f *inspect.ListedFunction) string { return f.Name })
	for i := range p.Functions {
		f := &p.Functions[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		file := f.Path
		if file == "" {
			file = f.File
		}
		line(w, "%s in %s", s.paint(strong, names.of(f.Name)), file)
		line(w, "%10s %10s (flat, cum) %s of %s", value(f.Flat), value(f.Cum), measure.Percent(f.Cum, p.View.Total), p.View.SampleType.Type)
		if f.Problem != "" {
			fmt.Fprintln(w, s.paint(faint, wrap("no source: "+f.Problem, "", s.width())))
		}
		for _, l := range lines(f) {
			text := fmt.Sprintf("%10s %10s %6d  %s", value(l.Flat), value(l.Cum), l.Line, l.text)
			if l.Flat == 0 && l.Cum == 0 {
				text = s.paint(faint, text)
			}
			fmt.Fprintln(w, text)
			remarks(w, f, l.Line, s)
		}
	}
	for _, n := range p.Notes {
		fmt.Fprintln(w, s.paint(faint, wrap("note: "+n, "", s.width())))
	}
}

// mostRemarks is the largest number of remarks below one line; JSON has all.
const mostRemarks = 6

// remarks draws the remarks about a line below it.
func remarks(w io.Writer, f *inspect.ListedFunction, line int64, s Style) {
	const indent = "                             " // below the text of the line
	shown, all := 0, 0
	for _, r := range f.Remarks {
		if r.Line != line {
			continue
		}
		if all++; shown < mostRemarks {
			shown++
			fmt.Fprintln(w, s.paint(code, indent+wrap("^ "+r.Text, indent+"  ", s.width())))
		}
	}
	if all > shown {
		fmt.Fprintln(w, s.paint(faint, fmt.Sprintf("%s^ and %d more; -json has all", indent, all-shown)))
	}
}

// listedLine is one line of source with its cost.
type listedLine struct {
	report.LineCost
	text string
}

// lines combines source and costs. Without source, it returns only the lines with a cost.
func lines(f *inspect.ListedFunction) []listedLine {
	var out []listedLine
	costs := map[int64]report.LineCost{}
	for _, c := range f.Lines {
		costs[c.Line] = c
		if f.Source == nil {
			out = append(out, listedLine{c, ""})
		}
	}
	for i, text := range f.Source {
		n := f.From + int64(i)
		c := costs[n]
		c.Line = n
		out = append(out, listedLine{c, text})
	}
	return out
}

// ListJSON is the form of `hone list -json`.
func ListJSON(p *inspect.Listing) any {
	type line struct {
		Line   int64  `json:"line"`
		Flat   int64  `json:"flat"`
		Cum    int64  `json:"cum"`
		Source string `json:"source,omitempty"`
		// Executions per unit of work; absent if they were not counted.
		Executions *float64 `json:"executions,omitempty"`
	}
	type remark struct {
		Line int64  `json:"line"`
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	type function struct {
		Function string   `json:"function"`
		Readable string   `json:"readable,omitempty"` // the function for people, when that is another name
		File     string   `json:"file"`
		Flat     int64    `json:"flat"`
		Cum      int64    `json:"cum"`
		Lines    []line   `json:"lines"`
		Problem  string   `json:"no_source,omitempty"`
		Remarks  []remark `json:"remarks,omitempty"`
	}
	functions := []function{}
	for i := range p.Functions {
		f := &p.Functions[i]
		fn := function{Function: f.Name, Readable: readableIfOther(f.Name), File: f.File, Flat: f.Flat, Cum: f.Cum, Lines: []line{}, Problem: f.Problem}
		for _, l := range lines(f) {
			out := line{Line: l.Line, Flat: l.Flat, Cum: l.Cum, Source: l.text}
			if n, ok := f.Executions[l.Line]; ok {
				out.Executions = &n
			}
			fn.Lines = append(fn.Lines, out)
		}
		for _, r := range f.Remarks {
			fn.Remarks = append(fn.Remarks, remark{r.Line, r.Kind, r.Text})
		}
		functions = append(functions, fn)
	}
	return struct {
		Schema     string     `json:"schema"`
		SampleType string     `json:"sample_type"`
		Unit       string     `json:"unit"`
		Total      int64      `json:"total"`
		Per        string     `json:"executions_per,omitempty"` // "request", "operation" or "run"
		Functions  []function `json:"functions"`
		Notes      []string   `json:"notes,omitempty"`
	}{"hone/list/v1", p.View.SampleType.Type, p.View.SampleType.Unit, p.View.Total, p.Per, functions, p.Notes}
}
