package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/load"
)

// says lists the texts of the events.
func (l *lab) says() string {
	var b strings.Builder
	for _, e := range l.events {
		fmt.Fprintf(&b, "%s %s\n", e.Phase, e.Text)
	}
	return b.String()
}

// TestHangingHandlerIsReportedInTime: the first request is tried once, with the time limit of
// -timeout, and meanwhile the user sees what hone waits for.
func TestHangingHandlerIsReportedInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.start = func(s target.RunSpec) process {
			os.WriteFile(s.Stderr, []byte("starting\nno database yet\n"), 0o644)
			return l.prog
		}
		l.o.Timeout = 2 * time.Second
		tries, timeout := 0, time.Duration(0)
		l.world.tryLoad = func(_ context.Context, o load.Options) error {
			tries, timeout = tries+1, o.Timeout
			time.Sleep(10 * l.world.tick)
			return fmt.Errorf("GET http://x/: no answer: %w", os.ErrDeadlineExceeded)
		}
		partial, err := l.record(t.Context())
		if err == nil || partial || !strings.Contains(err.Error(), "no answer") ||
			!strings.Contains(err.Error(), "the program's last lines on stderr: starting | no database yet") {
			t.Errorf("partial %v, error %v", partial, err)
		}
		if tries != 1 || timeout != l.o.Timeout {
			t.Errorf("tried %d times for %s, want once for -timeout", tries, timeout)
		}
		if want := "load no answer from GET http://127.0.0.1:8080/x so far; waiting for up to 2s"; !strings.Contains(l.says(), want) {
			t.Errorf("%q is not among what was said:\n%s", want, l.says())
		}
	})
}

// TestServiceThatStopsAnsweringIsNotMeasured: during the warm-up nothing is recorded, later the
// recording ends.
func TestServiceThatStopsAnsweringIsNotMeasured(t *testing.T) {
	for _, phase := range []string{"warmup", "clean"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.o.Timeout, l.o.Warmup, l.o.Duration = 100*time.Millisecond, 5*time.Second, 5*time.Second
				l.gen.hang = phase == "warmup"
				l.o.Progress = func(e Event) {
					l.events = append(l.events, e)
					if e.Phase == phase {
						l.gen.mu.Lock()
						l.gen.hang = true
						l.gen.mu.Unlock()
					}
				}
				partial, err := l.record(t.Context())
				if err == nil || partial != (phase == "clean") || !strings.Contains(err.Error(), "no answer from GET http://127.0.0.1:8080/x for 0.") ||
					!strings.Contains(err.Error(), "in phase "+phase+": 8 requests are open") {
					t.Errorf("partial %v, error %v", partial, err)
				}
				if !strings.Contains(l.says(), phase+" no answer for 0 s, 8 requests are open") {
					t.Errorf("the silence was not said:\n%s", l.says())
				}
			})
		})
	}
}

// TestLoadWithoutSuccessIsReported: in the progress, in a note, and in the first line of the
// report.
func TestLoadWithoutSuccessIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.gen.moved = "/login"
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.open().Manifest
		if text := strings.Join(m.Notes, "\n"); !strings.Contains(text, "load in phase clean: all ") || !strings.Contains(text, "answers are 302 to /login") {
			t.Errorf("notes %q", text)
		}
		if !strings.Contains(l.says(), "answers are 302 to /login") {
			t.Errorf("the progress says:\n%s", l.says())
		}
		clean, _ := l.open().Phase("clean")
		if clean.Outcome == nil || clean.Outcome.Status[302] != clean.Requests || clean.Outcome.RedirectTo != "/login" || clean.Failed != 0 {
			t.Errorf("outcome %+v of %d requests, %d failed", clean.Outcome, clean.Requests, clean.Failed)
		}
	})
}

// TestExpectedErrorsAreNotFailures: -expect counts them as successes, in figures and notes.
func TestExpectedErrorsAreNotFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.gen.fail = true
		expect, err := load.ParseExpect("500")
		if err != nil {
			t.Fatal(err)
		}
		l.o.Load.Expect, l.gen.expect = expect, expect
		if _, err := l.record(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := l.open().Manifest
		for _, p := range m.Phases {
			if p.Failed != 0 {
				t.Errorf("phase %s: %d failed", p.Name, p.Failed)
			}
		}
		if m.Load.Expect != "500" || strings.Contains(strings.Join(m.Notes, " "), "load in phase") {
			t.Errorf("load %+v, notes %q", m.Load, m.Notes)
		}
	})
}

func TestLastOutputOfAHandlerThatPanics(t *testing.T) {
	r := &recorder{tmp: t.TempDir()}
	text := `ready
2026/11/23 09:00:00 http: panic serving 127.0.0.1:4: boom
goroutine 20 [running]:
net/http.(*conn).serve.func1()
	/go/src/net/http/server.go:1947 +0xbe
panic({0x6a2e40?, 0x7b3d10?})
	/go/src/runtime/panic.go:783 +0x132
main.handler({0x7b9c48, 0xc0000f8000}, 0xc0000fc000)
	/src/main.go:12 +0x25
net/http.HandlerFunc.ServeHTTP(0x0?, {0x7b9c48?, 0xc0000f8000?}, 0x0?)
	/go/src/net/http/server.go:2322 +0x29
`
	if err := os.WriteFile(filepath.Join(r.tmp, "stderr.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	want := "; the program's last lines on stderr: 2026/11/23 09:00:00 http: panic serving 127.0.0.1:4: boom | main.handler({0x7b9c48, 0xc0000f8000}, 0xc0000fc000) | /src/main.go:12 +0x25"
	if got := r.lastWords(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&recorder{tmp: t.TempDir()}).lastWords(); got != "" {
		t.Errorf("without a file: %q", got)
	}
}
