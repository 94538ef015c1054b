package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/internal/render/browsertest"
	"github.com/hone-go/hone/internal/ui"
)

// liveService serves net/http/pprof, in a process that is busy.
func liveService(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	service := httptest.NewServer(mux)
	stop := make(chan bool)
	go keepBusy(stop)
	t.Cleanup(func() {
		close(stop)
		service.Close()
	})
	return service
}

func keepBusy(stop <-chan bool) {
	text := ""
	for {
		select {
		case <-stop:
			return
		default:
			for text = ""; len(text) < 1000; text += "x" {
			}
		}
	}
}

// startedUI runs `hone ui` until the test ends, and returns the address that it prints.
func startedUI(t *testing.T, args ...string) (address string, env Env) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, printed := io.Pipe()
	env = Env{Stdin: strings.NewReader(""), Stdout: printed, Stderr: io.Discard, Getenv: func(string) string { return "" }, CacheDir: t.TempDir(), Dir: t.TempDir(), Version: "test"}
	done := make(chan error, 1)
	go func() {
		err := dispatch(ctx, append([]string{"ui", "-no_browser"}, args...), env)
		printed.CloseWithError(fmt.Errorf("hone ui has ended: %w", err))
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("hone ui: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	return strings.TrimSpace(line), env
}

// events connects to the events of the pages at an address, and returns a function that waits for
// the next one.
func events(t *testing.T, address string) (next func() ui.Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"api/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func() (e ui.Event) {
		t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Fatal(err)
				}
				return e
			}
		}
		t.Fatalf("the events ended: %v", lines.Err())
		return e
	}
}

