package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/diagnose"
	"github.com/hone-go/hone/internal/experiment/prove"
	"github.com/hone-go/hone/internal/screen"
)

// Prove draws the effect of a change: the trial, each finding before and after, predicted and
// measured savings.
func Prove(w io.Writer, r *prove.Result, s Style) {
	fmt.Fprintln(w, s.paint(faint, screen.Line(fmt.Sprintf("base: %.12s · the change: %s", r.Base, r.Change))))
	if r.Trial != nil {
		Try(w, r.Trial, s)
	}
	if len(r.Findings)+len(r.New) > 0 {
		fmt.Fprintf(w, "\n%s\n\n", s.paint(strong, "── the findings before and after the change"))
	}
	rows := [][]string{paintAll(s, "", "finding", "line", "before", "after", "")}
	for _, f := range r.Findings {
		rows = append(rows, wasRow(f, f.Finding, s))
	}
	for _, f := range r.New {
		rows = append(rows, wasRow(f, "", s))
	}
	if len(rows) > 1 {
		for _, line := range table(rows, "   ", 0, 3, 4) {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintln(w, s.paint(faint, "shares of the old CPU, including garbage collection"))
	}
	if r.Proof != nil && len(r.Proof.Functions) > 0 && r.Trial != nil && len(r.Trial.Outcomes) > 0 && r.Trial.Outcomes[0].Comparison != nil {
		fmt.Fprintf(w, "\n%s\n\n", s.paint(strong, "── predicted and measured savings"))
		Proof(w, *r.Proof, r.Trial.Outcomes[0].Comparison, s)
	}
	if r.Recording != "" {
		fmt.Fprintln(w, s.paint(faint, screen.Line("recording of the change: "+r.Recording)))
	}
}

func wasRow(f prove.Was, label string, s Style) []string {
	became := f.Became
	switch became {
	case prove.Gone, prove.Smaller:
		became = s.paint(good, became)
	case prove.Larger, prove.Found:
		became = s.paint(bad, became)
	}
	return []string{label, f.Title, fmt.Sprintf("%s:%d", f.File, f.Line), rangeText(f.Before), rangeText(f.After), became}
}

func rangeText(r *diagnose.Range) string {
	if r == nil {
		return ""
	}
	return percent(r.Share)
}
