package cli

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
	"github.com/hone-go/hone/internal/ui"
)

// uiOf returns a server for sources, and its environment.
func uiOf(t *testing.T, sources ...string) (http.Handler, Env) {
	t.Helper()
	env := Env{Getenv: os.Getenv, CacheDir: t.TempDir(), Dir: t.TempDir(), Version: "test"}
	h, _, err := ui.New(t.Context(), ui.Options{Backend: &uiBackend{env: env, shelves: sources, kept: &keptSources{ctx: t.Context()}}})
	if err != nil {
		t.Fatal(err)
	}
	return h, env
}

// TestUIAnswersAreTheCommands: a view shows exactly what the command prints.
func TestUIAnswersAreTheCommands(t *testing.T) {
	c := newCorpus(t)
	h, env := uiOf(t, c.recording, c.profile, c.trace)
	server := httptest.NewServer(h)
	defer server.Close()
	for address, args := range map[string][]string{
		"top?src=0":               {"top", "-json", c.recording},
		"top?src=1":               {"top", "-json", c.profile},
		"top?src=0&focus=m":       {"top", "-json", "-focus=m", c.recording},
		"findings?src=0":          {"findings", "-json", c.recording},
		"trace-summary?src=0":     {"trace", "summary", "-json", c.recording},
		"trace-requests?src=2":    {"trace", "requests", "-json", c.trace},
		"diff?src=0&base=1":       {"diff", "-json", c.profile, c.recording},
		"peek?src=1&fn=main.main": {"peek", "-json", "^main\\.main$", c.profile},
		"list?src=1&fn=main.main": {"list", "-json", "^main\\.main$", c.profile},
		"compare?src=0&base=0":    {"compare", "-json", c.recording, c.recording},
		"top?src=0&base=0":        {"top", "-json", "-diff_base=" + c.recording, "-per_request", c.recording},
		"trace-overview?src=2":    {"trace", "overview", "-json", c.trace},
		"trace-overview?src=2&from=1us&to=1ms&columns=50":    {"trace", "overview", "-json", "-from=1us", "-to=1ms", "-columns=50", c.trace},
		"trace-critical?src=2":                               {"trace", "critical", "-json", c.trace},
		"trace-blocking?src=2":                               {"trace", "blocking", "-json", c.trace},
		"trace-goroutines?src=0":                             {"trace", "goroutines", "-json", c.recording},
		"trace-gc?src=0":                                     {"trace", "gc", "-json", c.recording},
		"trace-sched?src=2":                                  {"trace", "sched", "-json", c.trace},
		"trace-syscalls?src=2":                               {"trace", "syscalls", "-json", c.trace},
		"why?src=0&fn=main.main":                             {"why", "-json", "main.main", c.recording},
		"disasm?src=1&fn=main.main":                          {"disasm", "-json", "^main\\.main$", c.profile},
		"top?src=2&part=blocking&from=1us&to=1ms":            {"top", "-json", "-from=1us", "-to=1ms", c.trace + ":blocking"},
		"top?src=0&part=trace:sched&granularity=lines&top=9": {"top", "-json", "-granularity=lines", "-top=9", c.recording + ":trace:sched"},
	} {
		answersAsCommand(t, env, server.URL+"/api/"+address, args)
	}
}

// answersAsCommand checks that an address answers with what a command prints, or with its error.
func answersAsCommand(t *testing.T, env Env, address string, args []string) {
	t.Helper()
	var want strings.Builder
	b := uiBackend{env: env}
	wantErr := b.Run(t.Context(), &want, args...)
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case wantErr != nil:
		if resp.StatusCode != http.StatusUnprocessableEntity || strings.TrimSpace(string(got)) != wantErr.Error() {
			t.Errorf("%s: %d %.300q, the command says %v", address, resp.StatusCode, got, wantErr)
		}
	case string(got) != want.String():
		t.Errorf("%s: another answer than the command's:\n%.300s\n%.300s", address, got, want.String())
	}
}

