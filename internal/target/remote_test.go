package target

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"runtime"
	rpprof "runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

// stock returns a mux with the endpoints as net/http/pprof's documentation mounts them.
func stock() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func mustAttach(t *testing.T, url string, o AttachOptions) *Remote {
	t.Helper()
	r, err := Attach(soon(t), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Stop(context.Background()) })
	return r
}

// wantMissing checks that err is a *Missing that mentions the words.
func wantMissing(t *testing.T, err error, words ...string) {
	t.Helper()
	var m *Missing
	if !errors.As(err, &m) {
		t.Errorf("%v is not a *Missing", err)
		return
	}
	wantIn(t, m.Error(), words...)
	if m.How == "" {
		t.Errorf("%v does not say how to get it", m)
	}
}

func TestRemoteStock(t *testing.T) {
	r := mustAttach(t, serve(t, stock()), AttachOptions{})
	ctx := soon(t)
	if o := r.Offers(); !slices.Contains(o, "mutex") || !slices.Contains(o, "trace") {
		t.Errorf("offers %q", o)
	}
	for _, name := range []string{"heap", "allocs", "goroutine", "block", "mutex", "threadcreate"} {
		b, err := r.Profile(ctx, name, 0, true)
		if err != nil {
			t.Error(err)
			continue
		}
		inflate(t, b)
	}
	b, err := r.Profile(ctx, "goroutine", 2, false)
	if err != nil || !strings.Contains(string(b), "TestRemoteStock") {
		t.Errorf("goroutines %.80q, %v", b, err)
	}
	_, err = r.Profile(ctx, "nonesuch", 0, false)
	wantMissing(t, err, "nonesuch profile", "404")
	_, _, err = r.SetRates(ctx, 1, 1)
	wantMissing(t, err, "SetBlockProfileRate")
	_, _, err = r.SetGC(ctx, nil, nil)
	wantMissing(t, err, "GOGC")
	_, err = r.Metrics(ctx)
	wantMissing(t, err, "metrics")

	info, err := r.Info(ctx)
	if err != nil || info.Known || !info.Listening {
		t.Errorf("info %+v, %v", info, err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if info.PID != os.Getpid() || info.Go != runtime.Version() {
		t.Errorf("info %+v, want process %d", info, os.Getpid())
	}
	if u, err := r.Usage(ctx); err != nil || u.RSSBytes < 1<<20 || u.MaxRSS < u.RSSBytes/2 {
		t.Errorf("usage %+v, %v", u, err)
	}
	select {
	case <-r.Done():
		t.Error("done while it runs")
	default:
	}
}

func TestRemoteProfiles(t *testing.T) {
	t.Parallel()
	url := serve(t, stock())
	r := mustAttach(t, url, AttachOptions{})
	ctx := soon(t)
	b, err := r.CPUProfile(ctx, 300*time.Millisecond) // a second profile, of the endpoint
	if err != nil {
		t.Fatal(err)
	}
	inflate(t, b)

	var trace bytes.Buffer
	cut, err := r.Trace(ctx, &trace, 300*time.Millisecond, 0)
	if err != nil || cut || trace.Len() < 100 {
		t.Errorf("trace of %d bytes, cut %v, %v", trace.Len(), cut, err)
	}
	trace.Reset()
	cut, err = r.Trace(ctx, &trace, 300*time.Millisecond, 64)
	if err != nil || !cut || trace.Len() != 64 {
		t.Errorf("trace of %d bytes, cut %v, %v", trace.Len(), cut, err)
	}

	// When the client disconnects, the service stops its profile at the next write or soon after.
	for end := time.Now().Add(10 * time.Second); rpprof.StartCPUProfile(&trace) != nil; {
		if time.Now().After(end) {
			t.Fatal("the service's CPU profile goes on")
		}
		time.Sleep(20 * time.Millisecond)
	}
	defer rpprof.StopCPUProfile()
	_, err = r.CPUProfile(ctx, time.Second)
	wantMissing(t, err, "CPU profile", "somebody else", "500")
}

func TestRemotePlaces(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/admin/prof/", http.StripPrefix("/admin/prof", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		q.URL.Path = "/debug/pprof" + q.URL.Path
		stock().ServeHTTP(w, q)
	})))
	url := serve(t, mux)
	for name, c := range map[string]struct{ url, prefix string }{
		"prefix":           {url, "/admin/prof/"},
		"prefix, no slash": {url, "admin/prof"},
		"path of the URL":  {url + "/admin/prof", ""},
		"an endpoint":      {url + "/admin/prof/heap?debug=1", ""},
		"no scheme":        {strings.TrimPrefix(url, "http://"), "/admin/prof"},
	} {
		r, err := Attach(soon(t), c.url, AttachOptions{Prefix: c.prefix})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.URL() != url+"/admin/prof/" || !slices.Contains(r.Offers(), "allocs") {
			t.Errorf("%s: %s offers %q", name, r.URL(), r.Offers())
		}
		r.Stop(context.Background())
	}
	_, err := Attach(soon(t), url, AttachOptions{})
	if err == nil {
		t.Fatal("attached where nothing is")
	}
	wantIn(t, err.Error(), "404", "-pprof")
}

