package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	rpprof "runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

// with returns an Opener with standard input and options.
func with(o Opener, stdin io.Reader, opt Options) Opener {
	o.Stdin, o.Options = stdin, opt
	return o
}

// service is a service with the standard endpoints, which are this test's own. It records what it
// is asked.
type service struct {
	*httptest.Server
	asked []string
	then  func() // runs once, during the first answer
}

func newService(t *testing.T, secure bool) *service {
	t.Helper()
	s := &service{}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/fgprof", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "main.main;main.f 5\n") })
	mux.HandleFunc("/private/heap", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer x" || r.Host != "shop.example" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		pprof.Handler("heap").ServeHTTP(w, r)
	})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked = append(s.asked, r.URL.String())
		mux.ServeHTTP(w, r)
		if s.then != nil && len(s.asked) == 1 {
			s.then()
		}
	})
	if s.Server = httptest.NewUnstartedServer(h); secure {
		s.Config.ErrorLog = nil
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// kept keeps what tests allocate.
type kept struct{ blocks [][]byte }

//go:noinline
func (k *kept) allocate(n int) {
	for range n {
		k.blocks = append(k.blocks, make([]byte, 1<<20))
	}
}

func TestDeltaOfAllocations(t *testing.T) {
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 4096
	s := newService(t, false)
	var k kept
	k.allocate(8)
	u, err := url.Parse(s.URL + "/debug/pprof/allocs?seconds=1")
	if err != nil {
		t.Fatal(err)
	}
	s.then = func() { (&kept{}).allocate(16) } // garbage at once
	p, err := Opener{}.newFetcher(u).delta(context.Background(), u, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	const name = "github.com/hone-go/hone/internal/source.(*kept).allocate"
	if got := flat(t, p, name, "alloc_space"); got < 15<<20 || got > 20<<20 {
		t.Errorf("allocated in between: %d bytes, want about 16 MiB", got)
	}
	if got := flat(t, p, name, "inuse_space"); got < 7<<20 || got > 12<<20 {
		t.Errorf("in use at the end: %d bytes, want about 8 MiB", got)
	}
	if i, err := p.SampleIndex(""); err != nil || p.SampleTypes[i].Type != "alloc_space" {
		t.Errorf("the default is %v, %v", p.SampleTypes[i], err)
	}
	if d := time.Duration(p.DurationNanos); d < 20*time.Millisecond {
		t.Errorf("it spans %s", d)
	}
	if want := []string{"/debug/pprof/heap?gc=1", "/debug/pprof/heap?gc=1"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked for %q", s.asked)
	}
	runtime.KeepAlive(&k)
}

func flat(t *testing.T, p *profile.Profile, name, value string) int64 {
	t.Helper()
	i, err := p.SampleIndex(value)
	if err != nil {
		t.Fatal(err)
	}
	top, err := report.Top(p, report.TopOptions{SampleIndex: i})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range top.Rows {
		if r.Name == name {
			return r.Flat
		}
	}
	return 0
}

func TestSecondsOfOtherProfilesAreADifference(t *testing.T) {
	s := newService(t, false)
	c := Opener{CacheDir: t.TempDir()}
	src, err := c.Profile(context.Background(), s.URL+"/debug/pprof/mutex?seconds=1")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.asked) != 2 || s.asked[0] != "/debug/pprof/mutex" || src.Profile.DurationNanos < 1e9 {
		t.Errorf("asked for %q, over %d ns", s.asked, src.Profile.DurationNanos)
	}
	s.asked = nil
	if _, err := c.Profile(context.Background(), s.URL+"/debug/pprof/heap"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.asked, []string{"/debug/pprof/heap"}) {
		t.Errorf("without -seconds: asked for %q", s.asked)
	}
	s.asked = nil
	if _, err := with(c, nil, Options{Seconds: 7}).Profile(context.Background(), s.URL+"/debug/fgprof"); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.asked, []string{"/debug/fgprof?seconds=7"}) {
		t.Errorf("an endpoint of somebody else's: asked for %q", s.asked)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := with(c, nil, Options{Seconds: 60}).Profile(ctx, s.URL+"/debug/pprof/heap"); err == nil {
		t.Error("it went on after its context's end")
	}
}

func TestURLOf(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("odd:1", nil, 0o644); err != nil {
		t.Skip("no such names here:", err)
	}
	for arg, want := range map[string]string{
		"http://x": "http://x", "https://x/y": "https://x/y", "https+insecure://x": "https+insecure://x",
		"localhost:6060": "http://localhost:6060", ":6060/debug/pprof/heap": "http://:6060/debug/pprof/heap",
		"[::1]:6060": "http://[::1]:6060", "my-host.example:80/": "http://my-host.example:80/",
		"cpu.pprof": "", "rec.hone:heap": "", `C:\cpu.pprof`: "", "a/b:1": "", "odd:1": "", "": "",
	} {
		if got, ok := urlOf(arg); got != want || ok != (want != "") {
			t.Errorf("urlOf(%q) = %q, %v", arg, got, ok)
		}
	}
}

func TestURLsAreFetchedConcurrently(t *testing.T) {
	var both sync.WaitGroup // each answers only when the other was asked
	both.Add(2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			http.NotFound(w, r)
			return
		}
		both.Done()
		both.Wait()
		io.WriteString(w, "main.main;main.f 5\n")
	}))
	defer s.Close()
	c := Opener{CacheDir: t.TempDir()}
	src, err := c.Profile(context.Background(), s.URL+"/a", s.URL+"/b")
	if err != nil {
		t.Fatal(err)
	}
	if src.Profile.Total(0) != 10 || src.Name != s.URL+"/a and 1 more" {
		t.Errorf("%s: %d", src.Name, src.Profile.Total(0))
	}
	_, err = with(c, strings.NewReader("main.main;main.f 2\n"), Options{}).Profile(context.Background(), "-", s.URL+"/gone")
	if err == nil || !strings.Contains(err.Error(), "/gone: the service answers 404") {
		t.Errorf("one that fails: %v", err)
	}
}