// TestUIPagesAreTheCommands: a page in a frame is what the command writes, also after pages of the
// same source with other filters.
func TestUIPagesAreTheCommands(t *testing.T) {
	c := newCorpus(t)
	stacks := profileOfStacks(t, 2000)
	h, env := uiOf(t, c.recording, stacks, c.trace)
	server := httptest.NewServer(h)
	defer server.Close()
	flame := []string{"flame", "-format=html", "-direction=callees"}
	for _, page := range []struct {
		address string
		args    []string
	}{
		{"flame?src=1", append(flame, stacks)},
		{"flame?src=1&hide=f.0", append(flame, "-hide=f.0", stacks)},
		{"flame?src=1&focus=f1&granularity=lines", append(flame, "-focus=f1", "-granularity=lines", stacks)},
		{"flame?src=1&inverted=1&show=f..$", []string{"flame", "-format=html", "-show=f..$", "-direction=callers", stacks}},
		{"flame?src=1&ignore=f2.", append(flame, "-ignore=f2.", stacks)},
		{"flame?src=1&hide=nothing", append(flame, "-hide=nothing", stacks)},
		{"flame?src=1&hide=f3&relative_percentages=true", append(flame, "-hide=f3", "-relative_percentages=true", stacks)},
		{"flame?src=0&part=heap&sample_index=inuse_space", append(flame, "-sample_index=inuse_space", c.recording+":heap")},
		{"flame?src=2&part=blocking", append(flame, c.trace+":blocking")},
		{"graph?src=1&hide=f.0", []string{"graph", "-format=svg", "-hide=f.0", stacks}},
		{"timeline?src=2", []string{"trace", "timeline", c.trace}},
	} {
		answersAsCommand(t, env, server.URL+"/page/"+page.address, page.args)
	}
}

func TestUISources(t *testing.T) {
	c := newCorpus(t)
	folder := t.TempDir()
	b := &uiBackend{shelves: []string{c.profile, c.trace, folder}}
	if got := b.Sources(); len(got) != 2 || got[0].Kind != "profile" || got[1].Kind != "trace" {
		t.Errorf("%+v", got)
	}
	data, err := os.ReadFile(c.recording)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "new.hone"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	got := b.Sources()
	if len(got) != 3 || got[2].Name != "new.hone" || got[2].Kind != "recording" {
		t.Fatalf("a recording that came: %+v", got)
	}
	for name, ok := range map[string]bool{"manifest.json": true, "cpu.pprof": true, "../../etc/passwd": false, "none": false} {
		part, err := b.Part(got[2].Path, name)
		if (err == nil) != ok {
			t.Errorf("part %s: %v", name, err)
		}
		if err == nil {
			part.Close()
		}
	}
}

