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

// Event is an event of a job: taking a recording or a profile.
type Event struct {
	Job     string  `json:"job"`               // description of the job
	Start   bool    `json:"start,omitempty"`   // the job starts
	Phase   string  `json:"phase,omitempty"`   // "build", "clean", "cpu", …
	Text    string  `json:"text,omitempty"`    // progress of the phase
	At      float64 `json:"at"`                // seconds since the start of the job
	Spent   float64 `json:"spent,omitempty"`   // seconds of the phase so far
	Of      float64 `json:"of,omitempty"`      // length of the phase in seconds; 0 if unknown
	End     bool    `json:"end,omitempty"`     // the phase is finished
	Done    bool    `json:"done,omitempty"`    // the job is finished
	Error   string  `json:"error,omitempty"`   // why the job failed
	Made    string  `json:"made,omitempty"`    // ID of the source that the job created
	Command string  `json:"command,omitempty"` // the command that does the same

	Window   *recording.Window `json:"window,omitempty"`    // that has just ended
	HeapLive int64             `json:"heap_live,omitempty"` // bytes in use after the last collection
}

// Feed keeps the events of the last job and passes them on as they arrive. The zero value is ready
// for use.
type Feed struct {
	mu     sync.Mutex
	first  int // number of events[0]
	events []Event
	more   chan struct{} // closed at the next event; nil if nothing waits for it
}

// mostEvents is the number of events that are kept: hours of windows of one second.
const mostEvents = 1 << 14

// Publish adds an event. The start of a job removes the events of earlier ones.
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

// since returns the events from number n on, the number of the next event, and a channel that is
// closed when it arrives.
func (f *Feed) since(n int) (events []Event, next int, more <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.more == nil {
		f.more = make(chan struct{})
	}
	next = f.first + len(f.events)
	return slices.Clone(f.events[min(max(0, n-f.first), len(f.events)):]), next, f.more
}

// live sends events as server-sent events. They are numbered, so that a browser that lost the
// connection continues where it stopped.
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
				return // cannot happen: JSON can express all of Event's values
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

// Taking says what to take from a live service, or from a history's database.
type Taking struct {
	Source  string  `json:"src"`
	What    string  `json:"what"`    // "record", "trace", a profile's name under /debug/pprof/; of a history FileOf+RUN/NAME
	Seconds float64 `json:"seconds"` // of a recording, a trace or a CPU profile
}

// FileOf starts the name of a file that belongs to a run in a history.
const FileOf = "file:"

// longestTaking limits how long a page can ask a service for data.
const longestTaking = 10 * time.Minute

// take starts a job. Pages of other sites cannot: browsers state the origin of a request, and forms
// cannot send its content type.
func (s *server) take(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if t, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); t != "application/json" {
		http.Error(w, "the request's content type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	var t Taking
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<12)).Decode(&t); err != nil {
		http.Error(w, "the request body is not valid JSON", http.StatusBadRequest)
		return
	}
	src, ok := s.find(t.Source)
	file := strings.HasPrefix(t.What, FileOf)
	if !ok || !(src.Kind == KindService && !file || src.Kind == KindHistory && file) {
		http.Error(w, "no such service", http.StatusNotFound)
		return
	}
	length := time.Duration(t.Seconds * float64(time.Second))
	if !file && (!(t.Seconds >= 1) || length > longestTaking) {
		http.Error(w, fmt.Sprintf("the length must be from 1 to %g seconds", longestTaking.Seconds()), http.StatusBadRequest)
		return
	}
	if !s.start(ctx, src, t.What, length) {
		http.Error(w, "another job is running: stop it, or wait until it has finished", http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// start starts a job, and reports whether it did: there can be only one at a time.
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

// stop ends the running job, which keeps what it has recorded so far if it can.
func (s *server) stop(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
	w.WriteHeader(http.StatusAccepted)
}
