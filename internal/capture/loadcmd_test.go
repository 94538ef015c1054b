//go:build unix

package capture

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// commandRecorder returns a recorder of a load command, which gets as long as tick to fail.
func commandRecorder(t *testing.T, line string, tick time.Duration, output *lines) *recorder {
	t.Helper()
	r := &recorder{o: Options{LoadCommand: line}, tmp: t.TempDir(), world: world{tick: tick}}
	if output != nil {
		r.o.Output = output
	}
	return r
}

// lines collects what several goroutines write.
type lines struct {
	began chan struct{} // closed by the first write
	once  sync.Once
	mu    sync.Mutex
	b     bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	defer l.once.Do(func() { close(l.began) })
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestLoadCommandRunsAndEnds: the command runs until it is stopped, with its children, and its CPU
// time is known.
func TestLoadCommandRunsAndEnds(t *testing.T) {
	marks := filepath.Join(t.TempDir(), "marks")
	out := lines{began: make(chan struct{})}
	r := commandRecorder(t, "(while :; do echo x >> "+marks+"; echo marked; sleep 0.01; done) & wait", time.Millisecond, &out)
	c, err := r.startCommand(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-out.began: // the child has left its first mark, however long its start took
	case <-c.done:
		t.Fatalf("it ended by itself: %v", c.failure())
	}
	c.stop()
	if err := c.failure(); err != nil {
		t.Errorf("stopping it counts as a failure: %v", err)
	}
	first, err := os.ReadFile(marks)
	if err != nil || len(first) == 0 {
		t.Fatalf("it left %d bytes (%v)", len(first), err)
	}
	time.Sleep(100 * time.Millisecond)
	if later, _ := os.ReadFile(marks); len(later) != len(first) {
		t.Errorf("its child still runs: %d bytes, then %d", len(first), len(later))
	}
	if !strings.Contains(out.String(), "marked\n") {
		t.Errorf("its output did not come through: %q", out.String())
	}
}

// TestLoadCommandThatDrivesNothing: a command that fails, or exits immediately, ends the recording
// with the reason.
func TestLoadCommandThatDrivesNothing(t *testing.T) {
	for line, want := range map[string]string{
		"echo no such flag >&2; exit 2": "exit code 2; last lines on stderr: no such flag",
		"true":                          "it must drive the service for longer",
		"no-such-tool run":              "not found",
	} {
		c, err := commandRecorder(t, line, time.Minute, nil).startCommand(context.Background())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), line) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
		if c != nil {
			t.Errorf("%q: it is said to run", line)
		}
	}
}

func TestNoLoadCommand(t *testing.T) {
	c, err := commandRecorder(t, "", time.Minute, nil).startCommand(context.Background())
	if c != nil || err != nil || c.failure() != nil || c.stop() != 0 {
		t.Errorf("%v, %v", c, err)
	}
}
