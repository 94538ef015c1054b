// Package browsertest opens pages in a browser without a screen, for tests of their scripts.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Open opens a page at a fragment and returns the document as it is after its scripts have
// run. The name's ending says what the page is: page.html, graph.svg. Without a browser
// on the machine the test is skipped. Such tests need the tag live, and InBrowser in their names,
// by which .ci/run finds them.
func Open(t *testing.T, name, page, fragment string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	return OpenURL(t, "file://"+file+fragment)
}

// OpenURL is [Open] of a page that a server has.
func OpenURL(t *testing.T, url string) string {
	t.Helper()
	return string(run(t, "--window-size=1000,700", "--virtual-time-budget=3000", "--dump-dom", url))
}

// Picture takes a picture of a page as PNG. Frames in the page are drawn too.
func Picture(t *testing.T, url, file string, width, height int, dark bool) {
	t.Helper()
	scheme := "1"
	if dark {
		scheme = "0"
	}
	run(t, fmt.Sprintf("--window-size=%d,%d", width, height), "--virtual-time-budget=9000", "--blink-settings=preferredColorScheme="+scheme,
		"--disable-features=IsolateSandboxedIframes", "--disable-site-isolation-trials", "--screenshot="+file, url)
}

func run(t *testing.T, args ...string) []byte {
	t.Helper()
	var browser string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no chromium on this machine")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run",
		"--user-data-dir=" + filepath.Join(t.TempDir(), "profile")}, args...)...)
	cmd.WaitDelay = 5 * time.Second
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, errors.String())
	}
	return out
}

// Seen returns what the script of a test saw: it leaves a list of {What, Got} as JSON in the
// element that begins with open (`<pre id="seen">`).
func Seen(t *testing.T, document, open string) map[string]string {
	t.Helper()
	tag, _, _ := strings.Cut(strings.TrimPrefix(open, "<"), " ")
	_, rest, ok := strings.Cut(document, open)
	text, _, _ := strings.Cut(rest, "</"+tag+">")
	var seen []struct{ What, Got string }
	if err := json.Unmarshal([]byte(html.UnescapeString(text)), &seen); !ok || err != nil {
		t.Fatalf("the script did not run to its end: %v\n%s", err, document)
	}
	got := map[string]string{}
	for _, s := range seen {
		got[s.What] = s.Got
	}
	return got
}
