package load_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hone-go/hone/load"
)

func TestTrySaysWhatIsWrong(t *testing.T) {
	srv := server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ok":
		case "/moved":
			http.Redirect(w, r, "/ok", http.StatusFound)
		case "/secret":
			http.Error(w, "who\nare  you?"+strings.Repeat("é", 300), http.StatusUnauthorized)
		case "/binary":
			w.WriteHeader(500)
			w.Write([]byte{0xff, 0xfe, 0, 1})
		default:
			http.NotFound(w, r)
		}
	}))
	secure := quiet(http.NotFoundHandler())
	secure.StartTLS()
	defer secure.Close()
	mute := raw(t, func(string) string { return "" })
	other := raw(t, func(string) string { return "-ERR unknown command\r\n" })
	for _, c := range []struct {
		name string
		ts   []load.Target
		want []string // none: no error
	}{
		{"good", targets(srv.URL + "/ok"), nil},
		{"one of two", targets(srv.URL+"/x", srv.URL+"/ok"), nil},
		{"redirect", targets(srv.URL + "/moved"), nil},
		{"missing", targets(srv.URL + "/x"), []string{"GET " + srv.URL + "/x: answered 404: 404 page not found", "check the path"}},
		{"secret", targets(srv.URL + "/secret"), []string{"answered 401: who are you?éé", "-header"}},
		{"binary", targets(srv.URL + "/binary"), []string{"answered 500: 4 bytes that are not text"}},
		{"all bad", targets(srv.URL+"/x", srv.URL+"/y"), []string{"no target is answered below 400", "/x: answered 404", "/y: answered 404"}},
		{"mute", targets(mute), []string{"EOF", "closed the connection without an answer", "a handler that panics"}},
		{"other protocol", targets(other), []string{`"-ERR unknown command" is not a status line`, "that is not HTTP/1.1"}},
		{"certificate", targets(secure.URL), []string{"TLS with", "-ca, or -insecure"}},
		{"not TLS", targets(strings.Replace(srv.URL, "http", "https", 1)), []string{"TLS with", "check that the port speaks TLS"}},
		{"nobody", targets("http://127.0.0.1:1/"), []string{"connect to 127.0.0.1:1", "nothing listens there"}},
		{"no host", targets("http://nowhere.invalid/"), []string{"connect to nowhere.invalid:80", "check the host's name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := load.Try(t.Context(), load.Options{Targets: c.ts, Timeout: 5 * time.Second})
			if (err == nil) != (c.want == nil) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q, want %q in it", err, w)
				}
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
	if err := load.Try(t.Context(), load.Options{
		Targets: targets(secure.URL), TLS: &tls.Config{InsecureSkipVerify: true},
	}); err == nil || !strings.Contains(err.Error(), "answered 404") {
		t.Errorf("with the certificate not checked: %v, want 404", err)
	}
}

func TestTryAsksAHandfulAndEndsWithTheContext(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	srv := server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(500)
	}))
	var urls []string
	for i := range 40 {
		urls = append(urls, fmt.Sprint(srv.URL, "/", i))
	}
	if err := load.Try(t.Context(), load.Options{Targets: targets(urls...)}); err == nil || asked.Load() != 5 {
		t.Errorf("%d targets asked, error %v; want 5 and an error", asked.Load(), err)
	}

	hang := make(chan struct{})
	stuck := server(t, hanging(hang))
	defer close(hang)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	err := load.Try(ctx, load.Options{Targets: targets(stuck.URL)})
	if err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("error %v after %v, want one when the context ends", err, time.Since(start))
	}
	err = load.Try(t.Context(), load.Options{Targets: targets(stuck.URL), Timeout: 50 * time.Millisecond})
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), ": no answer after 50ms (") {
		t.Errorf("error %v, want a timeout", err)
	}

	// Targets that all hang take the time of one.
	err = load.Try(t.Context(), load.Options{Targets: targets(stuck.URL+"/1", stuck.URL+"/2", stuck.URL+"/3"), Timeout: 50 * time.Millisecond})
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(err.Error(), "/2") {
		t.Errorf("error %v, want that of the first target alone", err)
	}
}
