package render

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"

	"github.com/hone-go/hone/internal/experiment/tunegc"
	"github.com/hone-go/hone/internal/screen"
)

// The plot's size and margins, in pixels.
const (
	gcPlotWidth, gcPlotHeight                     = 760.0, 420.0
	gcPlotLeft, gcPlotRight, gcPlotTop, gcPlotLow = 90.0, 30.0, 50.0, 60.0
)

// TuneGCPlot draws settings of the garbage collector as SVG: memory to the right, logarithmic, CPU
// upwards; predictions as a line, measurements as points, the budget as a dashed line.
func TuneGCPlot(w io.Writer, r *tunegc.Result) {
	rows := slices.DeleteFunc(slices.Clone(r.Rows), func(x tunegc.Row) bool { return x.Resident <= 0 || x.CPUSeconds <= 0 })
	slices.SortFunc(rows, func(a, b tunegc.Row) int { return int(math.Copysign(1, a.Resident-b.Resident)) })
	a := gcAxes(rows, float64(r.MemoryBytes))
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12">`+"\n", gcPlotWidth, gcPlotHeight)
	fmt.Fprintln(w, `<rect width="100%" height="100%" fill="#fff"/>`)
	text := func(x, y float64, anchor, color, s string) {
		fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, color, html.EscapeString(screen.Line(s)))
	}
	text(gcPlotLeft, 20, "start", "#111", r.Target+": CPU and memory by GOGC")
	text(gcPlotLeft, 38, "start", "#666", "line: predicted from one run; points: measured, interleaved, with the 95 % interval of the change")
	text(gcPlotWidth-gcPlotRight, gcPlotHeight-12, "end", "#666", "resident memory, logarithmic")
	for _, v := range []float64{a.cpu[0], (a.cpu[0] + a.cpu[1]) / 2, a.cpu[1]} {
		fmt.Fprintf(w, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", gcPlotLeft, gcPlotWidth-gcPlotRight, a.y(v), a.y(v))
		text(gcPlotLeft-6, a.y(v)+4, "end", "#444", seconds(v)+" / "+r.Unit)
	}
	if x := a.x(float64(r.MemoryBytes)); x <= gcPlotWidth-gcPlotRight+0.5 {
		fmt.Fprintf(w, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#b00" stroke-dasharray="4 3"/>`+"\n", x, x, gcPlotTop, gcPlotHeight-gcPlotLow)
		text(x-4, gcPlotTop+12, "end", "#b00", "budget "+size(float64(r.MemoryBytes)))
	}
	fmt.Fprint(w, `<polyline fill="none" stroke="#36c" stroke-width="2" points="`)
	for _, x := range rows {
		fmt.Fprintf(w, "%.1f,%.1f ", a.x(x.Resident), a.y(x.CPUSeconds))
	}
	fmt.Fprintln(w, `"/>`)
	for _, x := range rows {
		gcPoint(w, a, r, x, text)
	}
	fmt.Fprintln(w, `</svg>`)
}

// gcPoint draws a setting: its prediction, its name, and its measurement.
func gcPoint(w io.Writer, a axes, r *tunegc.Result, x tunegc.Row, text func(x, y float64, anchor, color, s string)) {
	name, color, radius := fmt.Sprint(x.GOGC), "#36c", 3.5
	if x.GOGC <= 0 {
		name = "off, limit " + size(x.Limit)
	}
	switch {
	case r.Choice != nil && x.GOGC == r.Rows[r.Choice.Row].GOGC && x.Limit == r.Rows[r.Choice.Row].Limit:
		name, radius = name+" ← this one", 6
	case x.Own:
		name += " (current)"
	}
	fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="%s"/>`+"\n", a.x(x.Resident), a.y(x.CPUSeconds), radius, color)
	text(a.x(x.Resident), a.y(x.CPUSeconds)-10, "middle", "#124", name)
	text(a.x(x.Resident), gcPlotHeight-gcPlotLow+18, "middle", "#444", size(x.Resident))
	m := x.Measured
	if m == nil || m.Failed != "" || m.CPUSeconds <= 0 || m.Resident <= 0 {
		return
	}
	px, py := a.x(m.Resident), a.y(m.CPUSeconds)
	if m.Ratio != nil && m.Low != nil && m.High != nil && *m.Ratio > 0 {
		fmt.Fprintf(w, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#e70" stroke-width="1.5"/>`+"\n",
			px, px, a.y(m.CPUSeconds**m.Low / *m.Ratio), a.y(m.CPUSeconds**m.High / *m.Ratio))
	}
	fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="4" fill="#e70"/>`+"\n", px, py)
}

// axes map memory and CPU to pixels.
type axes struct{ memory, cpu [2]float64 }

func gcAxes(rows []tunegc.Row, budget float64) axes {
	a := axes{memory: [2]float64{math.Inf(1), 0}, cpu: [2]float64{math.Inf(1), 0}}
	grow := func(to *[2]float64, v float64) {
		if v > 0 && !math.IsInf(v, 0) {
			to[0], to[1] = min(to[0], v), max(to[1], v)
		}
	}
	for _, x := range rows {
		grow(&a.memory, x.Resident)
		grow(&a.cpu, x.CPUSeconds)
		if m := x.Measured; m != nil && m.Failed == "" {
			grow(&a.memory, m.Resident)
			grow(&a.cpu, m.CPUSeconds)
		}
	}
	if a.memory[1] == 0 { // nothing to draw
		return axes{memory: [2]float64{1, 2}, cpu: [2]float64{0, 1}}
	}
	if budget < 4*a.memory[1] {
		grow(&a.memory, budget)
	}
	a.memory = [2]float64{a.memory[0] / 1.1, a.memory[1] * 1.1}
	room := max((a.cpu[1]-a.cpu[0])*0.15, a.cpu[1]*0.02)
	a.cpu = [2]float64{max(0, a.cpu[0]-room), a.cpu[1] + room}
	return a
}

func (a axes) x(memory float64) float64 {
	if memory <= 0 {
		return gcPlotLeft
	}
	return gcPlotLeft + (gcPlotWidth-gcPlotLeft-gcPlotRight)*math.Log(memory/a.memory[0])/math.Log(a.memory[1]/a.memory[0])
}

func (a axes) y(cpu float64) float64 {
	return gcPlotHeight - gcPlotLow - (gcPlotHeight-gcPlotTop-gcPlotLow)*(cpu-a.cpu[0])/(a.cpu[1]-a.cpu[0])
}
