package ui_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/ui"
)

// service is a backend with a service, from which nothing is ever taken.
type service struct{ backend }

func (s *service) Sources() []ui.Source {
	return append(s.backend.Sources(), ui.Source{Name: "http://127.0.0.1:6060", Path: "http://127.0.0.1:6060", Kind: ui.KindService})
}

// takable returns a handler that can take data from a service, and tells what it was asked for.
func takable(t *testing.T, token string) (h http.Handler, b *service, taken chan string) {
	b, taken = &service{}, make(chan string, 100)
	return serve(t, ui.Options{Backend: b, Feed: &ui.Feed{}, Token: token, Take: func(ctx context.Context, _ ui.Source, what string, _ time.Duration, _ func(ui.Event)) (string, error) {
		taken <- what
		<-ctx.Done() // until it is stopped
		return "", ctx.Err()
	}}), b, taken
}

func ask(h http.Handler, method, target, body string, header map[string]string) *httptest.ResponseRecorder {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if target == "/api/live" { // which goes on until the page is closed
		cancel()
	}
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:6061"
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const wanted = `{"src": "2", "what": "profile", "seconds": 1}`

// TestOtherSitesReadNothing: only our own pages, and people, get answers; for all others no command
// is run. No answer allows another site to read it.
func TestOtherSitesReadNothing(t *testing.T) {
	h, b, _ := takable(t, "")
	addresses := []string{"/api/sources", "/api/top?src=0", "/page/flame?src=0", "/part/cpu.pprof?src=0", "/files/app.js"}
	for site, want := range map[string]int{"cross-site": http.StatusForbidden, "same-site": http.StatusForbidden, "none": http.StatusOK, "same-origin": http.StatusOK, "": http.StatusOK} {
		for _, address := range addresses {
			ran := len(b.ran)
			w := ask(h, http.MethodGet, address, "", map[string]string{"Sec-Fetch-Site": site, "Origin": "http://evil.example"})
			if w.Code != want {
				t.Errorf("%s for %q: %d, want %d", address, site, w.Code, want)
			}
			if want != http.StatusOK && len(b.ran) != ran {
				t.Errorf("%s for %q ran a command", address, site)
			}
			if got := w.Header().Get("Cross-Origin-Resource-Policy"); got != "same-origin" {
				t.Errorf("%s: Cross-Origin-Resource-Policy %q", address, got)
			}
			for name := range w.Header() {
				if strings.HasPrefix(name, "Access-Control-") {
					t.Errorf("%s: %s", address, name)
				}
			}
		}
	}
	if w := ask(h, http.MethodGet, "/?src=0&view=top", "", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}); w.Code != http.StatusOK {
		t.Errorf("a link in a ticket: %d", w.Code)
	}
}

// TestOtherSitesChangeNothing: a page of another site cannot start or stop anything, in none of the
// ways in which browsers let it send a request.
func TestOtherSitesChangeNothing(t *testing.T) {
	const kind = "application/json"
	for name, tt := range map[string]struct {
		header map[string]string
		want   int
	}{
		"fetch from another site":        {map[string]string{"Content-Type": kind, "Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}, http.StatusForbidden},
		"fetch from another port":        {map[string]string{"Content-Type": kind, "Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:8080"}, http.StatusForbidden},
		"a browser without Fetch-Site":   {map[string]string{"Content-Type": kind, "Origin": "http://evil.example"}, http.StatusForbidden},
		"a frame without an origin":      {map[string]string{"Content-Type": kind, "Origin": "null"}, http.StatusForbidden},
		"a form that sends text":         {map[string]string{"Content-Type": "text/plain"}, http.StatusUnsupportedMediaType},
		"a form that sends its fields":   {map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, http.StatusUnsupportedMediaType},
		"our page":                       {map[string]string{"Content-Type": kind, "Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:6061"}, http.StatusAccepted},
		"a program, such as curl":        {map[string]string{"Content-Type": kind}, http.StatusAccepted},
		"our page in an older browser":   {map[string]string{"Content-Type": kind, "Origin": "http://127.0.0.1:6061"}, http.StatusAccepted},
		"our page, with a character set": {map[string]string{"Content-Type": kind + "; charset=utf-8", "Sec-Fetch-Site": "same-origin"}, http.StatusAccepted},
	} {
		h, _, taken := takable(t, "")
		if w := ask(h, http.MethodPost, "/api/take", wanted, tt.header); w.Code != tt.want {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, tt.want)
		}
		if tt.want == http.StatusAccepted {
			<-taken
		} else if len(taken) > 0 {
			t.Errorf("%s: something was taken", name)
		}
		if w := ask(h, http.MethodPost, "/api/stop", "", tt.header); tt.want == http.StatusForbidden && w.Code != http.StatusForbidden {
			t.Errorf("%s stops a job: %d", name, w.Code)
		}
	}
}

// TestGetChangesNothing: only POST starts or stops a job.
func TestGetChangesNothing(t *testing.T) {
	h, b, taken := takable(t, "")
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		for _, address := range []string{"/api/take", "/api/take?src=2&what=profile&seconds=1", "/api/stop", "/page/take?src=2"} {
			if w := ask(h, method, address, wanted, map[string]string{"Content-Type": "application/json"}); w.Code < 400 {
				t.Errorf("%s %s: %d", method, address, w.Code)
			}
		}
	}
	if len(taken) > 0 || len(b.ran) > 0 {
		t.Errorf("%d jobs were started, and the commands %q", len(taken), b.ran)
	}
}

