package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/bench"
	"github.com/hone-go/hone/internal/screen"
)

// Noise draws the precision of a machine.
func Noise(w io.Writer, n *bench.Noise, s Style) {
	fmt.Fprintln(w, s.paint(faint, screen.Line(fmt.Sprintf("%s · %s · %d benchmarks with themselves, at most %s each · %s",
		n.Machine, n.Go, n.Benchmarks, seconds(n.Budget), n.Made.Format("2006-01-02 15:04")))))
	fmt.Fprintln(w)
	rows := [][]string{paintAll(s, "", "detects changes above", "at worst", "falsely reported changes")}
	for _, m := range n.Metrics {
		name, _ := benchUnit(m.Unit)
		rows = append(rows, []string{name, noiseText(m.Sees), noiseText(m.Worst), fmt.Sprintf("%d of %d", m.Called, m.Rows)})
	}
	for _, line := range table(rows, "   ", 1, 2, 3) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	if n.Busy != nil {
		text := fmt.Sprintf("%s of %d cores were busy, including the one that measured", significant(*n.Busy), n.Cores)
		if n.Stolen != nil && *n.Stolen >= 0.005 {
			text += fmt.Sprintf("; the hypervisor stole %s", significant(*n.Stolen))
		}
		fmt.Fprintln(w, wrap(text+".", "", s.width()))
	}
	if n.Throttled != nil && *n.Throttled > 0 {
		fmt.Fprintln(w, wrap(fmt.Sprintf("The CPU quota stopped the measurement for %s.", seconds(*n.Throttled)), "", s.width()))
	}
	if n.ClockLow != nil && n.ClockHigh != nil {
		text := fmt.Sprintf("The cores ran at %.0f to %.0f MHz", *n.ClockLow, *n.ClockHigh)
		if n.Governor != "" {
			text += ", governor " + screen.Line(n.Governor)
		}
		fmt.Fprintln(w, wrap(text+".", "", s.width()))
	} else {
		fmt.Fprintln(w, s.paint(faint, wrap("The system does not report the frequency of the cores.", "", s.width())))
	}
	fmt.Fprintln(w, s.paint(faint, wrap("A larger -budget shows smaller changes: half the size takes four times the runs. On a shared machine CPU time shows smaller changes than wall time.", "", s.width())))
}

func noiseText(x float64) string {
	if x == 0 {
		return "exact"
	}
	return percent(x)
}
