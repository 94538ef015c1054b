package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// StacksPage is the value of a view by whole stacks.
type StacksPage struct {
	Source string
	View   *report.View
	Stacks *report.StackTable
}

// NewStacks sums the view's value by stack, at its granularity.
func NewStacks(source string, v *report.View) (StacksPage, error) {
	s, err := report.Stacks(v.Profile, report.TopOptions{SampleIndex: v.Index, Granularity: v.Granularity, Columns: v.ShowColumns})
	if err != nil {
		return StacksPage{}, err
	}
	if v.DropNegative {
		s.Rows = slices.DeleteFunc(s.Rows, func(r report.StackRow) bool { return r.Value < 0 })
	}
	return StacksPage{source, v, s}, nil
}

// names returns the printable name of each frame of a table.
func names(frames []profile.Frame) []string {
	out := make([]string, len(frames))
	for i, f := range frames {
		out[i] = report.Row{Name: f.Name, File: f.File, Line: f.Line, Column: f.Column, Address: f.Address}.String()
	}
	return out
}

// Folded writes one line per stack in the format of FlameGraph's stackcollapse scripts: the frames,
// root first, separated by semicolons, then a space and the value. A semicolon in a name (a struct
// as a type argument) becomes a colon.
func Folded(w io.Writer, p StacksPage) error {
	out := bufio.NewWriterSize(w, 64<<10)
	text := names(p.Stacks.Frames)
	for i := range text {
		text[i] = strings.NewReplacer(";", ":", "\n", " ", "\r", " ").Replace(text[i])
	}
	for _, r := range p.Stacks.Rows {
		if len(r.Frames) == 0 {
			out.WriteString("<unknown>")
		}
		for i, f := range slices.Backward(r.Frames) {
			out.WriteString(text[f])
			if i > 0 {
				out.WriteByte(';')
			}
		}
		fmt.Fprintf(out, " %d\n", p.View.Divide(r.Value))
	}
	return out.Flush()
}

// FoldedJSON is the form of `hone folded -json`.
func FoldedJSON(p StacksPage) any {
	type row struct {
		Stack []string `json:"stack"` // root first
		Value int64    `json:"value"`
	}
	text := names(p.Stacks.Frames)
	rows := []row{}
	for _, r := range p.Stacks.Rows {
		out := row{Stack: []string{}, Value: p.View.Divide(r.Value)}
		for _, f := range slices.Backward(r.Frames) {
			out.Stack = append(out.Stack, text[f])
		}
		rows = append(rows, out)
	}
	return struct {
		Schema     string `json:"schema"`
		Source     string `json:"source"`
		SampleType string `json:"sample_type"`
		Unit       string `json:"unit"`
		Total      int64  `json:"total"`
		Rows       []row  `json:"rows"`
	}{"hone/folded/v1", p.Source, p.View.SampleType.Type, p.View.SampleType.Unit, p.View.Total, rows}
}
