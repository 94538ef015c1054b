package cli

import (
	"bytes"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/render/browsertest"
	"github.com/hone-go/hone/profile"
)

// evil is a name that would run as a script or load an image if a page treated it as markup.
const evil = `<img src=x onerror="top.owned=1;document.title='owned'"><script>top.owned=1;document.title='owned'</script>]]>"'`

// TestUINamesAreTextInBrowser visits every view of a recording whose names are markup: they are
// shown as text, and nothing in them runs.
func TestUINamesAreTextInBrowser(t *testing.T) {
	live.Only(t)
	dir := t.TempDir()
	path, file := filepath.Join(dir, "evil.hone"), filepath.Join(dir, "evil.pprof")
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	frames := []profile.FrameSpec{{Function: "main." + evil, File: "/src/" + evil + ".go", Line: 7}, {Function: "main.main", File: "/src/main.go", Line: 3}}
	b.AddLabeled(frames, []profile.Label{{Key: evil, Str: evil}}, 100, 1e9)
	b.Add(frames[1:], 50, 5e8)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	p.Comments = []string{evil}
	var cpu bytes.Buffer
	if err := p.Encode(&cpu); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, cpu.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m := recording.Manifest{Created: time.Unix(1e9, 0), Load: &recording.Load{Targets: []string{evil}}, Notes: []string{evil}}
	m.Target.Kind, m.Target.Arg = "service", evil
	m.Machine.CPU = evil
	m.Phases = []recording.Phase{{Name: recording.PhaseClean, Seconds: 1, Requests: 1000, CPUSeconds: 1}, {Name: recording.PhaseCPU, Seconds: 2, Requests: 1000}}
	w, err := recording.Create(path, m)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{recording.PartCPU: cpu.Bytes(), recording.PartTrace: hostileTrace(t)} {
		if err := w.Add(name, recording.PhaseCPU, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	h, _ := uiOf(t, path, file)
	fn := url.QueryEscape("main." + evil)
	got := browsertest.Drive(t, h, `
const fn = "`+fn+`";
for (const view of ["findings", "top", "source", "source&fn=" + fn, "peek&fn=" + fn, "peek&fn=main.main", "disasm&fn=" + fn, "diff&base=1", "compare&base=1", "load", "recording", "trace", "requests", "summary", "flame", "graph"]) {
  await open("/?src=0&view=" + view);
  await sleep(100); // images and scripts have had their chance
  const main = doc().getElementById("main");
  see(view.split("=")[0].slice(0, 30), [main.querySelectorAll("script, img").length, window.owned ?? 0, frame.contentWindow.owned ?? 0, doc().title.includes("owned")]);
  if (main.textContent.includes("<img src=x onerror=") || doc().querySelector("main a")?.textContent.includes("<img")) see("text in " + view.split("&")[0], true);
}
`)
	for what, seen := range got {
		if what != "errors" && !strings.HasPrefix(what, "text in ") && seen != "[0,0,0,false]" {
			t.Errorf("%s: elements, scripts that ran, title: %s", what, seen)
		}
	}
	for _, view := range []string{"top", "source", "peek", "recording", "load"} {
		if got["text in "+view] != "true" {
			t.Errorf("%s does not show the name as text", view)
		}
	}
	server := httptest.NewServer(h)
	defer server.Close()
	for _, page := range []string{"flame?src=0", "flame?src=1&inverted=1", "graph?src=0", "timeline?src=0"} {
		document := browsertest.OpenURL(t, server.URL+"/page/"+page)
		if strings.Contains(document, "<title>owned") || strings.Contains(document, "<img") {
			t.Errorf("%s: a name is markup:\n%.2000s", page, document)
		}
		if !strings.HasPrefix(page, "timeline") && !strings.Contains(document, "onerror=") {
			t.Errorf("%s does not show the name", page)
		}
	}
}
