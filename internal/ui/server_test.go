package ui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/ui"
)

// backend records the command lines that it is asked to run.
type backend struct {
	ran [][]string
	err error
}

func (b *backend) Sources() []ui.Source {
	return []ui.Source{{Name: "a.hone", Path: "/r/a.hone", Kind: "recording"}, {Name: "cpu.pprof", Path: "/r/cpu.pprof", Kind: "profile"}}
}

func (b *backend) Run(_ context.Context, w io.Writer, args ...string) error {
	b.ran = append(b.ran, args)
	fmt.Fprintf(w, `{"ran":%d}`, len(b.ran))
	return b.err
}

func (b *backend) Part(path, name string) (io.ReadCloser, error) {
	if path != "/r/a.hone" || name != "cpu.pprof" && name != "manifest.json" {
		return nil, errors.New("no such part")
	}
	return io.NopCloser(strings.NewReader("part " + name)), nil
}

func serve(t *testing.T, o ui.Options) http.Handler {
	t.Helper()
	h, _, err := ui.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(h http.Handler, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Host = "127.0.0.1:6061"
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestCommands: an address becomes a command line in which no value can be another flag.
func TestCommands(t *testing.T) {
	for _, tt := range []struct {
		address string
		want    []string
	}{
		{"/api/findings?src=0", []string{"findings", "-json", "/r/a.hone"}},
		{"/api/top?src=1&focus=-o%3D/etc/x&sample_index=cpu", []string{"top", "-json", "-sample_index=cpu", "-focus=-o=/etc/x", "/r/cpu.pprof"}},
		{"/api/list?src=0&fn=-o.main(*T).f", []string{"list", "-json", `^-o\.main\(\*T\)\.f$`, "/r/a.hone"}},
		{"/api/why?src=0&fn=--o=x", []string{"why", "-json", "o=x", "/r/a.hone"}},
		{"/api/top?src=0&part=heap&o=/etc/x&cache=/x", []string{"top", "-json", "/r/a.hone:heap"}},
		{"/api/trace-requests?src=0", []string{"trace", "requests", "-json", "/r/a.hone"}},
		{"/api/diff?src=0&base=1", []string{"diff", "-json", "/r/cpu.pprof", "/r/a.hone"}},
		{"/page/flame?src=1", []string{"flame", "-format=html", "-direction=callees", "/r/cpu.pprof"}},
		{"/page/flame?src=1&inverted=1&granularity=lines", []string{"flame", "-format=html", "-granularity=lines", "-direction=callers", "/r/cpu.pprof"}},
		{"/page/graph?src=0&base=1", []string{"graph", "-format=svg", "-diff_base=/r/cpu.pprof", "-per_request", "/r/a.hone"}},
		{"/api/top?src=0&base=1&part=heap", []string{"top", "-json", "-diff_base=/r/cpu.pprof", "-per_request", "/r/a.hone:heap"}},
		{"/page/timeline?src=0&request=7", []string{"trace", "timeline", "-request=7", "/r/a.hone"}},
	} {
		b := &backend{}
		if w := get(serve(t, ui.Options{Backend: b}), tt.address); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", tt.address, w.Code, w.Body)
			continue
		}
		if !slices.Equal(b.ran[0], tt.want) {
			t.Errorf("%s: ran %q, want %q", tt.address, b.ran[0], tt.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	b := &backend{}
	h := serve(t, ui.Options{Backend: b})
	for address, want := range map[string]int{
		"/api/run?src=0":              http.StatusNotFound, // no view
		"/api/record?src=0":           http.StatusNotFound,
		"/api/top?src=2":              http.StatusNotFound,
		"/api/top?src=-1":             http.StatusNotFound,
		"/api/top?src=/etc/passwd":    http.StatusNotFound,
		"/api/top":                    http.StatusNotFound,
		"/api/top?src=0&part=../../x": http.StatusBadRequest,
		"/api/list?src=0":             http.StatusBadRequest, // no function
		"/api/diff?src=0":             http.StatusBadRequest, // no old side
		"/files/../server.go":         http.StatusTemporaryRedirect,
		"/files/none.js":              http.StatusNotFound,
		"/part/none?src=0":            http.StatusNotFound,
		"/part/cpu.pprof?src=1":       http.StatusNotFound, // no recording
		"/nothing":                    http.StatusNotFound,
		"/api/top?src=0&focus=" + strings.Repeat("x", 5000): http.StatusBadRequest,
	} {
		if w := get(h, address); w.Code != want && !(want == http.StatusTemporaryRedirect && w.Code >= 300 && w.Code < 500) {
			t.Errorf("%.60s: %d, want %d", address, w.Code, want)
		}
	}
	if len(b.ran) > 0 {
		t.Errorf("ran %q", b.ran)
	}
	r := httptest.NewRequest(http.MethodPost, "/api/top?src=0", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestHosts: a page from elsewhere whose name resolves to this machine is refused.
func TestHosts(t *testing.T) {
	h := serve(t, ui.Options{Backend: &backend{}})
	for host, want := range map[string]int{
		"127.0.0.1:80": 200, "localhost": 200, "LOCALHOST:9": 200, "[::1]:80": 200, "127.8.8.8": 200,
		"evil.example": 403, "127.0.0.1.evil.example": 403, "localhost.evil.example:80": 403, "": 403, "10.0.0.1": 403,
	} {
		if w := get(h, "/", func(r *http.Request) { r.Host = host }); w.Code != want {
			t.Errorf("host %q: %d, want %d", host, w.Code, want)
		}
	}
}

func TestToken(t *testing.T) {
	if _, _, err := ui.New(t.Context(), ui.Options{Backend: &backend{}, AnyHost: true}); err == nil {
		t.Error("a server for others without a token")
	}
	h := serve(t, ui.Options{Backend: &backend{}, Token: "secret", AnyHost: true})
	if w := get(h, "/api/sources"); w.Code != http.StatusUnauthorized {
		t.Errorf("without: %d", w.Code)
	}
	if w := get(h, "/?token=secre"); w.Code != http.StatusUnauthorized {
		t.Errorf("wrong: %d", w.Code)
	}
	w := get(h, "/?token=secret", func(r *http.Request) { r.Host = "server.example" })
	cookies := w.Result().Cookies()
	if w.Code != http.StatusOK || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("right: %d, cookies %v", w.Code, cookies)
	}
	if w := get(h, "/api/sources", func(r *http.Request) { r.AddCookie(cookies[0]) }); w.Code != http.StatusOK {
		t.Errorf("with the cookie: %d", w.Code)
	}
}

// TestAnswersAreKept: answers are cached; failures are not.
func TestAnswersAreKept(t *testing.T) {
	b := &backend{}
	h := serve(t, ui.Options{Backend: b})
	for range 3 {
		if w := get(h, "/api/top?src=0"); w.Body.String() != `{"ran":1}` {
			t.Errorf("%s", w.Body)
		}
	}
	get(h, "/api/top?src=1")
	if len(b.ran) != 2 {
		t.Errorf("ran %q", b.ran)
	}
	b.err = errors.New("broken <b>file</b>")
	for range 2 {
		w := get(h, "/api/peek?src=0&fn=f")
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "broken") || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
		}
	}
	if len(b.ran) != 4 {
		t.Errorf("ran %q", b.ran)
	}
}

// TestPolicies: pages run only their own scripts, and framed pages only those that they contain.
func TestPolicies(t *testing.T) {
	h := serve(t, ui.Options{Backend: &backend{}})
	policy := get(h, "/").Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "script-src 'self';") || strings.Contains(policy, "unsafe") {
		t.Error(policy)
	}
	page := get(h, "/page/flame?src=1").Header().Get("Content-Security-Policy")
	if !strings.Contains(page, "script-src 'none'") || !strings.Contains(page, "sandbox allow-scripts") || strings.Contains(page, "connect-src") {
		t.Error(page)
	}
	for _, name := range []string{"app.js", "views.js", "dom.js", "format.js", "app.css"} {
		if w := get(h, "/files/"+name); w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s: %d", name, w.Code)
		} else if strings.Contains(w.Body.String(), "innerHTML") || strings.Contains(w.Body.String(), "://") {
			t.Errorf("%s sets markup, or names another server", name)
		}
	}
}
