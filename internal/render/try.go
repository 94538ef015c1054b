package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/screen"
)

// Try draws the result of an experiment: a comparison for each variant.
func Try(w io.Writer, r *experiment.Result, s Style) {
	fmt.Fprintln(w, s.paint(faint, screen.Line(fmt.Sprintf("%s · %d runs of each, interleaved · %s", r.Target, r.Runs, seconds(r.Seconds)))))
	for _, o := range r.Outcomes {
		fmt.Fprintf(w, "\n%s\n\n", s.paint(strong, "── with "+screen.Line(o.Name)))
		switch {
		case o.Failed != "":
			fmt.Fprintln(w, s.paint(bad, "failed: ")+wrap(oneLine(o.Failed), "        ", s.width()))
			continue
		case o.Differs != "":
			fmt.Fprintln(w, s.paint(bad, "not judged: ")+wrap(screen.Line(o.Differs), "            ", s.width()))
		}
		if a := o.Answers; a != nil {
			fmt.Fprintln(w, s.paint(faint, wrap(screen.Line(answersText(a)), "", s.width())))
		}
		if o.Comparison != nil {
			Comparison(w, o.Comparison, s)
		}
	}
}

// answersText says which responses of a service were compared.
func answersText(a *experiment.Answers) string {
	text := fmt.Sprintf("responses compared: the status of %d requests, the body of %d", a.Requests, a.Bodies)
	if n := len(a.Unsteady); n > 0 {
		text += fmt.Sprintf(" (the body for %s changes from request to request, so it cannot be compared)", a.Unsteady[0])
		if n > 1 {
			text += fmt.Sprintf(", as do %d more", n-1)
		}
	}
	return text
}

// oneLine returns the output of a command, such as a compiler's errors, as words of one line.
func oneLine(text string) string { return screen.Line(strings.Join(strings.Fields(text), " ")) }
