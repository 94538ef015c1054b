package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
	"github.com/hone-go/hone/profile"
)

// seeTables is the script that sorts tables and copies them as text.
const seeTables = `
let copied = "";
// Records what a page copies, with the clipboard's interface or without.
function record(clipboard) {
  copied = "";
  const writeText = (text) => { copied = text; return Promise.resolve(); };
  Object.defineProperty(frame.contentWindow.navigator, "clipboard", { configurable: true, value: clipboard ? { writeText } : undefined });
  doc().execCommand = (name) => { copied = name + ": " + doc().activeElement.value; return true; };
}
// The tables of the page, each with its buttons and fields.
const parts = () => [...doc().querySelectorAll("main table.rows")].map((t) => t.parentElement);
const button = (part, name) => [...part.querySelectorAll("button")].find((b) => b.textContent === name);
const names = (part) => [...part.querySelectorAll("tbody tr")].map((r) => r.lastElementChild.textContent);
const sorted = (part) => [...part.querySelectorAll("th")].map((th) => th.getAttribute("aria-sort"));
const plain = (text) => text.replace(/\s+/g, " ").trim().replace(/^#/, ""); // the sign of a request's number
// Links and buttons below an empty head are not copied.
const cells = (part) => [...part.querySelectorAll("tr")].map((r) => [...r.cells].map((c, i) =>
  part.querySelectorAll("th")[i].textContent || !c.querySelector("a, button") ? plain(c.textContent) : ""));
function copy(part) {
  button(part, "copy").click();
  return copied.split("\n").map((line) => line.split("\t").map(plain));
}
`

// TestUITablesInBrowser sorts, searches and copies the tables of the pages.
func TestUITablesInBrowser(t *testing.T) {
	live.Only(t)
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	for stack, ms := range map[string]int64{"main.b main.c main.main": 60, "main.c main.main": 10, "main.a main.main": 25, "main.Z main.main": 5} {
		var frames []profile.FrameSpec
		for name := range strings.FieldsSeq(stack) {
			frames = append(frames, profile.FrameSpec{Function: name, File: "/src/main.go", Line: 3})
		}
		b.Add(frames, ms*1e6)
	}
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cpu.pprof")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	c := newCorpus(t)
	db := filepath.Join(t.TempDir(), "h.db")
	historyOf(t, db, "", nil)
	h, _ := uiOf(t, file, c.recording, c.trace, db)
	got := browsertest.Drive(t, h, seeTables+`
await open("/?src=0&view=top");
const [top] = parts();
see("by flat, as the server sorts", names(top));
for (const [head, times] of [["cum", 1], ["cum", 2], ["flat", 1], ["flat %", 1], ["function", 1], ["function", 2]]) {
  for (let i = 0; i < times; i++) button(top, head).click();
  see(head + " " + times, [names(top).join(" "), ...sorted(top)]);
  button(top, "cum %").click();
}
button(top, "function").click();
record(true);
button(top, "copy").click();
see("copied", copied);
record(false);
see("copied without the clipboard's interface", copy(top)[0][0]);
see("nothing is left of it", doc().querySelectorAll("textarea").length);
record(true);
const search = top.querySelector("input[type=search]");
search.value = "MAIN.C";
search.dispatchEvent(new Event("input"));
see("found", [names(top), copy(top).length]);

const seenViews = [], unlike = [], counts = {};
for (const address of ["src=0&view=peek&fn=main.c", "src=0&view=diff&base=0", "src=1&view=recording", "src=2&view=trace", "src=2&view=requests", "src=2&view=summary", "src=3&view=history"]) {
  await open("/?" + address);
  await until("all columns", () => !doc().querySelector("main [aria-busy=true]"));
  record(true);
  const view = at("view");
  counts[view] = parts().length;
  for (const [i, part] of parts().entries()) {
    const check = (what) => {
      for (const b of part.querySelectorAll("button")) if (/^all \d+ rows$/.test(b.textContent) && !b.hidden) b.click();
      if (JSON.stringify(copy(part)) !== JSON.stringify(cells(part))) unlike.push([view, i, what, copied, cells(part)]);
    };
    const before = cells(part).map(String).sort();
    check("unsorted");
    for (const head of part.querySelectorAll("th button")) {
      const orders = [];
      for (const _ of [1, 2]) {
        head.click();
        check(head.textContent);
        orders.push(head.closest("th").getAttribute("aria-sort"));
      }
      if (orders.sort().join() !== "ascending,descending") unlike.push([view, i, head.textContent, orders]);
    }
    if (cells(part).map(String).sort().join("\n") !== before.join("\n")) unlike.push([view, i, "other rows after sorting"]);
  }
}
see("tables", counts);
see("copied otherwise than shown", unlike);
`)
	want := map[string]string{
		"by flat, as the server sorts": `["main.b","main.a","main.c","main.Z","main.main"]`,
		"cum 1":                        `["main.main main.c main.b main.a main.Z",null,null,"descending",null,null]`,
		"cum 2":                        `["main.Z main.a main.b main.c main.main",null,null,"ascending",null,null]`,
		"flat 1":                       `["main.b main.a main.c main.Z main.main","descending",null,null,null,null]`,
		"flat % 1":                     `["main.b main.a main.c main.Z main.main",null,"descending",null,null,null]`,
		"function 1":                   `["main.a main.b main.c main.main main.Z",null,null,null,null,"ascending"]`,
		"function 2":                   `["main.Z main.main main.c main.b main.a",null,null,null,null,"descending"]`,
		"copied": "flat\tflat %\tcum\tcum %\tfunction\n25 ms\t25 %\t25 ms\t25 %\tmain.a\n60 ms\t60 %\t60 ms\t60 %\tmain.b\n" +
			"10 ms\t10 %\t70 ms\t70 %\tmain.c\n0 s\t0.0 %\t100 ms\t100 %\tmain.main\n5 ms\t5.0 %\t5 ms\t5.0 %\tmain.Z",
		"copied without the clipboard's interface": "copy: flat",
		"nothing is left of it":                    "0",
		"found":                                    `[["main.c"],2]`,
		"copied otherwise than shown":              "[]",
	}
	for what, w := range want {
		if got[what] != w {
			t.Errorf("%s: %s, want %s", what, got[what], w)
		}
	}
	var counts map[string]int
	if err := json.Unmarshal([]byte(got["tables"]), &counts); err != nil {
		t.Fatal(err)
	}
	for view, n := range counts {
		if n == 0 {
			t.Errorf("%s: no table", view)
		}
	}
}
