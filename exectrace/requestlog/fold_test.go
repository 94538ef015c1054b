package requestlog_test

import (
	"bytes"
	"context"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/requestlog"
)

// TestFold serves requests one after the other; the body of the third arrives in two reads.
func TestFold(t *testing.T) {
	const slow = 20 * time.Millisecond
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(slow)
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			t.Error(err)
		}
		io.WriteString(w, strings.Repeat("x", int(n)))
	}))
	srv.Listener = requestlog.Listener{Listener: srv.Listener}
	srv.Start()
	defer srv.Close()
	// On one connection an answer ends before the next request begins.
	srv.Client().Transport.(*http.Transport).MaxConnsPerHost = 1

	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	const n = 4
	for i := range n {
		size := 0
		if i == 2 {
			size = 200_000
		}
		res, err := srv.Client().Post(srv.URL, "text/plain", strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.Copy(io.Discard, res.Body); err != nil || got != int64(size) {
			t.Fatalf("an answer of %d bytes (%v), want %d", got, err, size)
		}
		res.Body.Close()
	}
	srv.Close() // waits for the log of the last answer, which the client may receive before it is logged
	took := time.Since(begin)
	trace.Stop()

	f := requestlog.New()
	if _, err := exectrace.Read(context.Background(), &buf, exectrace.Options{}, f); err != nil {
		t.Fatal(err)
	}
	h := f.Served()
	if h.Count() != n || time.Duration(h.Min()) < slow || time.Duration(h.Max()) > took-(n-1)*slow {
		t.Errorf("%d requests of %v to %v, want %d of at least %v, in %v together",
			h.Count(), time.Duration(h.Min()), time.Duration(h.Max()), n, slow, took)
	}
}

func TestSource(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "listener.go", requestlog.Source("main"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name.Name != "main" {
		t.Errorf("package %s, want main", f.Name.Name)
	}
}
