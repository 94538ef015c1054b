package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/experiment"
	"github.com/hone-go/hone/internal/screen"
)

// Try draws what came of an experiment: a comparison for each variant.
func Try(w io.Writer, r *experiment.Result, s Style) {
	fmt.Fprintln(w, s.paint(faint, screen.Line(fmt.Sprintf("%s · %d runs of each, in turns · %s", r.Target, r.Runs, seconds(r.Seconds)))))
	for _, o := range r.Outcomes {
		fmt.Fprintf(w, "\n%s\n\n", s.paint(strong, "── with "+screen.Line(o.Name)))
		switch {
		case o.Failed != "":
			fmt.Fprintln(w, s.paint(bad, "failed: ")+wrap(screen.Line(o.Failed), "        ", s.width()))
			continue
		case o.Differs != "":
			fmt.Fprintln(w, s.paint(bad, "not judged: ")+screen.Line(o.Differs))
		}
		if o.Comparison != nil {
			Comparison(w, o.Comparison, s)
		}
	}
}
