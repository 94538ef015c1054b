package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/experiment/tunego"
	"github.com/hone-go/hone/internal/screen"
)

// TuneGo draws the savings of other toolchains.
func TuneGo(w io.Writer, r *tunego.Result, s Style) {
	if r.Trial == nil {
		fmt.Fprintln(w, wrap(screen.Line("Nothing was tried: "+r.Why+"."), "", s.width()))
		return
	}
	Try(w, r.Trial, s)
	fmt.Fprintln(w)
	if r.Best == "" {
		fmt.Fprintln(w, wrap(screen.Line("No release saves CPU without a loss elsewhere; the target has "+r.Current+"."), "", s.width()))
		return
	}
	fmt.Fprintln(w, wrap(screen.Line(r.Best+" saves most; the target has "+r.Current+"."), "", s.width()))
	fmt.Fprintln(w, s.paint(strong, screen.Line("go get toolchain@"+r.Best)))
}
