package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/doctor"
	"github.com/hone-go/hone/internal/screen"
)

// Doctor draws the checks of `hone doctor`, each with what to do about it.
func Doctor(w io.Writer, checks []doctor.Check, s Style) {
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	for _, c := range checks {
		mark := s.paint(good, "ok  ")
		switch c.Status {
		case doctor.Warn:
			mark = s.paint(strong, "warn")
		case doctor.Fail:
			mark = s.paint(bad, "FAIL")
		}
		indent := fmt.Sprintf("%*s", width+8, "")
		fmt.Fprintf(w, "%s  %s  %s\n", mark, padRight(screen.Line(c.Name), width), wrap(c.Detail, indent, s.width()))
		if c.Fix != "" && c.Status != doctor.OK {
			fmt.Fprintf(w, "%s%s\n", indent, wrap("→ "+c.Fix, indent, s.width()))
		}
	}
}
