package render

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/compare"
)

// HTMLRow is a row of a comparison's page: one metric of a benchmark, a load or a recording.
type HTMLRow struct {
	Group, Name   string // a benchmark, and the metric
	Old, New      string // with their units
	Ratio         *float64
	Low, High     *float64 // of the ratio, at 95 %
	Verdict       compare.Verdict
	Note          string
	OldRuns, Runs []float64 // samples to plot; nil if the files have none
}

// HTMLPage is a comparison as one self-contained file.
type HTMLPage struct {
	Title, Head string
	Rows        []HTMLRow
	Notes       []string
}

const (
	htmlWidth  = 360 // of a plot
	htmlHeight = 34
)

const htmlStyle = `<style>
body{font:14px/1.4 system-ui,sans-serif;margin:2em auto;max-width:1100px;padding:0 1em;color:#222;background:#fff}
h1{font-size:1.3em}table{border-collapse:collapse;width:100%}td,th{padding:.25em .6em;text-align:left;vertical-align:middle}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}tr.g td{padding-top:1em;font-weight:600}
.f{color:#666}.worse{color:#b3261e;font-weight:600}.better{color:#146c2e;font-weight:600}.unknown{color:#666}
svg text{font:10px system-ui,sans-serif;fill:#666}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}.f,.unknown,svg text{color:#999;fill:#999}.worse{color:#ff8a80}.better{color:#81c995}}
</style>`

// HTML writes a comparison as a page that plots each ratio with its interval, and the samples if
// there are any.
func HTML(w io.Writer, p HTMLPage) {
	fmt.Fprintf(w, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" "+
		"content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>%s</title>%s</head><body>\n<h1>%s</h1><p class=\"f\">%s</p>\n",
		text(p.Title), htmlStyle, text(p.Title), text(p.Head))
	span := ratioSpan(p.Rows)
	samples := ""
	if slices.ContainsFunc(p.Rows, func(r HTMLRow) bool { return samplesPlot(r) != "" }) {
		samples = "samples: old above new"
	}
	fmt.Fprintf(w, "<table><tr class=\"f\"><th></th><th>old</th><th>new</th><th>change</th><th>95 %% interval%s</th><th></th><th>%s</th></tr>\n", ratioAxis(span), samples)
	group := ""
	for _, r := range p.Rows {
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(w, "<tr class=\"g\"><td colspan=\"7\">%s</td></tr>\n", text(group))
		}
		moved := ""
		if r.Ratio != nil {
			moved = change(*r.Ratio)
		}
		if r.Note != "" {
			r.Note = ", " + r.Note
		}
		fmt.Fprintf(w, "<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n %s\">%s</td><td>%s</td><td class=\"%s\">%s%s</td><td>%s</td></tr>\n",
			text(r.Name), text(r.Old), text(r.New), text(string(r.Verdict)), text(moved), ratioPlot(r, span), text(string(r.Verdict)), text(string(r.Verdict)),
			text(r.Note), samplesPlot(r))
	}
	fmt.Fprint(w, "</table>\n")
	for _, n := range p.Notes {
		fmt.Fprintf(w, "<p class=\"f\">%s</p>\n", text(n))
	}
	fmt.Fprint(w, "</body></html>\n")
}

func text(s string) string { return html.EscapeString(strings.ToValidUTF8(s, "�")) }

// ratioSpan returns the logarithm of the largest ratio that the plots show: enough for most rows,
// between 5 % and a factor of 8.
func ratioSpan(rows []HTMLRow) float64 {
	span := math.Log(1.05)
	for _, r := range rows {
		for _, x := range []*float64{r.Ratio, r.Low, r.High} {
			if x != nil && *x > 0 && !math.IsInf(*x, 0) {
				span = max(span, math.Abs(math.Log(*x)))
			}
		}
	}
	return min(span, math.Log(8))
}

// ratioAxis returns the labels of the plots' scale.
func ratioAxis(span float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<br><svg width=\"%d\" height=\"12\" aria-hidden=\"true\">", htmlWidth)
	for _, l := range []struct {
		at     float64 // of the span
		anchor string
	}{{-1, "start"}, {-0.5, "middle"}, {0, "middle"}, {0.5, "middle"}, {1, "end"}} {
		x := htmlWidth / 2 * (1 + 0.95*l.at)
		label := "0"
		if l.at != 0 {
			label = change(math.Exp(l.at * span))
		}
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"10\" text-anchor=\"%s\">%s</text>", x, l.anchor, text(label))
	}
	b.WriteString("</svg>")
	return b.String()
}

