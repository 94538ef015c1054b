package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hone-go/hone/internal/recording"
)

// Event is something that happens while a recording or a profile is taken.
type Event struct {
	Job     string  `json:"job"`               // what is taken, for people
	Start   bool    `json:"start,omitempty"`   // it begins
	Phase   string  `json:"phase,omitempty"`   // "build", "clean", "cpu", …
	Text    string  `json:"text,omitempty"`    // how the phase goes
	At      float64 `json:"at"`                // seconds since the job began
	Spent   float64 `json:"spent,omitempty"`   // seconds of the phase so far
	Of      float64 `json:"of,omitempty"`      // seconds that the phase takes; 0 unknown
	End     bool    `json:"end,omitempty"`     // the phase is over
	Done    bool    `json:"done,omitempty"`    // the job is over
	Error   string  `json:"error,omitempty"`   // why it failed
	Made    string  `json:"made,omitempty"`    // ID of the source that it made
	Command string  `json:"command,omitempty"` // the same on the command line

	Window   *recording.Window `json:"window,omitempty"`    // that ended now
	HeapLive int64             `json:"heap_live,omitempty"` // bytes in use after the last collection
}

// Feed keeps the events of the last job and passes them on as they come. The zero value is ready for use.
type Feed struct {
	mu     sync.Mutex
	first  int // number of events[0]
	events []Event
	more   chan struct{} // closed at the next event; nil: nothing waits
}

// mostEvents are kept: hours of windows of a second.
const mostEvents = 1 << 14

// Publish adds an event. Those of jobs before go when one starts.
func (f *Feed) Publish(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if drop := len(f.events); e.Start || drop >= mostEvents {
		if !e.Start {
			drop = mostEvents / 4
		}
		f.first += drop
		f.events = slices.Delete(f.events, 0, drop)
	}
	f.events = append(f.events, e)
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

// since returns the events from number n on, the number of the next one, and what is closed when it comes.
func (f *Feed) since(n int) (events []Event, next int, more <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.more == nil {
		f.more = make(chan struct{})
	}
	next = f.first + len(f.events)
	return slices.Clone(f.events[min(max(0, n-f.first), len(f.events)):]), next, f.more
}

// live sends events as server-sent events, numbered, so that a browser that lost the connection continues where it was.
func (s *server) live(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	n := 0
	if last, err := strconv.Atoi(r.Header.Get("Last-Event-ID")); err == nil && last >= 0 {
		n = last + 1
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for {
		events, next, more := s.Feed.since(n)
		for i, e := range events {
			data, err := json.Marshal(e)
			if err != nil {
				return // an event of hone's own: it has no value that JSON lacks
			}
			if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", next-len(events)+i, data); err != nil {
				return
			}
		}
		n = next
		if flush.Flush() != nil {
			return
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// Taking says what to take of a live service.
type Taking struct {
	Source  string  `json:"src"`
	What    string  `json:"what"`    // "record", "trace", or a profile's name under /debug/pprof/
	Seconds float64 `json:"seconds"` // of a recording, a trace or a CPU profile
}

// longestTaking bounds what a page may ask a service for.
const longestTaking = 10 * time.Minute

// take starts a job. Pages of other sites cannot: the browser says where a request comes from, and its type is none that a form has.
func (s *server) take(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if t, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); t != "application/json" {
		http.Error(w, "want JSON", http.StatusUnsupportedMediaType)
		return
	}
	var t Taking
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<12)).Decode(&t); err != nil {
		http.Error(w, "not JSON that says what to take", http.StatusBadRequest)
		return
	}
	src, ok := s.find(t.Source)
	if !ok || src.Kind != KindService {
		http.Error(w, "no such service", http.StatusNotFound)
		return
	}
	length := time.Duration(t.Seconds * float64(time.Second))
	if !(t.Seconds >= 1) || length > longestTaking {
		http.Error(w, fmt.Sprintf("from 1 to %g seconds", longestTaking.Seconds()), http.StatusBadRequest)
		return
	}
	if !s.start(ctx, src, t.What, length) {
		http.Error(w, "one at a time: something is being taken already", http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// start begins a job, unless one is under way.
func (s *server) start(ctx context.Context, src Source, what string, length time.Duration) bool {
	if !s.busy.TryLock() {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.cancel = cancel
	s.mu.Unlock()
	s.jobs.Go(func() {
		defer s.busy.Unlock()
		defer cancel()
		began := time.Now()
		say := func(e Event) {
			e.Job, e.At = what+" of "+src.Name, time.Since(began).Seconds()
			s.Feed.Publish(e)
		}
		say(Event{Start: true})
		path, err := s.Take(ctx, src, what, length, say)
		last := Event{Done: true}
		if err != nil {
			last.Error = err.Error()
		}
		if path != "" {
			last.Made = IDOf(path)
		}
		say(last)
	})
	return true
}

// stop ends the job under way; what it has by then is kept where that is possible.
func (s *server) stop(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
	w.WriteHeader(http.StatusAccepted)
}
