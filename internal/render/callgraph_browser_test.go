package render

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/profile"
)

// TestCallGraphInBrowser uses the picture by pointer and keys:
// testdata/callgraph_browser.js.
func TestCallGraphInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium on this machine")
	}
	var b bytes.Buffer
	if err := CallGraphSVG(&b, graphPage(t, profile.GraphOptions{Visual: true})); err != nil {
		t.Fatal(err)
	}
	drive, err := os.ReadFile(filepath.Join("testdata", "callgraph_browser.js"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "graph.svg")
	if err := os.WriteFile(file, []byte(strings.Replace(b.String(), "//]]>", string(drive)+"//]]>", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--window-size=1000,700", "--virtual-time-budget=3000", "--dump-dom", "file://"+file)
	cmd.WaitDelay = 5 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	document, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, stderr.String())
	}
	_, rest, ok := strings.Cut(string(document), `<desc id="seen">`)
	text, _, _ := strings.Cut(rest, "</desc>")
	var seen []struct{ What, Got string }
	if err := json.Unmarshal([]byte(html.UnescapeString(text)), &seen); !ok || err != nil {
		t.Fatalf("the script did not run to its end: %v\n%s\n%s", err, document, stderr.String())
	}
	got := map[string]string{}
	for _, s := range seen {
		got[s.What] = s.Got
	}
	want := map[string]string{
		"joined":                   "(*Server).serve SortFunc[…] main tiny",
		"calls":                    "3",
		"escape":                   "false",
		"zoomed in":                "true",
		"dragged with the pointer": "true",
		"a drag is no click":       "",
		"whole again":              "true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
