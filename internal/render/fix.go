package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/hone-go/hone/internal/experiment/fix"
	"github.com/hone-go/hone/internal/rewrite"
	"github.com/hone-go/hone/internal/screen"
)

// Fix draws changes: prediction, explanation and diff of each, then the results of the checks and
// the trial.
func Fix(w io.Writer, r *fix.Result, s Style) {
	n := 0
	for _, f := range r.Fixes {
		text := f.Diff + f.Proposal // only one of them is set
		if text == "" {
			continue
		}
		if n++; n > 1 {
			fmt.Fprintln(w)
		}
		head := f.Title
		if f.Finding != "" {
			head = f.Finding + ". " + head
		}
		fmt.Fprintf(w, "%s  %s\n", s.paint(strong, screen.Line(head)), s.paint(faint, screen.Line(fmt.Sprintf("%s:%d · %s", f.File, f.Line, f.Rule))))
		if f.Saving != nil {
			fmt.Fprintf(w, "   saves about %s of %s (95 %%: %s)\n", percent(f.Saving.Share), screen.Line(resource(f.Saving)), span(f.Saving.Low, f.Saving.High))
		}
		fmt.Fprintln(w, "   "+wrap(screen.Line(riskText(f.Risk)+": "+f.Why+"."), "   ", s.width()))
		if f.Proposal != "" {
			fmt.Fprintln(w, "   "+s.paint(strong, "a proposal, which hone does not apply"))
		}
		writeDiff(w, text, s)
	}
	for i, f := range left(r.Fixes) {
		if i == 0 {
			if n > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, s.paint(faint, "left unchanged:"))
		}
		fmt.Fprintln(w, "  "+wrap(screen.Line(fmt.Sprintf("%s:%d %s: %s", f.File, f.Line, f.Rule, f.Left)), "    ", s.width()))
	}
	if n == 0 && len(left(r.Fixes)) == 0 {
		fmt.Fprintln(w, "No finding has a rewrite that is safe by types and syntax alone; hone findings says what to do by hand.")
		return
	}
	fixEnd(w, r, s)
}

// writeDiff draws a unified diff.
func writeDiff(w io.Writer, diff string, s Style) {
	for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		parts := strings.Split(line, "\t") // patch needs the part after the tab
		for i := range parts {
			parts[i] = screen.Line(parts[i])
		}
		text := strings.Join(parts, "\t")
		if text == "" || !strings.Contains(" +-@\\", text[:1]) {
			text = " " + text // every line of a diff starts with one of these
		}
		switch {
		case strings.HasPrefix(line, "+"):
			text = s.paint(good, text)
		case strings.HasPrefix(line, "-"):
			text = s.paint(bad, text)
		}
		fmt.Fprintln(w, text)
	}
}

func left(all []fix.Fix) (out []fix.Fix) {
	for _, f := range all {
		if f.Left != "" {
			out = append(out, f)
		}
	}
	return out
}

func riskText(r rewrite.Risk) string {
	switch r {
	case rewrite.ByContext:
		return "same results, judging by the surrounding code"
	case rewrite.Judgement:
		return "results can differ"
	}
	return "same results, judging by types"
}

// fixEnd says what happened to the changes.
func fixEnd(w io.Writer, r *fix.Result, s Style) {
	for i, c := range r.Checked {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, s.paint(faint, "passes: ")+screen.Line(c))
	}
	if r.Trial != nil {
		fmt.Fprintln(w)
		Try(w, r.Trial, s)
	}
	switch {
	case r.Refused != "":
		fmt.Fprintln(w)
		for i, line := range strings.Split(r.Refused, "\n") {
			if i == 0 {
				line = "Nothing was written: " + line
			}
			indent := "  "
			if i == 0 {
				indent = ""
			}
			fmt.Fprintln(w, indent+wrap(screen.Line(line), "  ", s.width()))
		}
	case len(r.Written) > 0:
		fmt.Fprintln(w)
		fmt.Fprintln(w, s.paint(good, screen.Line("written: "+strings.Join(r.Written, ", "))))
	}
}
