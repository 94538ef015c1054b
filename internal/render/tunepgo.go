package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/experiment/tunepgo"
	"github.com/hone-go/hone/internal/screen"
)

// TunePGO draws what a profile for the compiler saves.
func TunePGO(w io.Writer, r *tunepgo.Result, s Style) {
	fmt.Fprintln(w, s.paint(faint, screen.Line(fmt.Sprintf("%s · %s samples · %s", r.Target, group(float64(r.Samples)), seconds(r.Seconds)))))
	fmt.Fprintln(w)
	if r.Failed != "" {
		fmt.Fprintln(w, s.paint(bad, "failed: ")+wrap(screen.Line(r.Failed), "        ", s.width()))
		return
	}
	if r.Stale != nil && *r.Stale > 0 {
		fmt.Fprintln(w, wrap(fmt.Sprintf("%s of the profile's samples are in functions that the target's own profile does not have: they are from other code, or from work that the target did not do here.", percent(*r.Stale)), "", s.width()))
	}
	if r.OldSize > 0 && r.NewSize > 0 {
		fmt.Fprintln(w, wrap(fmt.Sprintf("The executable: %s without the profile, %s with it (%s). The build with it took %s.",
			size(float64(r.OldSize)), size(float64(r.NewSize)), change(float64(r.NewSize)/float64(r.OldSize)), seconds(r.BuildTime)), "", s.width()))
	}
	if r.Comparison != nil {
		fmt.Fprintln(w)
		Comparison(w, r.Comparison, s)
	}
	if r.Written != "" {
		fmt.Fprintln(w, s.paint(strong, "written: ")+screen.Line(r.Written))
	}
}
