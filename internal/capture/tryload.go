package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

// sayWaiting is the time after which a wait for an answer is reported, and the interval at which
// the report is repeated.
const sayWaiting = 3 * time.Second

// TryLoad tries the targets of a load once, as load.Try does, and reports what it waits for.
func TryLoad(ctx context.Context, o load.Options, say func(Event)) error {
	return waiting(o, sayWaiting, say, func() error { return load.Try(ctx, o) })
}

// waiting reports, until try has returned, that no request of the load was answered: once as a line
// that stays, then as progress.
func waiting(o load.Options, pause time.Duration, say func(Event), try func() error) error {
	done := make(chan error, 1)
	go func() { done <- try() }()
	began := time.Now()
	limit := cmp.Or(o.Timeout, load.DefaultTimeout)
	t := time.NewTicker(pause)
	defer t.Stop()
	for first := true; ; first = false {
		select {
		case err := <-done:
			return err
		case <-t.C:
			e := Event{Phase: phaseLoad, Text: fmt.Sprintf("no answer from %s so far; waiting for up to %s", place(o), limit)}
			if !first {
				e.At, e.Of = time.Since(began), limit
			}
			say(e)
		}
	}
}

// place names the destination of a load.
func place(o load.Options) string {
	text := o.Targets[0].String()
	if n := len(o.Targets) - 1; n > 0 {
		text += fmt.Sprintf(" and %s", count(n, "other"))
	}
	return text
}

// tryPatience is how often a service whose port is open may answer with errors at first.
const tryPatience = 3

// tryLoad tries the load. A request that hangs is not tried again.
func (s *service) tryLoad(ctx context.Context, o load.Options) (err error) {
	for i := range tryPatience {
		err = waiting(o, 3*s.world.tick, s.say, func() error { return s.world.tryLoad(ctx, o) })
		if err == nil || ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) || i == tryPatience-1 {
			return err
		}
		select {
		case <-time.After(s.world.tick / 2):
		case <-ctx.Done():
		case <-s.prog.Done():
			return err
		}
	}
	return err
}

// requestTimeout returns the time to wait for an answer, bounded by -timeout.
func (o Options) requestTimeout() time.Duration {
	return min(cmp.Or(o.Load.Timeout, load.DefaultTimeout), o.Timeout)
}

// silence detects a service that no longer answers.
type silence struct {
	since   time.Time // the last answer or the last error; zero before the first window
	waiting int       // requests that wait
}

// window takes the load of a window into account.
func (q *silence) window(r *load.Result) {
	var failed int64
	for kind, n := range r.Errors {
		if kind != load.ErrTimeout {
			failed += n
		}
	}
	q.waiting = r.Waiting
	if q.since.IsZero() || r.Requests > 0 || failed > 0 || r.Waiting == 0 {
		q.since = time.Now()
	}
}

// text states for how long nothing was answered, "" when that is too short to mention.
func (q *silence) text(least time.Duration) string {
	d := time.Since(q.since)
	if q.since.IsZero() || q.waiting == 0 || d < least {
		return ""
	}
	return fmt.Sprintf("no answer for %.0f s, %s", d.Seconds(), openRequests(q.waiting))
}

func openRequests(n int) string {
	if n == 1 {
		return "1 request is open"
	}
	return fmt.Sprintf("%d requests are open", n)
}

// hangs returns the error for a service that has not answered within the time to wait for an
// answer; nil for others.
func (s *service) hangs() error {
	q := &s.silence
	if q.since.IsZero() || q.waiting == 0 {
		return nil
	}
	limit := s.o.requestTimeout() + s.world.tick // a timeout is seen in the window after it
	if time.Since(q.since) < limit {
		return nil
	}
	return &endError{what: fmt.Sprintf("no answer from %s for %.3g s in phase %s: %s%s", place(*s.o.Load),
		time.Since(q.since).Seconds(), s.phase, openRequests(q.waiting), s.lastWords())}
}

// lastWords returns the last lines that the running program wrote to stderr, for the end of an
// error; "" when there are none or hone did not start it.
func (r *recorder) lastWords() string {
	if r.o.URL != "" {
		return ""
	}
	lines := target.LastLines(r.stderr())
	if len(lines) == 0 {
		return ""
	}
	return "; the program's last lines on stderr: " + strings.Join(lines, " | ")
}