// TestUITakesFromAService takes profiles and a trace of a running service, as its page does on a
// click: progress is reported, and each becomes a source whose views are what the commands print.
func TestUITakesFromAService(t *testing.T) {
	service := liveService(t)
	address, env := startedUI(t, service.URL)
	next := events(t, address)
	for _, tt := range []struct {
		what string
		kind ui.Kind
		view string
		of   float64
	}{
		{"profile", ui.KindProfile, "top", 1}, {"trace", ui.KindTrace, "trace-overview", 1}, {"heap", ui.KindProfile, "top", 0},
		{"goroutine", ui.KindProfile, "top", 0},
	} {
		body := fmt.Sprintf(`{"src": %q, "what": %q, "seconds": 1}`, ui.IDOf(service.URL), tt.what)
		resp, err := http.Post(address+"api/take", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusAccepted {
			t.Fatalf("%s: %s", tt.what, resp.Status)
		}
		if e := next(); !e.Start || !strings.HasPrefix(e.Job, tt.what+" of http") {
			t.Errorf("%s starts with %+v", tt.what, e)
		}
		if e := next(); e.Phase != tt.what || e.Of != tt.of || !strings.Contains(e.Text, "/debug/pprof/"+tt.what) {
			t.Errorf("%s: progress %+v", tt.what, e)
		}
		made := next()
		if !made.Done || made.Error != "" || made.Made == "" {
			t.Fatalf("%s ends with %+v", tt.what, made)
		}
		var all []ui.Source
		fetchJSON(t, address+"api/sources", &all)
		got := all[len(all)-1]
		if got.ID != made.Made || got.Kind != tt.kind {
			t.Errorf("%s became %+v, not %s", tt.what, got, made.Made)
		}
		path := ""
		taken, err := os.ReadDir(env.CacheDir + "/taken")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range taken {
			if f.Name() == got.Name {
				path = env.CacheDir + "/taken/" + f.Name()
			}
		}
		command := append(strings.Split(tt.view, "-"), "-json", path)
		answersAsCommand(t, env, address+"api/"+tt.view+"?src="+made.Made, command)
	}
	if live.On {
		resp, err := http.Post(address+"api/take", "application/json", strings.NewReader(fmt.Sprintf(`{"src": %q, "what": "record", "seconds": 5}`, ui.IDOf(service.URL))))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		phases := map[string]bool{}
		e := next()
		for ; !e.Done; e = next() {
			phases[e.Phase] = true
		}
		if e.Error != "" || !phases["clean"] || !phases["cpu"] || !phases["trace"] {
			t.Fatalf("recording: %+v after %v", e, phases)
		}
		found, err := filepath.Glob(filepath.Join(env.CacheDir, "recordings", "*.hone"))
		if err != nil || len(found) != 1 || ui.IDOf(found[0]) != e.Made {
			t.Fatalf("recordings %q, made %s: %v", found, e.Made, err)
		}
		answersAsCommand(t, env, address+"api/findings?src="+e.Made, []string{"findings", "-json", found[0]})
	}
	// What cannot be taken is said, and the page goes on.
	resp, err := http.Post(address+"api/take", "application/json", strings.NewReader(fmt.Sprintf(`{"src": %q, "what": "cmdline", "seconds": 1}`, ui.IDOf(service.URL))))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	next()
	if e := next(); !e.Done || !strings.Contains(e.Error, "no such profile") || e.Made != "" {
		t.Errorf("another part of the service: %+v", e)
	}
}

// TestUILiveInBrowser clicks a CPU profile and a trace of a running service.
func TestUILiveInBrowser(t *testing.T) {
	live.Only(t)
	service := liveService(t)
	address, _ := startedUI(t, service.URL)
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	got := browsertest.Drive(t, forward(t, at), `
await open("/?src=0&view=live");
const button = (name) => [...doc().querySelectorAll("main button")].find((b) => b.textContent.startsWith(name));
for (const [what, view] of [["profile", "flame"], ["trace", "trace"]]) {
  doc().querySelector("main input[type=number]").value = "2";
  button(what).click();
  // The page repeats what it knows of the job before, whose progress may still be shown.
  const shown = () => doc().querySelector("main progress[aria-label=" + what + "]");
  const bar = await until("progress", shown);
  const first = bar.value;
  await until("more progress", () => shown()?.value > first);
  see(what + ": progress", [bar.max, bar.getAttribute("aria-label"), button("stop").disabled]);
  const link = await until("the result", () => [...doc().querySelectorAll("main a")].find((a) => a.textContent === "show it"));
  see(what + ": stop afterwards", button("stop").disabled);
  link.click();
  await settled();
  see(what + ": shows", [doc().body.dataset.view, text("main .error")]);
  frame.contentWindow.history.back();
  await sleep(100);
  await until("the page of the service", () => doc().body.dataset.view === "live" && button("profile"));
}
see("sources", [...doc().querySelectorAll("#source option")].length);
`)
	for what, want := range map[string]string{
		"profile: progress": `[2,"profile",false]`, "profile: stop afterwards": "true", "profile: shows": `["flame",""]`,
		"trace: progress": `[2,"trace",false]`, "trace: stop afterwards": "true", "trace: shows": `["trace",""]`,
		"sources": "3",
	} {
		if got[what] != want {
			t.Errorf("%s: %s, want %s", what, got[what], want)
		}
	}
}

// TestUIListens: other machines are let in with a token only, which the printed address contains.
func TestUIListens(t *testing.T) {
	c := newCorpus(t)
	for _, listen := range []string{"0.0.0.0:0", "[::]:0", ":0", "example.com:0"} {
		err := (&uiBackend{env: Env{CacheDir: t.TempDir(), Dir: t.TempDir()}}).Run(t.Context(), io.Discard, "ui", "-no_browser", "-listen", listen, c.profile)
		if err == nil || !strings.Contains(err.Error(), "-token") {
			t.Errorf("-listen %s: %v", listen, err)
		}
	}
	address, _ := startedUI(t, "-token", "new", c.profile)
	base, token, ok := strings.Cut(address, "?token=")
	if !ok || len(token) < 20 {
		t.Fatalf("address %s", address)
	}
	for target, want := range map[string]int{base: http.StatusUnauthorized, base + "api/sources": http.StatusUnauthorized, base + "?token=" + token[1:]: http.StatusUnauthorized, address: http.StatusOK} {
		resp, err := http.Get(target)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %s, want %d", target, resp.Status, want)
		}
	}
}

// TestUIOpensABrowser: the desktop's command gets the address, unless that is not wanted.
func TestUIOpensABrowser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the command of Linux desktops")
	}
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" > "+seen+".new && /bin/mv "+seen+".new "+seen+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	c := newCorpus(t)
	address, _ := startedUI(t, "-no_browser=false", c.profile)
	for {
		if got, err := os.ReadFile(seen); err == nil {
			if strings.TrimSpace(string(got)) != address {
				t.Errorf("opened %s, printed %s", got, address)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
