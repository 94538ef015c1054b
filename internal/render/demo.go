package render

import (
	"fmt"
	"io"

	"github.com/hone-go/hone/internal/demo"
)

// Demo draws the demo: the findings of the first program, those that remain in the second, the
// comparison, and the predicted and measured savings.
func Demo(w io.Writer, r *demo.Result, top int, s Style) {
	section := func(title string) { fmt.Fprintf(w, "%s\n\n", s.paint(strong, "── "+title)) }
	section("before: examples/leftpad/before, the service as it was published")
	Findings(w, FindingsPage{Report: r.Before.Report, Manifest: r.Before.Manifest, Top: top}, s)
	fmt.Fprintln(w)
	section("after: examples/leftpad/after, with the published fixes")
	Findings(w, FindingsPage{Report: r.After.Report, Manifest: r.After.Manifest, Top: top}, s)
	fmt.Fprintln(w)
	section("before against after, same load")
	Comparison(w, r.Comparison, s)
	fmt.Fprintln(w)
	section("predicted and measured savings")
	Proof(w, r.Proof, r.Comparison, s)
	fmt.Fprintf(w, "\nNow your own program: hone run ./cmd/server -load http://127.0.0.1:8080/path\n")
}
