package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/exectrace/window"
)

// TraceOverview draws the curves of an interval of a trace for a terminal: a row of bars for each
// curve, and the totals.
func TraceOverview(w io.Writer, o *window.Overview, p TracePage, s Style) {
	line(w, "%s: %s to %s of %s, GOMAXPROCS %d", s.paint(strong, p.Source), seconds(float64(o.From)/1e9), seconds(float64(o.To)/1e9), seconds(float64(o.Length)/1e9), o.Procs)
	rows := [][]string{{"", "seconds", "on average", "over time"}}
	length := float64(o.To-o.From) / 1e9
	add := func(name string, total float64, curve []float64) {
		rows = append(rows, []string{name, seconds(total), fmt.Sprintf("%.2f", total/length), curveLine(curve, 40)})
	}
	add("goroutines running", o.Totals.Running, o.Running)
	add("ready, waiting for a processor", o.Totals.Runnable, o.Runnable)
	add("in system calls", o.Totals.Syscall, o.Syscall)
	add("blocked", o.Totals.Waiting, o.Waiting)
	add("garbage collection", o.Totals.GC, o.GC)
	add("world stopped", o.Totals.Stopped, o.Stopped)
	columns(w, s, rows, 1, 2)
	if len(o.Groups) == 0 {
		p.foot(w, s, 0, 0, "")
		return
	}
	fmt.Fprintln(w)
	rows = [][]string{{"running", "over time", "goroutines started with"}}
	n := p.rows(len(o.Groups), 10)
	for _, g := range o.Groups[:n] {
		rows = append(rows, []string{seconds(g.Seconds), curveLine(g.Running, 40), g.Name})
	}
	columns(w, s, rows, 0)
	p.foot(w, s, n, len(o.Groups), "groups")
}

// curveLine draws a curve with width characters, from 0 to its highest value.
func curveLine(curve []float64, width int) string {
	if len(curve) == 0 {
		return ""
	}
	width = min(width, len(curve))
	means := make([]float64, width)
	var most float64
	for i := range means {
		a, b := i*len(curve)/width, (i+1)*len(curve)/width
		for _, v := range curve[a:b] {
			means[i] += v / float64(b-a)
		}
		most = max(most, means[i])
	}
	var out strings.Builder
	for _, v := range means {
		at := 0
		if most > 0 {
			at = int(v / most * 8)
		}
		out.WriteRune([]rune(" ▁▂▃▄▅▆▇█")[min(at, 8)])
	}
	return out.String()
}
