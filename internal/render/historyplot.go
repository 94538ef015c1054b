package render

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/hone-go/hone/internal/history"
	"github.com/hone-go/hone/internal/screen"
	"github.com/hone-go/hone/stats"
)

const plotRows = 12 // of a plot in a terminal

// TracksPlot draws series for a terminal: one column per run, the levels as lines.
func TracksPlot(w io.Writer, p HistoryTracks, s Style) {
	for i, t := range p.Tracks {
		if i > 0 {
			fmt.Fprintln(w)
		}
		unit, value := historyUnit(t.Unit)
		fmt.Fprintln(w, s.paint(strong, screen.Line(strings.TrimPrefix(t.Name, "Benchmark")))+s.paint(faint, screen.Line(" · "+unit+" · "+t.Package+" · "+t.Machine)))
		points := t.Points
		first := max(0, len(points)-max(20, s.width()-16))
		points = points[first:]
		low, high := pointRange(points)
		grid := make([][]rune, plotRows)
		for y := range grid {
			grid[y] = []rune(strings.Repeat(" ", len(points)))
		}
		row := func(v float64) int {
			if high <= low {
				return plotRows / 2
			}
			return min(plotRows-1, max(0, int(math.Round((high-v)/(high-low)*float64(plotRows-1)))))
		}
		for x, level := range levels(t)[first:] {
			grid[row(level)][x] = '─'
		}
		for x, p := range points {
			grid[row(p.Median)][x] = '●'
		}
		for y, line := range grid {
			label := ""
			switch y {
			case 0:
				label = value(high)
			case plotRows - 1:
				label = value(low)
			}
			fmt.Fprintf(w, "%s │%s\n", padLeft(label, 12), strings.TrimRight(string(line), " "))
		}
		if len(points) > 0 {
			from, to := points[0].Run, points[len(points)-1].Run
			fmt.Fprintln(w, s.paint(faint, screen.Line(fmt.Sprintf("%s %.10s %s to %.10s %s", strings.Repeat(" ", 13), from.Commit, from.CommitTime.Format("2006-01-02"), to.Commit, to.CommitTime.Format("2006-01-02")))))
		}
		for _, step := range t.Steps {
			fmt.Fprintln(w, "  "+s.paint(strong, stepChange(step))+"  "+screen.Line(stepText(t, step)))
		}
	}
}

func pointRange(points []history.Point) (low, high float64) {
	if len(points) == 0 {
		return 0, 0
	}
	low, high = points[0].Median, points[0].Median
	for _, p := range points {
		low, high = min(low, p.Median), max(high, p.Median)
	}
	return low, high
}

// levels returns the level of a series at each of its points.
func levels(t history.Track) []float64 {
	out := make([]float64, len(t.Points))
	if len(out) == 0 {
		return out
	}
	at := 0
	for i := range len(t.Steps) + 1 {
		end := len(out)
		if i < len(t.Steps) {
			end = t.Steps[i].At
		}
		level := 0.0
		switch {
		case i < len(t.Steps):
			level = t.Steps[i].Before
		case i > 0:
			level = t.Steps[i-1].After
		default:
			level = medianOf(t.Points)
		}
		for ; at < end; at++ {
			out[at] = level
		}
	}
	return out
}

func medianOf(points []history.Point) float64 {
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Median
	}
	return stats.Median(values)
}

// Sizes of a plot as a picture, in pixels.
const (
	svgWidth, svgHeight = 900, 260
	svgLeft, svgTop     = 90, 34
	svgRight, svgBottom = 20, 40
)