// drive is a page that visits the views of the page under test, which is in a frame.
const drive = `<!doctype html><iframe id="f" width="1000" height="600"></iframe><pre id="seen"></pre><script>
const seen = [], frame = document.getElementById("f");
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
async function settled() {
  for (let i = 0; i < 200; i++) {
    await sleep(20);
    const main = frame.contentDocument?.getElementById("main");
    if (main && frame.contentDocument.body.dataset.state === "drawn") return main;
  }
  return null;
}
async function drive(views) {
  const stuck = new Set(); // what only a pointer can use
  const small = new Set(), wide = new Set(); // texts below 11 px, views that do not fit the window
  for (const v of views) {
    frame.src = "/?src=0&view=" + v;
    await new Promise((r) => { frame.onload = r; });
    const main = await settled();
    const root = frame.contentDocument.documentElement;
    if (root.scrollWidth > root.clientWidth) wide.add(v);
    for (const e of frame.contentDocument.querySelectorAll("body *")) {
      if ([...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && parseFloat(getComputedStyle(e).fontSize) < 11) small.add(v + ": " + e.localName);
      if (!["pointer", "crosshair", "grab"].includes(getComputedStyle(e).cursor)) continue;
      const control = e.closest("a[href], button, select, input, summary, label, option, canvas[data-keys]");
      if (!control || control.tabIndex < 0 && control.localName !== "label" && control.localName !== "option") stuck.add(v + ": " + e.localName);
    }
    const current = frame.contentDocument.querySelector("nav [aria-current]")?.textContent;
    seen.push({ What: v, Got: main ? (main.querySelector(".error") ? "error: " + main.textContent : current) : "nothing" });
  }
  seen.push({ What: "without keys", Got: [...stuck].join(", ") });
  seen.push({ What: "small", Got: [...small].join(", ") }, { What: "wide", Got: [...wide].join(", ") });
  frame.src = "/?src=0&view=top";
  await new Promise((r) => { frame.onload = r; });
  await settled();
  const doc = () => frame.contentDocument;
  const first = doc().querySelector("table.rows td.name a");
  first.click();
  await sleep(100);
  await settled();
  seen.push({ What: "a row leads to the source", Got: new URL(frame.contentWindow.location).searchParams.get("view") });
  frame.contentWindow.history.back();
  await sleep(100);
  await settled();
  seen.push({ What: "back", Got: new URL(frame.contentWindow.location).searchParams.get("view") });
  const rows = () => doc().querySelectorAll("table.rows tbody tr").length;
  const before = rows();
  const search = doc().querySelector("input[type=search]");
  search.value = "no such function";
  search.dispatchEvent(new Event("input"));
  seen.push({ What: "search", Got: String(before > 0 && rows() === 0) });
  seen.push({ What: "names are text", Got: String(doc().querySelectorAll("main script, main img, main b.evil").length) });
  const at = () => new URL(frame.contentWindow.location).searchParams;
  const errors = [];
  const open = async (to) => {
    frame.src = to;
    await new Promise((r) => { frame.onload = r; });
    frame.contentWindow.addEventListener("error", (e) => errors.push(e.message));
    frame.contentWindow.addEventListener("unhandledrejection", (e) => errors.push(String(e.reason)));
    frame.contentWindow.console.error = (...args) => errors.push(args.join(" "));
    await settled();
  };
  const press = async (key) => {
    frame.contentWindow.dispatchEvent(new KeyboardEvent("keydown", { key }));
    await sleep(100);
    await settled();
  };
  await open("/?src=0&view=findings");
  const flame = [...doc().querySelectorAll("main a")].find((a) => a.textContent === "flame graph");
  flame?.click();
  await sleep(100);
  await settled();
  seen.push({ What: "a finding leads to the flame graph", Got: flame ? at().get("view") : "flame" }); // a recording without findings has no link
  await open("/?src=2&view=trace");
  await press("+");
  seen.push({ What: "zoom", Got: String(Boolean(at().get("from") && at().get("to"))) });
  seen.push({ What: "zoomed", Got: doc().querySelector("main .error")?.textContent || "" });
  const stretch = () => [at().get("from"), at().get("to")].join(" to ");
  const zoomed = stretch();
  await press("ArrowRight");
  seen.push({ What: "later", Got: String(stretch() !== zoomed) });
  await press("ArrowLeft");
  seen.push({ What: "and back", Got: String(stretch() === zoomed) });
  await press("-");
  seen.push({ What: "zoomed out", Got: String(stretch() !== zoomed) });
  await press("0");
  seen.push({ What: "whole", Got: stretch() });
  await press("+");
  await press("[");
  const words = doc().querySelector(".group .faint")?.textContent;
  seen.push({ What: "select", Got: words || "" });
  doc().getElementById("flame-blocking")?.click();
  await sleep(100);
  await settled();
  seen.push({ What: "flame of the window", Got: [at().get("view"), at().get("part"), Boolean(at().get("from")), doc().querySelector("main iframe") !== null].join(" ") });
  frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: { hone: "source", fn: "main.x" } }));
  await sleep(50);
  seen.push({ What: "a message from elsewhere", Got: at().get("view") });
  frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: { hone: "source", fn: "main.x" }, source: doc().querySelector("main iframe").contentWindow }));
  await sleep(100);
  await settled();
  seen.push({ What: "a frame opens the source", Got: [at().get("view"), at().get("fn")].join(" ") });
  await press("g");
  await press("t");
  seen.push({ What: "keys go to a view", Got: at().get("view") });
  await press("x");
  seen.push({ What: "x takes the filters away", Got: String(at().get("from")) });
  for (const typed of ["from=1us&to=1.5ms", "to=20us"]) {
    frame.contentWindow.history.pushState(null, "", "/?src=2&view=top&part=blocking&" + typed);
    frame.contentWindow.dispatchEvent(new Event("hone-address"));
    await settled();
    seen.push({ What: typed, Got: doc().getElementById("window").textContent });
  }
  await press("?");
  seen.push({ What: "? lists the keys", Got: String(doc().getElementById("keys").open) });
  seen.push({ What: "errors", Got: errors.join("; ") });
  document.getElementById("seen").textContent = JSON.stringify(seen);
}
drive(VIEWS);
</script>`