// TestTokenIsForEverything: without the token, no address answers, including those that change
// something.
func TestTokenIsForEverything(t *testing.T) {
	h, b, taken := takable(t, "secret")
	for _, address := range []string{"/", "/files/app.js", "/api/sources", "/api/top?src=0", "/api/live", "/page/flame?src=0", "/part/cpu.pprof?src=0", "/api/take", "/api/stop", "/nothing"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			w := ask(h, method, address, wanted, map[string]string{"Content-Type": "application/json", "Cookie": "hone_token=secrets"})
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s %s: %d", method, address, w.Code)
			}
		}
	}
	if len(taken) > 0 || len(b.ran) > 0 {
		t.Errorf("%d jobs were started, and the commands %q", len(taken), b.ran)
	}
}

// TestOnlySourcesThatWereGiven: whatever an address says, a command gets the paths of the given
// sources only.
func TestOnlySourcesThatWereGiven(t *testing.T) {
	b := &backend{}
	h := serve(t, ui.Options{Backend: b})
	for _, evil := range []string{"/etc/passwd", "../../etc/passwd", "a.hone", "/r/a.hone", "http://127.0.0.1:1/", "-db=/etc/passwd", "99", "-1", "0/../1", "%00"} {
		for _, view := range []string{"/api/top?src=", "/api/findings?src=", "/api/diff?src=0&base=", "/api/top?src=0&base=", "/page/flame?src=", "/api/history?src=", "/part/cpu.pprof?src="} {
			if w := get(h, view+evil); w.Code < 400 {
				t.Errorf("%s%s: %d %s", view, evil, w.Code, w.Body)
			}
		}
	}
	for _, part := range []string{"/etc/passwd", "..", "a:b:c", "heap/../../x", "x y"} {
		if w := get(h, "/api/top?src=0&part="+strings.ReplaceAll(part, " ", "%20")); w.Code < 400 {
			t.Errorf("part %s: %d", part, w.Code)
		}
	}
	if len(b.ran) > 0 {
		t.Errorf("ran %q", b.ran)
	}
	get(h, "/api/top?src=1&o=/etc/x&cache=/etc&db=/etc/passwd")
	if all := slices.Concat(b.ran...); slices.ContainsFunc(all, func(arg string) bool { return strings.Contains(arg, "/etc") }) {
		t.Errorf("ran %q", b.ran)
	}
}

// TestViewsOfTheirSources: a view of a service would take a profile from it, and the history's
// command would create a database in another file, both by GET.
func TestViewsOfTheirSources(t *testing.T) {
	h, b, _ := takable(t, "")
	for _, address := range []string{"/api/top?src=2", "/api/findings?src=2", "/page/flame?src=2", "/api/top?src=0&base=2", "/api/diff?src=0&base=2", "/api/compare?src=0&base=2", "/api/history?src=0", "/api/history?src=1", "/part/cpu.pprof?src=2"} {
		if w := get(h, address); w.Code < 400 {
			t.Errorf("%s: %d", address, w.Code)
		}
	}
	if len(b.ran) > 0 {
		t.Errorf("ran %q", b.ran)
	}
}
