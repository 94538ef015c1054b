package session

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
)

func TestRecordingNamesSortByTimeAndNameTheTarget(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	for _, tc := range []struct {
		o    capture.Options
		want string
	}{
		{capture.Options{Package: "./cmd/server"}, "20260102-030405-cmd-server.hone"},
		{capture.Options{URL: "http://127.0.0.1:6060"}, "20260102-030405-http-127-0-0-1-6060.hone"},
		{capture.Options{Package: ".", Dir: "/home/x/app"}, "20260102-030405-app.hone"},
		{capture.Options{Package: "./", Dir: "/home/x/app"}, "20260102-030405-app.hone"},
	} {
		if got := recordingName(at, tc.o); got != tc.want {
			t.Errorf("recordingName(%+v) = %q, want %q", tc.o, got, tc.want)
		}
	}
}

// TestNothingRecordedLeavesNoName: a target that does not build leaves no file in the cache.
func TestNothingRecordedLeavesNoName(t *testing.T) {
	c := Config{CacheDir: t.TempDir()}
	if path, err := Record(t.Context(), c, capture.Options{Package: "./nowhere", Dir: t.TempDir()}); err == nil || path != "" {
		t.Fatalf("%q, %v", path, err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Shelf().Dir, "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// metricsPart writes a recording with only metrics.jsonl.
func metricsPart(t *testing.T, lines string) *recording.Recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.hone")
	w, err := recording.Create(path, recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(recording.PartMetrics, "", []byte(lines)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rec.Close() })
	return rec
}

func TestMetrics(t *testing.T) {
	got, goroutines, err := metrics(metricsPart(t, `{"t":1,"phase":"warmup","m":{"a":{"v":1},"/sched/goroutines:goroutines":{"v":10}}}
{"t":2,"phase":"clean","m":{"a":{"v":2}}}
{"t":3,"phase":"clean","m":{"a":{"v":3}}}
{"t":4,"phase":"cpu","m":{"a":{"v":4},"/sched/goroutines:goroutines":{"v":500}}}
{"t":5,"phase":"counts","m":{"a":{"v":5},"/sched/goroutines:goroutines":{"v":7}}}
`))
	if err != nil || got["a"] != 3 || goroutines != (rule.Change{First: 10, Last: 500}) {
		t.Errorf("got %v, %v, %v; want a = 3, from 10 to 500 goroutines", got, goroutines, err)
	}
	if _, _, err := metrics(metricsPart(t, "{\n")); err == nil || !strings.Contains(err.Error(), recording.PartMetrics) {
		t.Errorf("broken metrics: %v", err)
	}
}

// TestRemember: the recordings of an experiment do not become the last recording.
func TestRemember(t *testing.T) {
	c := Config{CacheDir: t.TempDir()}
	for _, path := range []string{filepath.Join(c.CacheDir, "recordings", "a.hone"), filepath.Join(c.CacheDir, "work", "try-1", "01-0.hone")} {
		if err := c.remember(path); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := c.Shelf().Last(); err != nil || filepath.Base(last) != "a.hone" {
		t.Errorf("%q, %v", last, err)
	}
}
