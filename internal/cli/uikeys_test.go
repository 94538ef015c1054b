package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
)

// TestUIKeysInBrowser presses every key that the list of keys has.
func TestUIKeysInBrowser(t *testing.T) {
	live.Only(t)
	c := newCorpus(t)
	db := filepath.Join(t.TempDir(), "h.db")
	historyOf(t, db, "", nil)
	h, _ := uiOf(t, c.recording, c.profile, c.trace, db)
	views := map[string]string{
		"f": "findings", "l": "flame", "g": "graph", "t": "top", "s": "source", "p": "peek", "d": "disasm", "c": "trace", "r": "requests",
		"o": "load", "m": "compare", "i": "diff", "e": "recording",
	}
	letters, err := json.Marshal(views)
	if err != nil {
		t.Fatal(err)
	}
	got := browsertest.Drive(t, h, fmt.Sprintf("const letters = %s;", letters)+`
const focused = () => doc().activeElement;
await open("/?src=0&view=findings");
await press("?");
see("list", [...doc().querySelectorAll("#keys dt")].map((e) => e.textContent));
see("g lists", [...doc().querySelectorAll("#keys dd")][0].textContent);
doc().querySelector("#keys button").click();
see("closed", doc().getElementById("keys").open);
for (const [key, view] of Object.entries(letters)) {
  await press("g", key);
  see("g " + key, doc().body.dataset.view);
}
await press("g", "h");
see("a view that the source has not", doc().body.dataset.view);
await open("/?src=3&view=history&track=0");
await open("/?src=3");
await press("g", "h");
see("g h", doc().body.dataset.view);

await open("/?src=1&view=top");
const rows = [...doc().querySelectorAll("main tbody tr")].map((r) => r.querySelector("a")).filter(Boolean);
await press("j");
see("j", rows.indexOf(focused()));
await press("j");
see("j again", rows.indexOf(focused()));
await press("k");
see("k", rows.indexOf(focused()));
focused().click(); // as browsers do on Enter
await settled();
see("Enter", doc().body.dataset.view);
await open("/?src=1&view=top");
await press("/");
see("/", focused().type);
await press("g", "f");
see("letters in a field", [doc().body.dataset.view, focused().type]);
focused().blur();
await press("n");
see("n", [doc().getElementById("source").selectedIndex, doc().body.dataset.view]);
await press("N");
see("N", [doc().getElementById("source").selectedIndex, doc().body.dataset.view]);
await open("/?src=1&view=top&focus=main&hide=x&granularity=lines");
await press("x");
see("x", [at("focus"), at("hide"), at("granularity"), at("view")]);

await open("/?src=2&view=trace");
const shown = () => at("from") + " " + at("to");
const moved = async (key) => {
  const before = shown();
  await press(key);
  return shown() !== before;
};
for (const key of ["+", "ArrowRight", "ArrowLeft", "-"]) see(key, await moved(key));
await press("+", "0");
see("0", shown());
await press("+");
const words = () => text(".group .faint"), selected = () => text("main .tools");
const whole = selected();
await press("[");
const one = selected();
await press("]");
see("[ and ]", [words(), one !== whole, selected() !== one]);
await press("Escape");
see("Esc", words());
await press("[", "Enter");
see("Enter zooms", selected() !== whole);
for (const key of ["w", "c", "r", "y"]) {
  await open("/?src=2&view=trace&from=1us&to=500us");
  await press(key);
  see(key, [doc().body.dataset.view, at("part"), at("from"), at("to")]);
}
await open("/?src=2&view=trace");
const wide = doc().querySelector("canvas").clientWidth;
frame.contentWindow.dispatchEvent(new Event("beforeprint"));
const paper = doc().querySelector("canvas").clientWidth;
frame.contentWindow.dispatchEvent(new Event("afterprint"));
see("on paper", [paper, doc().querySelector("canvas").clientWidth === wide, wide > paper]);
await open("/?src=1&view=flame");
const message = async (data, source = doc().querySelector("main iframe").contentWindow) => {
  frame.contentWindow.dispatchEvent(new MessageEvent("message", { data, source }));
  await settled();
};
await message({ hone: "key", key: "?" });
see("? in a frame", doc().getElementById("keys").open);
doc().querySelector("#keys button").click();
await message({ hone: "key", key: "g" });
await message({ hone: "key", key: "t" });
see("g t in a frame", doc().body.dataset.view);
await open("/?src=1&view=flame");
await message({ hone: "source", fn: "main.x" });
see("l", [doc().body.dataset.view, at("fn")]);
for (const hone of ["sandwich", "callers", "callees"]) {
  await open("/?src=1&view=flame&focus=main" + (hone === "callers" ? "" : "&inverted=1"));
  await message({ hone, fn: "main.x" });
  see(hone, [at("inverted"), at("sandwich"), at("focus"), doc().querySelector("main iframe").getAttribute("src").replace(/.*focus=main/, "")]);
}
const format = await import("/files/format.js");
see("digits", [99.96, 10, 20.04, 0.9996, 1234567.5, 0.00123456, -3.14159, 9.996, 0].map(format.digits));
see("percent", [0.0125, 0.0996, 0.5, -0.021].map(format.percent));
`)
	want := map[string]string{
		"list":   `["g then a letter","j, k","Enter","/","n","x","+  −  0","←  →","[  ]","w c r y","l","Tab, Enter","Esc","?"]`,
		"closed": "false", "a view that the source has not": "top", "g h": "history",
		"j": "0", "j again": "1", "k": "0", "Enter": "source", "/": "search", "letters in a field": `["top","search"]`,
		"n": `[2,"top"]`, "N": `[1,"top"]`, "x": `[null,null,null,"top"]`,
		"+": "true", "ArrowRight": "true", "ArrowLeft": "true", "-": "true", "0": "null null",
		"[ and ]": `["flame graph of the selection:",true,true]`, "Esc": "flame graph of this window:", "Enter zooms": "true",
		"w": `["flame","blocking","1000ns","500000ns"]`, "c": `["flame","cpu","1000ns","500000ns"]`, "r": `["flame","sched","1000ns","500000ns"]`, "y": `["flame","syscalls","1000ns","500000ns"]`,
		"on paper": "[718,true,true]", "? in a frame": "true", "g t in a frame": "top", "l": `["source","main.x"]`,
		"sandwich": `[null,"main.x","main","#view=sandwich&function=main.x"]`, "callers": `["1",null,"main","&inverted=1"]`, "callees": `[null,null,"main",""]`,
		"digits": `["100","10","20","1","1,234,568","0.00123","-3.14","10","0"]`, "percent": `["1.3 %","10.0 %","50 %","-2.1 %"]`,
	}
	for key, view := range views {
		want["g "+key] = view
		if !strings.Contains(got["g lists"], key+" ") {
			t.Errorf("the list of keys does not say what g %s does: %s", key, got["g lists"])
		}
	}
	for what, w := range want {
		if got[what] != w {
			t.Errorf("%s: %s, want %s", what, got[what], w)
		}
	}
}
