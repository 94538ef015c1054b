package ui_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/ui"
)

// stream is the events of a server, as a browser receives them.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	close func()
}

// listen connects as a browser that has seen the events up to a number; -1: none.
func listen(t *testing.T, address string, seen int) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/live", nil)
	if err != nil {
		t.Fatal(err)
	}
	if seen >= 0 {
		r.Header.Set("Last-Event-ID", fmt.Sprint(seen))
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("content type %q", got)
	}
	return &stream{t, bufio.NewScanner(resp.Body), func() { cancel(); resp.Body.Close() }}
}

// next returns the next event and its number.
func (s *stream) next() (id int, e ui.Event) {
	s.t.Helper()
	for s.lines.Scan() {
		line := s.lines.Text()
		if n, ok := strings.CutPrefix(line, "id: "); ok {
			fmt.Sscan(n, &id)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				s.t.Fatalf("%s: %v", data, err)
			}
			return id, e
		}
	}
	s.t.Fatalf("the stream ended: %v", s.lines.Err())
	return 0, e
}

// TestEventsContinue: every page gets the events of the job, numbered; a page that lost its
// connection continues after the last one that it has seen.
func TestEventsContinue(t *testing.T) {
	feed := &ui.Feed{}
	server := httptest.NewServer(serve(t, ui.Options{Backend: &backend{}, Feed: feed}))
	defer server.Close()
	feed.Publish(ui.Event{Start: true, Text: "0"})
	feed.Publish(ui.Event{Text: "1"})
	first := listen(t, server.URL, -1)
	for i := range 2 {
		if id, e := first.next(); id != i || e.Text != fmt.Sprint(i) {
			t.Errorf("event %d: %d %+v", i, id, e)
		}
	}
	first.close()
	feed.Publish(ui.Event{Text: "2"})
	again := listen(t, server.URL, 1)
	defer again.close()
	if id, e := again.next(); id != 2 || e.Text != "2" {
		t.Errorf("after the connection was lost: %d %+v", id, e)
	}
	feed.Publish(ui.Event{Start: true, Text: "3"}) // another job
	if id, e := again.next(); id != 3 || !e.Start {
		t.Errorf("the next job: %d %+v", id, e)
	}
	late := listen(t, server.URL, -1)
	defer late.close()
	if id, e := late.next(); id != 3 || e.Text != "3" {
		t.Errorf("a page that comes later sees an earlier job: %d %+v", id, e)
	}
}

// TestFeedIsBounded: hours of events do not stay in memory, and numbers go on.
func TestFeedIsBounded(t *testing.T) {
	feed := &ui.Feed{}
	server := httptest.NewServer(serve(t, ui.Options{Backend: &backend{}, Feed: feed}))
	defer server.Close()
	const all = 40_000
	for i := range all {
		feed.Publish(ui.Event{Text: fmt.Sprint(i)})
	}
	s := listen(t, server.URL, -1)
	defer s.close()
	id, e := s.next()
	if e.Text != fmt.Sprint(id) || id < all-1<<14 {
		t.Errorf("the first event that is kept is number %d: %s", id, e.Text)
	}
}

// TestJobs: there is one job at a time; it can be stopped, and what it made is announced.
func TestJobs(t *testing.T) {
	goOn := make(chan string)
	options := ui.Options{Backend: &service{}, Feed: &ui.Feed{}, Take: func(ctx context.Context, _ ui.Source, what string, length time.Duration, say func(ui.Event)) (string, error) {
		say(ui.Event{Phase: what, Of: length.Seconds()})
		select {
		case path := <-goOn:
			return path, nil
		case <-ctx.Done():
			return "/r/half.hone", errors.New("stopped")
		}
	}}
	h, wait, err := ui.New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	s := listen(t, server.URL, -1)
	defer s.close()
	post := func(path, body string, want int) {
		t.Helper()
		if w := ask(h, http.MethodPost, path, body, map[string]string{"Content-Type": "application/json"}); w.Code != want {
			t.Errorf("%s %s: %d %s, want %d", path, body, w.Code, w.Body, want)
		}
	}
	for _, body := range []string{"", "x", `{"src": "2"}`, `{"src": "2", "what": "profile", "seconds": 0.5}`, `{"src": "2", "what": "profile", "seconds": 601}`, strings.Repeat(" ", 5000) + wanted} {
		post("/api/take", body, http.StatusBadRequest)
	}
	for _, source := range []string{"0", "1", "9", "http://127.0.0.1:6060", "http://10.0.0.1/"} { // files, no source, and addresses
		post("/api/take", strings.Replace(wanted, `"2"`, `"`+source+`"`, 1), http.StatusNotFound)
	}
	post("/api/stop", "", http.StatusAccepted) // nothing to stop
	post("/api/take", wanted, http.StatusAccepted)
	if _, e := s.next(); !e.Start || e.Job != "profile of http://127.0.0.1:6060" {
		t.Errorf("start: %+v", e)
	}
	if _, e := s.next(); e.Phase != "profile" || e.Of != 1 {
		t.Errorf("progress: %+v", e)
	}
	post("/api/take", wanted, http.StatusConflict)
	goOn <- "/r/new.pprof"
	if _, e := s.next(); !e.Done || e.Error != "" || e.Made != ui.IDOf("/r/new.pprof") {
		t.Errorf("the end: %+v", e)
	}
	wait()
	post("/api/take", wanted, http.StatusAccepted)
	s.next()
	s.next()
	post("/api/stop", "", http.StatusAccepted)
	if _, e := s.next(); !e.Done || e.Error != "stopped" || e.Made != ui.IDOf("/r/half.hone") {
		t.Errorf("stopped: %+v", e)
	}
	wait()
}
