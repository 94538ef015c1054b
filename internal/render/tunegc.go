package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/internal/experiment/tunegc"
	"github.com/hone-go/hone/internal/screen"
)

// TuneGC draws settings of the garbage collector: predictions, measurements, and the setting to
// use.
func TuneGC(w io.Writer, r *tunegc.Result, s Style) {
	own := "off"
	if r.GOGC > 0 {
		own = fmt.Sprint(r.GOGC)
	}
	fmt.Fprintln(w, s.paint(faint, screen.Line(fmt.Sprintf("%s · %s of memory (%s) · GOGC=%s: %.3g collections per %s, %s of CPU · live heap %s · %s",
		r.Target, size(float64(r.MemoryBytes)), r.MemoryOf, own, r.Cycles, r.Unit, percent(r.GCShare), size(r.LiveBytes), seconds(r.Seconds)))))
	fmt.Fprintln(w)
	rows := [][]string{paintAll(s, "", "CPU / "+r.Unit, "GC share", "resident", "measured CPU", "95 % of the change", "resident", "")}
	for i, x := range r.Rows {
		rows = append(rows, gcRow(r, i, x, s))
	}
	for _, line := range table(rows, "   ", 1, 2, 3, 4, 5, 6) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	c := r.Choice
	if c == nil {
		fmt.Fprintln(w, wrap("Keep the current setting: "+screen.Line(r.Keep)+".", "", s.width()))
		return
	}
	x := r.Rows[c.Row]
	fmt.Fprintln(w, s.paint(strong, screen.Line(strings.Join(c.Env, " "))))
	fmt.Fprintln(w, wrap(screen.Line(gcVerdict(r, x)), "", s.width()))
	fmt.Fprintln(w, wrap(liveGrownText(c.Grown), "", s.width()))
}

// liveGrownText says how much CPU the garbage collector takes if live memory grows, within the same
// budget.
func liveGrownText(all []tunegc.Grown) string {
	var parts []string
	for _, g := range all {
		if g.GCShare < 0 {
			parts = append(parts, fmt.Sprintf("at %.3g times as much it does not fit into the budget, and GOMEMLIMIT makes the garbage collector run all the time", g.Factor))
			break
		}
		parts = append(parts, fmt.Sprintf("%s of CPU at %.3g times as much", percent(g.GCShare), g.Factor))
	}
	if len(parts) == 0 {
		return ""
	}
	return "If live memory grows, the garbage collector takes, within the same budget: " + strings.Join(parts, ", ") + "."
}

func gcRow(r *tunegc.Result, i int, x tunegc.Row, s Style) []string {
	name := "GOGC=off"
	if x.GOGC > 0 {
		name = fmt.Sprintf("GOGC=%d", x.GOGC)
	}
	if x.Limit > 0 {
		name += " GOMEMLIMIT=" + size(x.Limit)
	}
	cells := []string{name, seconds(x.CPUSeconds), percent(x.GCShare), size(x.Resident), "", "", "", ""}
	switch m := x.Measured; {
	case m == nil:
	case m.Failed != "":
		cells[7] = "failed: " + oneLine(m.Failed)
	default:
		cells[4], cells[6] = seconds(m.CPUSeconds), size(m.Resident)
		if m.Low != nil && m.High != nil {
			cells[5] = s.paint(faint, change(*m.Low)+" to "+change(*m.High))
		}
	}
	switch {
	case cells[7] != "":
	case r.Choice != nil && r.Choice.Row == i:
		cells[0], cells[7] = s.paint(strong, cells[0]), s.paint(strong, "← this one")
	case x.Own:
		cells[7] = "current"
	case !x.Fits:
		cells[7] = s.paint(faint, "does not fit")
	}
	return cells
}

// gcVerdict says what the chosen setting does: predicted, and measured.
func gcVerdict(r *tunegc.Result, x tunegc.Row) string {
	own := x
	for _, y := range r.Rows {
		if y.Own {
			own = y
		}
	}
	text := fmt.Sprintf("Predicted: %s of CPU per %s, %s resident.", change(x.CPUSeconds/own.CPUSeconds), r.Unit, size(x.Resident))
	m := x.Measured
	switch {
	case m == nil:
		return text + " Not measured."
	case m.Failed != "":
		return text + " It could not be measured: " + oneLine(m.Failed)
	case m.Ratio == nil:
		return text + fmt.Sprintf(" Measured: %s per %s.", seconds(m.CPUSeconds), r.Unit)
	}
	text += " Measured: " + change(*m.Ratio)
	if m.Low != nil && m.High != nil {
		text += fmt.Sprintf(" (%s to %s)", change(*m.Low), change(*m.High))
	}
	return text + fmt.Sprintf(", %s resident: %s.", size(m.Resident), m.Verdict)
}