func TestURLsWithTLSAndHeaders(t *testing.T) {
	s := newService(t, true)
	c := Opener{CacheDir: t.TempDir()}
	open := func(path string, o Options) error {
		_, err := with(c, nil, o).Profile(context.Background(), s.URL+path)
		return err
	}
	if err := open("/debug/pprof/heap", Options{}); err == nil || !strings.Contains(err.Error(), "-ca FILE, or -insecure") {
		t.Errorf("unknown authority: %v", err)
	}
	trust := &tls.Config{RootCAs: x509.NewCertPool()}
	trust.RootCAs.AddCert(s.Certificate())
	for _, cfg := range []*tls.Config{trust, {InsecureSkipVerify: true}} {
		if err := open("/debug/pprof/heap", Options{TLS: cfg}); err != nil {
			t.Error(err)
		}
	}
	plain := s.URL
	s.URL = strings.Replace(plain, "https", "https+insecure", 1)
	if err := open("/debug/pprof/heap", Options{}); err != nil {
		t.Error(err)
	}
	s.URL = plain
	if err := open("/private/heap", Options{TLS: trust}); err == nil || !strings.Contains(err.Error(), "-header") || !strings.Contains(err.Error(), "who are you?") {
		t.Errorf("without header: %v", err)
	}
	if err := open("/private/heap", Options{TLS: trust, Header: [][2]string{{"Authorization", "Bearer x"}, {"host", "shop.example"}}}); err != nil {
		t.Error(err)
	}
}

func TestSourcesMayBeText(t *testing.T) {
	c := Opener{CacheDir: t.TempDir()}
	s := newService(t, false)
	dir := t.TempDir()
	folded := filepath.Join(dir, "folded.txt.gz")
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	io.WriteString(zw, "main.main;main.f 5\n")
	zw.Close()
	if err := os.WriteFile(folded, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ arg, function string }{
		{"-", "main.f"}, {folded, "main.f"},
		{s.URL + "/debug/pprof/goroutine?debug=1", "testing.(*T).Run"},
		{s.URL + "/debug/pprof/goroutine?debug=2", "testing.(*T).Run"},
	} {
		src, err := with(c, strings.NewReader("main.main;main.f 5\n"), Options{}).Profile(context.Background(), tc.arg)
		if err != nil {
			t.Errorf("%s: %v", tc.arg, err)
			continue
		}
		if !slices.ContainsFunc(src.Profile.Functions, func(f profile.Function) bool { return f.Name == tc.function }) {
			t.Errorf("%s: no %s", tc.arg, tc.function)
		}
	}
	sum, err := with(c, strings.NewReader("main.main;main.f 2\n"), Options{}).Profile(context.Background(), folded, "-")
	if err != nil || sum.Profile.Total(0) != 7 {
		t.Errorf("sum: %v", err)
	}
	_, err = c.Profile(context.Background(), dir)
	if err == nil || !strings.Contains(err.Error(), dir+" is a directory") {
		t.Errorf("directory: %v", err)
	}
	_, err = c.Profile(context.Background(), folded, "gone.pprof")
	if err == nil || !strings.Contains(err.Error(), "gone.pprof") {
		t.Errorf("a missing one of several: %v", err)
	}
}