// TracksSVG draws series as one picture: a point per run with the range of its samples, lines for
// the levels, and a mark where the level changes. Text other than names is in the tooltips of the
// points.
func TracksSVG(w io.Writer, p HistoryTracks) {
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", svgWidth, svgHeight*len(p.Tracks))
	fmt.Fprintln(w, `<style>text{fill:#333}.a{stroke:#bbb}.p{fill:#2b6cb0}.r{stroke:#2b6cb0;stroke-opacity:.35}.l{stroke:#222;stroke-width:2}.s{stroke:#c05621;stroke-dasharray:4 3}`+
		`@media(prefers-color-scheme:dark){text{fill:#ddd}.a{stroke:#555}.p{fill:#63b3ed}.r{stroke:#63b3ed}.l{stroke:#eee}.s{stroke:#f6ad55}}</style>`)
	for i, t := range p.Tracks {
		fmt.Fprintf(w, `<g transform="translate(0 %d)">`+"\n", i*svgHeight)
		trackSVG(w, t)
		fmt.Fprintln(w, "</g>")
	}
	fmt.Fprintln(w, "</svg>")
}

func trackSVG(w io.Writer, t history.Track) {
	text := func(s string) string { return html.EscapeString(screen.Line(s)) }
	unit, value := historyUnit(t.Unit)
	fmt.Fprintf(w, `<text x="10" y="20" font-weight="bold">%s</text><text x="%d" y="20" text-anchor="end">%s</text>`+"\n",
		text(strings.TrimPrefix(t.Name, "Benchmark")+" · "+unit), svgWidth-svgRight, text(t.Package))
	if len(t.Points) == 0 {
		return
	}
	low, high := t.Points[0].Low, t.Points[0].High
	for _, p := range t.Points {
		low, high = min(low, p.Low), max(high, p.High)
	}
	if high <= low {
		low, high = low*0.9, high*1.1+1e-9
	}
	x := func(i int) float64 {
		return svgLeft + (float64(i)+0.5)*float64(svgWidth-svgLeft-svgRight)/float64(len(t.Points))
	}
	y := func(v float64) float64 {
		return svgTop + (high-v)/(high-low)*float64(svgHeight-svgTop-svgBottom)
	}
	for _, v := range []float64{low, (low + high) / 2, high} {
		fmt.Fprintf(w, `<line class="a" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			svgLeft, svgWidth-svgRight, y(v), y(v), svgLeft-6, y(v)+4, text(value(v)))
	}
	for _, step := range t.Steps {
		at := (x(step.At-1) + x(step.At)) / 2
		fmt.Fprintf(w, `<line class="s" x1="%.1f" x2="%.1f" y1="%d" y2="%d"><title>%s</title></line>`+"\n", at, at, svgTop, svgHeight-svgBottom,
			text(stepChange(step)+" "+stepText(t, step)))
		fmt.Fprintf(w, `<text x="%.1f" y="%d">%s</text>`+"\n", at+4, svgTop+10, text(stepChange(step)))
	}
	for i, p := range t.Points {
		fmt.Fprintf(w, `<line class="r" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`, x(i), x(i), y(p.Low), y(p.High))
		fmt.Fprintf(w, `<circle class="p" cx="%.1f" cy="%.1f" r="2.5"><title>%s</title></circle>`+"\n", x(i), y(p.Median),
			text(fmt.Sprintf("%s · %.10s %s · %s", value(p.Median), p.Run.Commit, p.Run.Subject, p.Run.CommitTime.Format("2006-01-02"))))
	}
	at := levels(t)
	for from := 0; from < len(at); {
		to := from + 1
		for to < len(at) && at[to] == at[from] {
			to++
		}
		fmt.Fprintf(w, `<line class="l" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/>`+"\n", x(from)-2, x(to-1)+2, y(at[from]), y(at[from]))
		from = to
	}
	first, last := t.Points[0].Run, t.Points[len(t.Points)-1].Run
	fmt.Fprintf(w, `<text x="%d" y="%d">%s</text><text x="%d" y="%d" text-anchor="end">%s</text>`+"\n",
		svgLeft, svgHeight-14, text(fmt.Sprintf("%.10s %s", first.Commit, first.CommitTime.Format("2006-01-02"))),
		svgWidth-svgRight, svgHeight-14, text(fmt.Sprintf("%.10s %s", last.Commit, last.CommitTime.Format("2006-01-02"))))
}