// ratioPlot draws a bar from the low to the high bound with a dot at the ratio, on a logarithmic
// scale centred at 1.
func ratioPlot(r HTMLRow, span float64) string {
	if r.Ratio == nil || *r.Ratio <= 0 {
		return ""
	}
	at := func(x float64) float64 {
		y := math.Log(max(x, 1e-9)) / span
		return htmlWidth / 2 * (1 + 0.95*min(1, max(-1, y)))
	}
	low, high := *r.Ratio, *r.Ratio
	if r.Low != nil && r.High != nil {
		low, high = *r.Low, *r.High
	}
	colour := map[compare.Verdict]string{compare.Worse: "#c5362c", compare.Better: "#2e8b57"}[r.Verdict]
	colour = cmp.Or(colour, "#888")
	label := change(*r.Ratio)
	if low != high {
		label += ", 95 %: " + change(low) + " to " + change(high)
	}
	return fmt.Sprintf("<svg width=\"%d\" height=\"%d\" role=\"img\"><title>%s</title><line x1=\"%d\" x2=\"%d\" y1=\"2\" y2=\"%d\" stroke=\"#999\"/>"+
		"<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"3\"/><circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\"/></svg>",
		htmlWidth, htmlHeight, text(label), htmlWidth/2, htmlWidth/2, htmlHeight-2,
		at(low), at(high), htmlHeight/2, htmlHeight/2, colour, at(*r.Ratio), htmlHeight/2, colour)
}

// samplesPlot draws the samples of both sides as ticks on one scale, the old ones at the top.
func samplesPlot(r HTMLRow) string {
	if len(r.OldRuns) == 0 || len(r.Runs) == 0 {
		return ""
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, side := range [][]float64{r.OldRuns, r.Runs} {
		for _, v := range side {
			low, high = min(low, v), max(high, v)
		}
	}
	if high <= low {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg width=\"%d\" height=\"%d\" role=\"img\"><title>%d old and %d new samples</title>", htmlWidth/2, htmlHeight, len(r.OldRuns), len(r.Runs))
	for i, side := range [][]float64{r.OldRuns, r.Runs} {
		y := 2 + i*htmlHeight/2
		for _, v := range side {
			x := 2 + (v-low)/(high-low)*(htmlWidth/2-4)
			fmt.Fprintf(&b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-opacity=\"0.7\"/>", x, x, y, y+htmlHeight/2-4, []string{"#888", "#5b8def"}[i])
		}
	}
	b.WriteString("</svg>")
	return b.String()
}

// BenchHTML writes a comparison of benchmarks as a page.
func BenchHTML(w io.Writer, r *bench.Result) {
	p := HTMLPage{Title: "Benchmarks, old and new", Head: benchHead(r)}
	if r.Files != nil {
		p.Title = "Comparison"
	}
	for _, b := range r.Benchmarks {
		for _, row := range b.Rows {
			if row.Old == nil {
				continue
			}
			name, value := historyUnit(row.Unit)
			h := HTMLRow{Group: strings.TrimSpace(benchGroup(b) + " " + strings.TrimPrefix(b.Name, "Benchmark")), Name: name, Old: value(*row.Old), New: value(row.New),
				Ratio: row.Ratio, Low: row.Low, High: row.High, Verdict: row.Verdict, Note: cmp.Or(row.Allowed, row.Why)}
			switch {
			case row.Exact:
				h.Note = strings.TrimSpace("exact " + h.Note)
			case row.More > 0:
				h.Note = moreRuns(row.More) + " would decide it"
			}
			for _, s := range b.Old {
				if v, ok := s.Values[row.Unit]; ok {
					h.OldRuns = append(h.OldRuns, v)
				}
			}
			for _, s := range b.New {
				if v, ok := s.Values[row.Unit]; ok {
					h.Runs = append(h.Runs, v)
				}
			}
			p.Rows = append(p.Rows, h)
		}
		for _, g := range b.Grown {
			p.Notes = append(p.Notes, strings.TrimPrefix(b.Name, "Benchmark")+" costs more in "+grownText(g))
		}
		for _, f := range b.Findings {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: %s %s:%d %s. %s", strings.TrimPrefix(b.Name, "Benchmark"), f.Rule, f.File, f.Line, f.Title, f.Fix))
		}
	}
	for _, g := range r.Geomeans {
		name, _ := benchUnit(g.Unit)
		text := fmt.Sprintf("geometric mean of %s over %d benchmarks: %s", name, g.Benchmarks, change(g.Ratio))
		if g.Table != "" {
			text = g.Table + ": " + text
		}
		p.Notes = append(p.Notes, text)
	}
	p.Notes = append(p.Notes, benchNotes(r)...)
	HTML(w, p)
}
