package flame

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
)

// TestPageInBrowser drives the page by keys and pointer: testdata/browser.js.
func TestPageInBrowser(t *testing.T) {
	live.Only(t)
	drive, err := os.ReadFile(filepath.Join("testdata", "browser.js"))
	if err != nil {
		t.Fatal(err)
	}
	document := browsertest.Open(t, "page.html", strings.Replace(page(t), "</body>", "<script type=\"module\">\n"+string(drive)+"</script>\n</body>", 1), "")
	got := browsertest.Seen(t, document, `<pre id="seen">`)
	want := map[string]string{
		"title":          "cpu <1>.pprof · cpu · 1s over 2s",
		"begin":          "all: 1s, 100.0 % of all, self 0",
		"painted":        "true",
		"down":           "main.handler: 700ms, 70.0 % of all, self 100ms",
		"right":          "fmt.Sprintf: 200ms, 20.0 % of all, self 0",
		"focus":          "all›fmt.Sprintf",
		"up":             "main.handler: 700ms, 70.0 % of all, self 100ms",
		"escape":         "all",
		"search":         "60.0 % matched",
		"next match":     "runtime.mallocgc: 400ms, 40.0 % of all, self 400ms",
		"bad search":     "not a regexp, valid false",
		"capitals count": "0.00 % matched",
		"cleared":        "",
		"inverted":       "all›inverted: all: 1s, 100.0 % of all, self 0",
		"leaf":           "runtime.mallocgc: 600ms, 60.0 % of all, self 0",
		"sandwich":       "all›inverted›sandwich of runtime.mallocgc: runtime.mallocgc: 600ms, 60.0 % of all, self 600ms",
		"caller":         "example.com/pad.Left: 400ms, 40.0 % of all, inlined",
		"address":        "#view=sandwich&function=runtime.mallocgc",
		"click":          "all›runtime.main: runtime.main: 300ms, 30.0 % of all, self 0",
		"tip":            "main.walk here, cum 150ms 15.0 % here, flat 0 0.00 % everywhere, cum 150ms 15.0 % everywhere, flat 150ms 15.0 %",
		"crumb":          "all",
		"zoomed":         "all›zoomed",
		"dragged":        "all›zoomed",
		"back":           "all",
		"theme":          "light to dark, repainted true",
		"help":           "true",
		"loaded":         "0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPageIsRecalledInBrowser opens a bookmark.
func TestPageIsRecalledInBrowser(t *testing.T) {
	live.Only(t)
	document := browsertest.Open(t, "page.html", page(t), "#view=sandwich&function=runtime.mallocgc&search=pad&theme=dark")
	for _, want := range []string{
		`data-theme="dark"`, `40.0 % matched</output>`, `<span aria-current="step">sandwich of runtime.mallocgc</span>`,
		`>runtime.mallocgc: 600ms, 60.0 % of all, self 600ms<`,
	} {
		if !strings.Contains(document, want) {
			t.Errorf("the document lacks %s", want)
		}
	}
	if t.Failed() {
		_, body, _ := strings.Cut(document, "<body>")
		t.Log(body[:min(len(body), 3000)])
	}
}

// TestInvertedPageInBrowser opens a page of callers only, and asks it for what it lacks.
func TestInvertedPageInBrowser(t *testing.T) {
	live.Only(t)
	const press = `<script type="module">
const key = (key) => document.getElementById("graph").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const seen = [], note = (what) => seen.push({ what, got: document.getElementById("trail").textContent + ": " + document.getElementById("status").textContent });
note("begin");
for (const k of ["ArrowDown", "i", "s"]) { key(k); note(k); }
const out = document.createElement("pre");
out.id = "seen";
out.textContent = JSON.stringify(seen);
document.body.append(out);
</script>`
	document := browsertest.Open(t, "page.html", strings.Replace(pageOf(t, Callers), "</body>", press+"</body>", 1), "")
	got := browsertest.Seen(t, document, `<pre id="seen">`)
	missing := "inverted: This page contains only one of the graphs; hone flame -direction both writes both."
	want := map[string]string{
		"begin": "inverted: all: 1s, 100.0 % of all, self 0", "ArrowDown": "inverted: runtime.mallocgc: 600ms, 60.0 % of all, self 0",
		"i": missing, "s": missing,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEmptyPageInBrowser(t *testing.T) {
	live.Only(t)
	var b bytes.Buffer
	if err := HTML(&b, empty(t)); err != nil {
		t.Fatal(err)
	}
	document := browsertest.Open(t, "page.html", b.String(), "#search=x")
	if want := "no sample has any cpu"; !strings.Contains(document, want+";") || !strings.Contains(document, "0 % matched</output>") {
		t.Errorf("the document lacks %q:\n%s", want, document[strings.Index(document, "<body>"):][:2500])
	}
}
