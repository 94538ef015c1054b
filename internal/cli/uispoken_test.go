package cli

import (
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
)

// TestUISpokenInBrowser checks, in all views, what screen readers depend on: every control, picture
// and frame has a name, every table has heads and every head a text, the language is set, and the
// view is in a landmark under one heading or a title.
func TestUISpokenInBrowser(t *testing.T) {
	live.Only(t)
	c := newCorpus(t)
	db := filepath.Join(t.TempDir(), "h.db")
	historyOf(t, db, "", nil)
	h, _ := uiOf(t, c.recording, c.profile, c.trace, db)
	got := browsertest.Drive(t, h, `
const named = (e) => {
  const by = (e.getAttribute("aria-labelledby") || "").split(" ").map((id) => doc().getElementById(id)?.textContent || "").join(" ");
  return (e.getAttribute("aria-label") || by || [...(e.labels || [])].map((l) => l.textContent).join(" ") || e.getAttribute("title") ||
    (e.matches("input, select, textarea, iframe, canvas") ? e.getAttribute("placeholder") || "" : e.textContent) ||
    e.querySelector("title, img[alt]")?.textContent || "").trim();
};
const shown = (e) => e.getClientRects().length > 0;
const short = (e) => e.outerHTML.slice(0, 90);
let controls = 0, tables = 0;
async function check(path) {
  await open(path);
  for (const e of doc().querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, iframe, canvas, svg[role], img, [role=button], [tabindex='0']"))
    if (shown(e) && e.getAttribute("aria-hidden") !== "true") {
      controls++;
      if (!named(e)) see(path + ": no name", short(e));
    }
  for (const t of doc().querySelectorAll("table"))
    if (shown(t)) {
      tables++;
      if (!t.querySelector("th")) see(path + ": no heads", short(t));
      if ([...t.querySelectorAll("td")].some((d) => d.getAttribute("onclick"))) see(path + ": a cell that only a mouse can press", short(t));
    }
  if (!doc().documentElement.lang) see(path, "no language");
  if (!doc().querySelector("main")) see(path, "no main");
  if (!doc().title) see(path, "no title");
}
for (const view of ["findings", "flame", "graph", "top", "source", "peek", "disasm", "trace", "requests", "load", "compare", "diff", "recording"])
  await check("/?src=0&view=" + view);
for (const view of ["flame", "graph", "top", "source", "peek", "diff"]) await check("/?src=1&view=" + view);
for (const view of ["trace", "requests"]) await check("/?src=2&view=" + view);
await check("/?src=3&view=history");
await check("/?src=3&view=history&track=0");
see("controls", controls > 200);
see("tables", tables > 10);
`)
	for key, value := range got {
		if want := map[string]string{"controls": "true", "tables": "true", "errors": ""}; value != want[key] {
			t.Errorf("%s: %s", key, value)
		}
	}
}