func TestGoroutinesOfARecordingHaveTheirStates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.hone")
	w, err := recording.Create(path, recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan bool)
	defer close(stop)
	go func() { <-stop }()
	time.Sleep(20 * time.Millisecond)
	for part, debug := range map[string]int{recording.PartGoroutine: 0, recording.PartGoroutineTxt: 2} {
		var b bytes.Buffer
		if err := rpprof.Lookup("goroutine").WriteTo(&b, debug); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(part, "", b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	c := Opener{CacheDir: t.TempDir()}
	for _, part := range []string{"goroutine", "goroutine.txt"} {
		src, err := c.Profile(context.Background(), path+":"+part)
		if err != nil {
			t.Fatal(err)
		}
		if src.Name != path+":"+part {
			t.Errorf("named %s", src.Name)
		}
		found := false
		for row := range src.Profile.NumSamples() {
			l := src.Profile.Labels(row)
			found = found || slices.Contains(l, profile.Label{Key: "state", Str: "chan receive"}) &&
				slices.Contains(l, profile.Label{Key: "creator", Str: "github.com/hone-go/hone/internal/source.TestGoroutinesOfARecordingHaveTheirStates"})
		}
		if !found {
			t.Errorf("%s: no goroutine of this test in its state", part)
		}
	}
}

// writeProfile writes a profile with one sample in main.f and a value of each type.
func writeProfile(t *testing.T, name string, types ...string) string {
	t.Helper()
	var vts []profile.ValueType
	var values []int64
	for i, typ := range types {
		vts, values = append(vts, profile.ValueType{Type: typ, Unit: "bytes"}), append(values, int64(i+1))
	}
	b := profile.NewBuilder(vts...)
	b.Add([]profile.FrameSpec{{Function: "main.f"}}, values...)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := p.Encode(&out); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSourcesOfDifferentValuesKeepWhatTheyShare(t *testing.T) {
	c := Opener{CacheDir: t.TempDir()}
	a, b := writeProfile(t, "a.pprof", "alloc_space", "inuse_space"), writeProfile(t, "b.pprof", "inuse_space")
	sum, err := c.Profile(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	if p := sum.Profile; len(p.SampleTypes) != 1 || p.SampleTypes[0].Type != "inuse_space" || p.Total(0) != 3 {
		t.Errorf("%v, %d", p.SampleTypes, p.Total(0))
	}
	if len(sum.Notes) != 1 || !strings.Contains(sum.Notes[0], "without alloc_space") {
		t.Errorf("notes %q", sum.Notes)
	}

	old, err := c.Profile(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.Profile(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if err := now.Against(old, profile.Subtraction{}); err != nil || now.Profile.Total(0) != 1 || len(now.Notes) != 1 {
		t.Errorf("difference %d, %v, notes %q", now.Profile.Total(0), err, now.Notes)
	}

	like, err := c.Profile(t.Context(), a, a)
	if err != nil || len(like.Profile.SampleTypes) != 2 || len(like.Notes) != 0 {
		t.Errorf("of like ones: %v, %v, notes %q", like.Profile.SampleTypes, err, like.Notes)
	}
	if _, err := c.Profile(t.Context(), a, writeProfile(t, "c.pprof", "other")); err == nil || !strings.Contains(err.Error(), "share no sample type") {
		t.Errorf("of nothing shared: %v", err)
	}
}
