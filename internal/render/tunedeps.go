package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/internal/experiment/tunedeps"
	"github.com/hone-go/hone/internal/screen"
)

// TuneDeps draws versions of dependencies: which were tried, what they cost, and the oldest one
// that costs less.
func TuneDeps(w io.Writer, r *tunedeps.Result, s Style) {
	fmt.Fprintln(w, s.paint(faint, screen.Line(fmt.Sprintf("%s · %s", r.Target, seconds(r.Seconds)))))
	if r.Why != "" {
		fmt.Fprintln(w, wrap("No version fixes it: "+screen.Line(r.Why)+". hone tune deps -module PATH tries one anyway.", "", s.width()))
	}
	for i := range r.Modules {
		tunedModule(w, &r.Modules[i], s)
	}
}

// tunedModule draws the versions of one module.
func tunedModule(w io.Writer, m *tunedeps.Module, s Style) {
	head := screen.Line(m.Path + " " + m.Version)
	fmt.Fprintf(w, "\n%s  %s of CPU, %s of allocated bytes\n", s.paint(strong, head), percent(m.Share), percent(m.ByteShare))
	if len(m.Tried) > 0 {
		fmt.Fprintln(w)
	}
	rows := [][]string{}
	if m.Cure != nil {
		rows = append(rows, []string{"  " + screen.Line(m.Version), tunedValue(m.Cure, &m.Cure.Old), s.paint(faint, "current version")})
	}
	for _, t := range m.Tried {
		rows = append(rows, triedRow(m, t, s))
	}
	for _, line := range table(rows, "   ", 1) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
	if m.Cure == nil {
		fmt.Fprintln(w, wrap("No version fixes it: "+screen.Line(m.Why)+".", "", s.width()))
		return
	}
	fmt.Fprintln(w, wrap(screen.Line(cureText(m.Cure)), "", s.width()))
	if m.Last != nil {
		fmt.Fprintln(w, s.paint(faint, wrap(screen.Line(cureText(m.Last)), "", s.width())))
	}
	if m.Required {
		fmt.Fprintln(w, s.paint(strong, screen.Line("go.mod requires "+m.Path+" "+m.Cure.Version+" now")))
		return
	}
	fmt.Fprintln(w, s.paint(strong, screen.Line("go get "+m.Path+"@"+m.Cure.Version)))
}

func triedRow(m *tunedeps.Module, t tunedeps.Tried, s Style) []string {
	cells := []string{"  " + screen.Line(t.Version), "", ""}
	switch {
	case t.Failed != "":
		cells[2] = "failed: " + oneLine(t.Failed)
	case m.Cure == nil:
		cells[2] = "saves nothing"
	default:
		cells[1] = tunedValue(m.Cure, t.Value)
		cells[2] = "does not fix it"
		if t.Cures {
			cells[2] = "fixes it"
		}
		if t.Version == m.Cure.Version {
			cells[2] = s.paint(strong, "fixes it, the oldest that does")
		}
	}
	return cells
}

// tunedValue formats a value of the metric in which the version saves.
func tunedValue(c *tunedeps.Cure, v *float64) string {
	if v == nil {
		return ""
	}
	write, per := unitOf(c.Unit)
	if per != "" {
		per = " / " + per
	}
	return screen.Line(write(*v) + per)
}

// cureText lists what the version changes: every metric with a verdict.
func cureText(c *tunedeps.Cure) string {
	text := c.Version + ":"
	n := 0
	for _, row := range c.Comparison.Rows {
		if row.Verdict != compare.Better && row.Verdict != compare.Worse || row.Ratio == nil {
			continue
		}
		if n++; n > 1 {
			text += ","
		}
		name := row.Metric
		if row.Name != c.Name {
			name = row.Name + " " + name
		}
		text += fmt.Sprintf(" %s %s", name, change(*row.Ratio))
		if row.Low != nil && row.High != nil {
			text += fmt.Sprintf(" (%s to %s)", change(*row.Low), change(*row.High))
		}
	}
	return text + "."
}
