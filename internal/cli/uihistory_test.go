package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/history"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
	"github.com/hone-go/hone/internal/ui"
)

// historyOf writes a history of ten commits in which a series doubles at the sixth, which was
// recorded.
func historyOf(t *testing.T, path, note string, cpu []byte) {
	t.Helper()
	s, err := history.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 10 {
		run := history.Run{ID: fmt.Sprintf("%032x", i+1), Commit: fmt.Sprintf("%x%037x", 0xabc0+i, 0)[:40], CommitTime: time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC), Subject: fmt.Sprintf("Change %d", i), Kind: "recording", Go: "go1.26"}
		run.Made = run.CommitTime
		value := 10 + float64(i%3)/10
		var files []history.File
		if i >= 5 {
			value *= 2
		}
		if i == 5 {
			run.Note = note
			files = []history.File{{Name: "cpu.pprof", Data: cpu}, {Name: findingsFile, Data: []byte("{}")}}
		}
		samples := []history.Sample{{Series: history.Series{Name: "service", Unit: "ms/op"}, Values: []float64{value, value + 0.1, value - 0.1}}, {Series: history.Series{Name: "service", Unit: "B/op"}, Values: []float64{64}}}
		if _, err := s.Add(t.Context(), run, samples, files); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUIHistoryInBrowser follows a change of a series from the list of series to the commit, to its
// recording and to a profile that the database has.
func TestUIHistoryInBrowser(t *testing.T) {
	live.Only(t)
	dir := t.TempDir()
	db, rec := filepath.Join(dir, "h.db"), filepath.Join(dir, "sixth.hone")
	recordOf(t, rec, "main.sixth", 1, hostileTrace(t))
	cpu, err := os.ReadFile(profileOfStacks(t, 100))
	if err != nil {
		t.Fatal(err)
	}
	historyOf(t, db, "sixth.hone", cpu)
	address, env := startedUI(t, db, rec)
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	got := browsertest.Drive(t, forward(t, at), `
await open("/?src=0");
see("series", tables()[0].slice(1));
[...doc().querySelectorAll("main a")].find((a) => a.textContent.startsWith("service · ms/op")).click();
await settled();
see("marks", [...doc().querySelectorAll(".plot line.mark title")].map((e) => e.textContent));
see("points", doc().querySelectorAll(".plot circle").length);
see("change", tables()[0][1]);
see("newest run", tables()[1][1]);
see("its own run", tables()[1][5]);
const here = frame.contentWindow.location.href;
[...doc().querySelectorAll("main table a")].find((a) => a.textContent === "sixth.hone").click();
await settled();
see("recording", [doc().body.dataset.view, doc().querySelector("#source").selectedOptions[0].textContent]);
await open(here);
[...doc().querySelectorAll("main table button")].find((a) => a.textContent === "cpu.pprof").click();
await until("the profile", () => doc().body.dataset.view === "flame");
see("profile", [doc().body.dataset.view, doc().querySelector("#source").selectedOptions[0].textContent]);
`)
	series := parsedJSON(t, got["series"])
	if n := len(series.list()); n != 2 {
		t.Errorf("%d series: %s", n, got["series"])
	}
	for what, want := range map[string]string{
		"points": "10", "recording": `["findings","sixth.hone"]`, "profile": `["flame","abc5000000-0000000000-cpu.pprof"]`,
	} {
		if got[what] != want {
			t.Errorf("%s: %s, want %s", what, got[what], want)
		}
	}
	for what, want := range map[string][]string{
		"marks":       {"+", "% at abc5000000"},
		"change":      {"ms/op", "abc4000000", "abc5000000", "commit", "sixth.hone", "cpu.pprof"},
		"newest run":  {"2026-01-10 12:00", "20 ms/op", "go1.26", "20.1 ms", "Change 9"},
		"its own run": {"2026-01-06 12:00", "20.4 ms/op", "sixth.hone", "cpu.pprof", "Change 5"},
	} {
		for _, w := range want {
			if !strings.Contains(got[what], w) {
				t.Errorf("%s: no %q in %s", what, w, got[what])
			}
		}
	}
	// The series are those of the command, also after another run was added.
	for range 2 {
		answersAsCommand(t, env, address+"api/history?src=0", []string{"history", "show", "-json", "-db=" + db})
		answersAsCommand(t, env, address+"api/history-runs?src=0", []string{"history", "list", "-json", "-last=0", "-db=" + db})
		s, err := history.Open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Add(t.Context(), history.Run{Commit: "dddd", CommitTime: time.Unix(2e9, 0), Made: time.Unix(2e9, 0), Kind: "bench"}, []history.Sample{{Series: history.Series{Name: "new", Unit: "s"}, Values: []float64{1}}}, nil)
		if s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := http.Get(address + "api/history-runs?src=0")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), `"dddd"`) {
		t.Errorf("a run that was added later is not shown: %v %.200s", err, text)
	}
}

// TestUIWithoutSources: the pages show the cache's recordings, and the history if there is one.
func TestUIWithoutSources(t *testing.T) {
	db := filepath.Join(t.TempDir(), "h.db")
	for _, want := range []int{0, 1} {
		if want == 1 {
			historyOf(t, db, "", nil)
		}
		b := &uiBackend{env: Env{Getenv: func(string) string { return db }, CacheDir: t.TempDir(), Dir: t.TempDir()}}
		args, err := usualShelves(t.Context(), b.env, b.env.CacheDir)
		if err != nil {
			t.Fatal(err)
		}
		if b.shelves, err = shelvesOf(b.env.Dir, args); err != nil {
			t.Fatal(err)
		}
		if got := b.Sources(); len(got) != want || want == 1 && got[0].Kind != ui.KindHistory {
			t.Errorf("sources %+v", got)
		}
	}
}

// TestUIHidesThePassword: neither the list of sources nor an error has the password of a server.
func TestUIHidesThePassword(t *testing.T) {
	const server = "postgres://me:secret@127.0.0.1:1/x?connect_timeout=1"
	shelves, err := shelvesOf(t.TempDir(), []string{server})
	if err != nil {
		t.Fatal(err)
	}
	h, _ := uiOf(t, shelves...)
	for address, want := range map[string]int{"/api/sources": http.StatusOK, "/api/history?src=0": http.StatusUnprocessableEntity} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+address, nil))
		if text := w.Body.String(); w.Code != want || strings.Contains(text, "secret") || !strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s: %d %s", address, w.Code, text)
		}
	}
}