// TestUIInBrowser visits the views of a recording with hostile names.
func TestUIInBrowser(t *testing.T) {
	live.Only(t)
	c := newCorpus(t)
	h, _ := uiOf(t, c.recording, c.profile, c.trace)
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.HandleFunc("/drive", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		views, _ := url.QueryUnescape(r.URL.RawQuery)
		w.Write([]byte(strings.Replace(drive, "VIEWS", views, 1)))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	document := browsertest.OpenURL(t, server.URL+"/drive?"+url.QueryEscape(`["findings","top","source","disasm","peek","load","trace","requests","recording","diff"]`))
	got := browsertest.Seen(t, document, `<pre id="seen">`)
	for what, want := range map[string]string{
		"findings": "Findings", "top": "Top", "source": "Source", "peek": "Peek", "disasm": "Disassembly", "load": "Load", "trace": "Trace", "requests": "Requests", "recording": "Recording", "diff": "Diff",
		"a row leads to the source": "source", "back": "top", "search": "true", "names are text": "0",
		"a finding leads to the flame graph": "flame", "zoom": "true", "zoomed": "", "without keys": "", "small": "", "wide": "", "later": "true", "and back": "true", "zoomed out": "true", "whole": " to ",
		"from=1us&to=1.5ms": "only 0.001 ms to 1.500 ms of the trace show it", "to=20us": "only 0.000 ms to 0.020 ms of the trace show it",
		"a message from elsewhere": "flame", "a frame opens the source": "source main.x", "select": "flame graph of the selection:", "flame of the window": "flame blocking true true",
		"keys go to a view": "top", "x takes the filters away": "null", "? lists the keys": "true", "errors": "",
	} {
		if got[what] != want {
			t.Errorf("%s: %.300q, want %q", what, got[what], want)
		}
	}
}

// oneFinding is a backend with one recording, in which there is one finding.
type oneFinding struct{}

func (oneFinding) Sources() []ui.Source {
	return []ui.Source{{Name: "x.hone", Path: "/x.hone", Kind: ui.KindRecording}}
}

func (oneFinding) Part(string, string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(`{"target": {"arg": "../.", "import_path": "example.com/shop"}}`)), nil
}

func (oneFinding) Run(_ context.Context, w io.Writer, _ ...string) error {
	return json.NewEncoder(w).Encode(map[string]any{
		"recording": map[string]any{"target": "example.com/shop"},
		"findings": []any{map[string]any{
			"rank": 1, "rule": "concat-loop", "title": "String built in a loop", "function": "main.pad", "file": "pad.go", "line": 6,
			"entry":  map[string]any{"function": "main.serve", "file": "serve.go", "line": 57},
			"saving": map[string]any{"resource": "cpu", "share": 0.1, "low": 0.08, "high": 0.12},
		}},
	})
}

// TestUIFindingInBrowser: the card of a finding names its caller, and leads to every view of its
// function.
func TestUIFindingInBrowser(t *testing.T) {
	live.Only(t)
	h, _, err := ui.New(t.Context(), ui.Options{Backend: oneFinding{}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	document := html.UnescapeString(browsertest.OpenURL(t, server.URL+"/?view=findings"))
	const focus = "focus=%5Emain%5C.pad%24"
	for _, want := range []string{
		"pad.go:6", "called from serve.go:57", "view=source&fn=main.pad", "view=peek&fn=main.pad", "view=disasm&fn=main.pad",
		"view=flame&" + focus, "view=graph&" + focus, "view=top&" + focus,
	} {
		if !strings.Contains(document, want) {
			t.Errorf("no %s on the page:\n%s", want, document)
		}
	}
	if document := browsertest.OpenURL(t, server.URL+"/?view=recording"); !strings.Contains(document, "example.com/shop") {
		t.Errorf("the recording does not name its package:\n%s", document)
	}
}

// TestUIGraphScriptMayRun: the content security policy of the call graph allows its script, as an
// XML parser reads it.
func TestUIGraphScriptMayRun(t *testing.T) {
	c := newCorpus(t)
	h, _ := uiOf(t, c.recording)
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/page/graph?src=0", nil)
	h.ServeHTTP(w, r)
	var page struct {
		Script string `xml:"script"`
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &page); err != nil || page.Script == "" {
		t.Fatalf("no script in the graph: %v\n%.300s", err, w.Body)
	}
	sum := sha256.Sum256([]byte(page.Script))
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(w.Header().Get("Content-Security-Policy"), want) {
		t.Errorf("the policy blocks the script: %s lacks %s", w.Header().Get("Content-Security-Policy"), want)
	}
}
