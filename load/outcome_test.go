package load_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/load"
)

func TestExpectIsAListOfStatuses(t *testing.T) {
	for _, c := range []struct {
		text    string
		has     []int
		hasNone []int
	}{
		{"", []int{200, 304}, []int{400, 500}},
		{"200,404", []int{200, 404}, []int{201, 304, 500, 0, 700}},
		{" 4XX , 200", []int{200, 400, 499}, []int{399, 500}},
	} {
		e, err := load.ParseExpect(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for _, s := range c.has {
			if !e.Has(s) {
				t.Errorf("%q lacks %d", c.text, s)
			}
		}
		for _, s := range c.hasNone {
			if e.Has(s) {
				t.Errorf("%q has %d", c.text, s)
			}
		}
	}
	for _, bad := range []string{"20", "600", "99", "2000", "xx", "5x5", "200,,404", "ok", "0xx", "-4xx"} {
		if _, err := load.ParseExpect(bad); err == nil || !strings.Contains(err.Error(), "want a list like 200,404 or 4xx") {
			t.Errorf("%q: error %v, want one that shows the form", bad, err)
		}
	}
}

// TestTroubleNamesTheOnlyOutcome: when all requests fail, the result says so first, not only in
// its figures.
func TestTroubleNamesTheOnlyOutcome(t *testing.T) {
	type statuses = map[int]int64
	type errs = map[load.ErrorKind]int64
	for _, c := range []struct {
		name string
		o    load.Outcome
		want string // "" for none
	}{
		{"nothing", load.Outcome{}, ""},
		{"good", load.Outcome{Status: statuses{200: 5, 302: 3}}, ""},
		{"half", load.Outcome{Status: statuses{200: 1, 500: 3000}, Errors: errs{load.ErrEOF: 2}}, ""},
		{"redirects", load.Outcome{Status: statuses{302: 12345}, RedirectTo: "/login"}, "all 12,345 answers are 302 to /login: what is measured is the redirect"},
		{"redirects that are meant", load.Outcome{Status: statuses{302: 5}, Expect: "3xx"}, ""},
		{"errors", load.Outcome{Status: statuses{503: 7}}, "all 7 answers are 503: what is measured is the error; if it is meant, say so with -expect 503"},
		{"errors that are meant", load.Outcome{Status: statuses{404: 5}, Expect: "404"}, ""},
		{"success that is not meant", load.Outcome{Status: statuses{200: 5}, Expect: "404"}, "all 5 answers are 200"},
		{"panics", load.Outcome{Errors: errs{load.ErrEOF: 9}}, "no request was answered: 9 connections closed without an answer (a handler that panics does that)"},
		{"mixed", load.Outcome{Status: statuses{500: 5, 302: 6}, Errors: errs{load.ErrTimeout: 9}, RedirectTo: "/x"},
			"none of 20 requests succeeded: 9 timeouts, 6 answers of 302 to /x, 5 answers of 500"},
	} {
		if got := c.o.Trouble(); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	o := load.Outcome{Status: statuses{200: 90, 500: 5, 404: 7}, Errors: errs{load.ErrTimeout: 1}}
	if got, want := o.Failures(), "7 answers of 404, 5 answers of 500, 1 timeouts"; got != want {
		t.Errorf("failures %q, want %q", got, want)
	}
}

func TestLoadWithRedirectsAndExpectedStatuses(t *testing.T) {
	t.Parallel()
	srv := server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, "/login?from="+strings.Repeat("x", 300), http.StatusFound)
	}))
	expect, err := load.ParseExpect("404")
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []float64{0, 500} {
		r := run(t, load.Options{Targets: targets(srv.URL + "/"), Rate: rate, Connections: 2, MaxRequests: 20})
		if r.Requests != 20 || r.Failed() != 0 || !strings.HasPrefix(r.RedirectTo, "/login?from=xxx") || len(r.RedirectTo) > 200 {
			t.Errorf("rate %g: %d requests, %d failed, redirect to %q", rate, r.Requests, r.Failed(), r.RedirectTo)
		}
		if rep := r.Report(); rep.RedirectTo != r.RedirectTo || !strings.HasPrefix(rep.Trouble, "all 20 answers are 302 to /login") {
			t.Errorf("rate %g: report %+v", rate, rep)
		}
		o := load.Options{Targets: targets(srv.URL + "/gone"), Rate: rate, Connections: 2, MaxRequests: 20, Expect: expect}
		if err := load.Try(t.Context(), o); err != nil {
			t.Errorf("a try of what is expected: %v", err)
		}
		if r := run(t, o); r.Failed() != 0 || r.Report().Failed != 0 || r.Report().Expect != "404" {
			t.Errorf("rate %g: expected statuses failed: %+v", rate, r.Report())
		}
		o.Targets = targets(srv.URL + "/")
		if err := load.Try(t.Context(), o); err == nil || !strings.Contains(err.Error(), "answered 302 to /login") || !strings.Contains(err.Error(), "-expect has 404") {
			t.Errorf("a try of what is not expected: %v", err)
		}
	}
}

func TestTryNamesAServerOfHTTP2(t *testing.T) {
	t.Parallel() // it mostly waits
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var h2c http.Protocols
	h2c.SetUnencryptedHTTP2(true)
	srv := &http.Server{Handler: http.NotFoundHandler(), Protocols: &h2c}
	go srv.Serve(ln)
	defer srv.Close()
	settings := raw(t, func(string) string { return "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00\x40\x00" })
	for name, url := range map[string]string{"h2c": "http://" + ln.Addr().String(), "settings, as of gRPC": settings} {
		err := load.Try(t.Context(), load.Options{Targets: targets(url), Timeout: time.Second})
		if err == nil || !strings.Contains(err.Error(), "the server speaks HTTP/2, hone load speaks HTTP/1.1") || !strings.Contains(err.Error(), "leave -load out") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRequestsThatHangAreCountedAsWaiting(t *testing.T) {
	t.Parallel() // it mostly waits
	hang := make(chan struct{})
	srv := server(t, hanging(hang))
	t.Cleanup(func() { close(hang) })
	for _, rate := range []float64{0, 1000} {
		t.Run(fmt.Sprintf("rate %g", rate), func(t *testing.T) {
			t.Parallel() // each waits a second for requests that hang
			g, err := load.Start(t.Context(), load.Options{Targets: targets(srv.URL), Rate: rate, Connections: 3, MaxConnections: int(rate) / 1000 * 3})
			if err != nil {
				t.Fatal(err)
			}
			waiting := 0
			for range 500 {
				if waiting = g.Cut().Waiting; waiting == 3 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if waiting != 3 {
				t.Errorf("%d requests wait, want 3", waiting)
			}
			if r := g.Stop(); r.Waiting != 0 {
				t.Errorf("%d wait after the end", r.Waiting)
			}
		})
	}
}