func TestRemotePartial(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/debug/pprof/heap", pprof.Handler("heap"))
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	r := mustAttach(t, serve(t, mux), AttachOptions{})
	ctx := soon(t)
	if _, err := r.Profile(ctx, "heap", 0, true); err != nil {
		t.Error(err)
	}
	_, err := r.Profile(ctx, "mutex", 0, false)
	wantMissing(t, err, "mutex profile", "404", "net/http/pprof")
	_, err = r.Trace(ctx, &bytes.Buffer{}, 100*time.Millisecond, 0)
	wantMissing(t, err, "execution trace", "404")

	// Only the CPU profile.
	mux = http.NewServeMux()
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	r = mustAttach(t, serve(t, mux), AttachOptions{})
	_, err = r.Profile(ctx, "heap", 0, false)
	wantMissing(t, err, "heap profile")
}

func TestRemoteRefuses(t *testing.T) {
	answer := func(status int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			w.Write([]byte(body))
		}
	}
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		want []string
	}{
		"page":         {answer(200, "text/html", "<html>"), []string{"200 OK, text/html, not a pprof profile", "-pprof PREFIX"}},
		"text":         {answer(200, "text/plain", "hello"), []string{"text/plain, not a pprof profile"}},
		"page as data": {answer(200, "application/octet-stream", "<html>"), []string{"not a pprof profile"}},
		"empty":        {answer(200, "application/octet-stream", ""), []string{"empty"}},
		"broken gzip":  {answer(200, "application/octet-stream", "\x1f\x8b\x08\x00garbage"), []string{"gzip stream is broken"}},
		"login":        {answer(401, "text/plain", "who are you?"), []string{"401", "who are you?", "-header"}},
		"tls":          {answer(400, "text/plain", "Client sent an HTTP request to an HTTPS server."), []string{"400", "HTTPS server", "https://"}},
		"half": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte("\x1f\x8b"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, []string{"ends after 2 bytes"}},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, []string{"EOF"}},
	} {
		_, err := Attach(soon(t), serve(t, c.h), AttachOptions{})
		if err == nil {
			t.Errorf("%s: attached", name)
			continue
		}
		t.Logf("%s: %v", name, err)
		wantIn(t, err.Error(), c.want...)
	}
	for url, want := range map[string]string{
		"ftp://x/":           "not ftp",
		"http:///x":          "no host",
		"http://127.0.0.1:1": "connection refused",
		"::":                 "attach",
	} {
		if _, err := Attach(soon(t), url, AttachOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}

func TestRemoteHeaderAndTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "Bearer x" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		stock().ServeHTTP(w, q)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	o := AttachOptions{TLS: s.Client().Transport.(*http.Transport).TLSClientConfig}
	_, err := Attach(soon(t), s.URL, o)
	wantMissing(t, err, "403", "-header")
	o.Header = [][2]string{{"Authorization", "Bearer x"}}
	mustAttach(t, s.URL, o)
	if _, err := Attach(soon(t), s.URL, AttachOptions{Header: o.Header}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
}

func TestRemoteTunnel(t *testing.T) {
	// A proxy in this process for a service with another command line.
	mux := stock()
	h := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/debug/pprof/cmdline" {
			w.Write([]byte("/usr/bin/other"))
			return
		}
		mux.ServeHTTP(w, q)
	})
	r := mustAttach(t, serve(t, h), AttachOptions{})
	if _, err := r.Usage(soon(t)); err == nil {
		t.Error("the proxy's CPU time counts as the service's")
	} else {
		wantMissing(t, err, "CPU time")
	}
}

func TestRemoteTraceIsInvalid(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/debug/pprof/heap", pprof.Handler("heap"))
	mux.HandleFunc("/debug/pprof/trace", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("no trace")) })
	r := mustAttach(t, serve(t, mux), AttachOptions{})
	_, err := r.Trace(soon(t), &bytes.Buffer{}, 100*time.Millisecond, 0)
	if err == nil || !strings.Contains(err.Error(), "not an execution trace") {
		t.Errorf("trace: %v", err)
	}
}
