package render

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
	"github.com/hone-go/hone/profile/report"
)

// TestCallGraphInBrowser uses the picture by pointer and keys: testdata/callgraph_browser.js.
func TestCallGraphInBrowser(t *testing.T) {
	live.Only(t)
	var b bytes.Buffer
	if err := CallGraphSVG(&b, graphPage(t, report.GraphOptions{Visual: true})); err != nil {
		t.Fatal(err)
	}
	drive, err := os.ReadFile(filepath.Join("testdata", "callgraph_browser.js"))
	if err != nil {
		t.Fatal(err)
	}
	document := browsertest.Open(t, "graph.svg", strings.Replace(b.String(), "//]]>", string(drive)+"//]]>", 1), "")
	got := browsertest.Seen(t, document, `<desc id="seen">`)
	want := map[string]string{
		"joined":                   "(*Server).serve SortFunc[…] main tiny",
		"calls":                    "3",
		"escape":                   "false",
		"zoomed in":                "true",
		"dragged with the pointer": "true",
		"a drag is not a click":    "",
		"whole again":              "true",
		"+ zooms in":               "true",
		"arrows move":              "true",
		"enter chooses":            "true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
