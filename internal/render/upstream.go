package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/experiment/upstream"
	"github.com/hone-go/hone/internal/rewrite"
	"github.com/hone-go/hone/internal/screen"
)

// Upstream draws what to do about a finding in a dependency: a version, a workaround, a patched
// copy.
func Upstream(w io.Writer, r *upstream.Result, s Style) {
	fmt.Fprintf(w, "%s  %s\n", s.paint(strong, screen.Line(r.Finding+". "+r.Title)), s.paint(faint, screen.Line(fmt.Sprintf("%s@%s %s:%d", r.Module, r.Version, r.File, r.Line))))
	if r.Upgrade != nil {
		tunedModule(w, r.Upgrade, s)
	} else {
		why := "not searched; -try searches first, like hone tune deps -module " + r.Module + "."
		if r.Fork != nil && r.Fork.Risk == rewrite.Judgement {
			why = "not searched, because there is a copy already; hone tune deps -module " + r.Module + " searches."
		}
		fmt.Fprintln(w, "\n"+wrap(screen.Line("A version without the problem: "+why), "", s.width()))
	}
	if r.Workaround != "" && (r.Upgrade == nil || r.Upgrade.Cure == nil) {
		fmt.Fprintln(w, "\n"+wrap(s.paint(strong, "workaround: ")+screen.Line(r.Workaround), "  ", s.width()))
	}
	if f := r.Fork; f != nil {
		fork(w, f, s)
	}
	if r.Issue != "" {
		fmt.Fprintln(w, "\n"+wrap(screen.Line("Text of an issue for the maintainers, not sent: "+r.Issue), "", s.width()))
	}
}

func fork(w io.Writer, f *upstream.Fork, s Style) {
	fmt.Fprintln(w)
	if f.Left != "" {
		fmt.Fprintln(w, wrap("No patch: "+screen.Line(f.Left)+".", "  ", s.width()))
		return
	}
	fmt.Fprintln(w, s.paint(strong, "patched copy"))
	why := riskText(f.Risk) + ": " + f.Why
	if f.Risk == rewrite.Judgement {
		why = f.Why
	}
	fmt.Fprintln(w, "   "+wrap(screen.Line(why+"."), "   ", s.width()))
	writeDiff(w, f.Diff, s)
	fmt.Fprintln(w, wrap(screen.Line("The package's tests in it: "+f.Tests+"."), "  ", s.width()))
	if f.Trial != nil {
		Try(w, f.Trial, s)
	}
	fmt.Fprintln(w, "\nTo use it, add to go.mod:\n  "+s.paint(strong, screen.Line(f.Replace)))
}
