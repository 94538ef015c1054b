package traceview

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/source"
)

// small is a trace of two goroutines that send each other values.
func small(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip("a trace is being taken already: ", err)
	}
	c := make(chan int)
	go func() {
		defer close(c)
		for i := range 100 {
			c <- i
		}
	}()
	for range c {
	}
	trace.Stop()
	return b.Bytes()
}

func TestReader(t *testing.T) {
	dir := t.TempDir()
	data := small(t)
	write := func(name string, data []byte) *Reader {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return &Reader{Opener: source.Opener{CacheDir: dir}, Name: file}
	}
	whole := write("whole.trace", data)
	rep, err := whole.Report(t.Context(), ReportOptions{Slowest: 1, Critical: true})
	if err != nil || len(whole.Notes) != 0 || rep.Summary() == nil {
		t.Fatalf("%v, notes %q", err, whole.Notes)
	}
	if _, err := rep.CriticalPath(); err == nil || !strings.Contains(err.Error(), "-run shows") {
		t.Errorf("the critical path of a trace without requests: %v", err)
	}
	run, err := whole.Report(t.Context(), ReportOptions{Critical: true, Run: true})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := run.CriticalPath(); err != nil || p.Path == nil || p.Request != nil {
		t.Errorf("the path of the run: %+v, %v", p, err)
	}
	if p, err := run.Profile("critical"); err != nil || len(p.Functions) == 0 {
		t.Errorf("its profile: %v", err)
	}

	res, title, err := whole.Timeline(t.Context(), Window{}, 0)
	if err != nil || title != "the whole trace" || len(res.Goroutines) == 0 {
		t.Errorf("timeline: %q, %v", title, err)
	}
	for text, w := range map[string]Window{"nothing happened": {From: time.Hour}, "not among the 1000 slowest": {Request: 7}} {
		if _, _, err := whole.Timeline(t.Context(), w, 0); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q", w, err, text)
		}
	}

	var out bytes.Buffer
	if written, err := whole.Cut(t.Context(), &out, 0, 0); err != nil || written.Generations == 0 || out.Len() == 0 {
		t.Errorf("cut: %+v, %v", written, err)
	}
	out.Reset()
	if _, err := whole.Anonymize(t.Context(), &out); err != nil || bytes.Contains(out.Bytes(), []byte("hone-go/hone")) {
		t.Errorf("anonymize: %v", err)
	}

	for _, bad := range []*Reader{write("none.trace", nil), write("text.trace", []byte("no trace")), {Name: filepath.Join(dir, "gone")}} {
		if _, err := bad.Report(t.Context(), ReportOptions{}); err == nil || !strings.Contains(err.Error(), filepath.Base(bad.Name)) {
			t.Errorf("%s: %v", bad.Name, err)
		}
	}
}

// TestOneReading: a trace from standard input is read once, however often the view would read it.
func TestOneReading(t *testing.T) {
	r := &Reader{Opener: source.Opener{Stdin: bytes.NewReader(small(t))}, Name: "-"}
	if _, err := r.Report(t.Context(), ReportOptions{Critical: true, Run: true}); err != nil {
		t.Error(err)
	}
}
