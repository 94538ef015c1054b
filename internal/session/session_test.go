package session

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/internal/capture"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

func TestRecordingNamesSortByTimeAndTellTheTarget(t *testing.T) {
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

func TestFindLooksInTheCacheForABareName(t *testing.T) {
	c := Config{CacheDir: t.TempDir()}
	if err := os.MkdirAll(c.recordings(), 0o755); err != nil {
		t.Fatal(err)
	}
	cached := filepath.Join(c.recordings(), "x.hone")
	if err := os.WriteFile(cached, []byte("recording"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Shelf().Label("x", "baseline"); err != nil {
		t.Fatal(err)
	}
	if got := Find(c, "baseline"); got != cached {
		t.Errorf("Find of a label = %q, want %q", got, cached)
	}
	if got := Find(c, "x.hone"); got != cached {
		t.Errorf("Find = %q, want %q", got, cached)
	}
	if got := Find(c, "./x.hone"); got != "./x.hone" {
		t.Errorf("a path means itself: %q", got)
	}
	if got := shortName(c, cached); got != "x.hone" {
		t.Errorf("shortName = %q", got)
	}
}

// TestNothingRecordedLeavesNoName: a target that does not build leaves no file in the cache.
func TestNothingRecordedLeavesNoName(t *testing.T) {
	c := Config{CacheDir: t.TempDir()}
	if path, err := Record(t.Context(), c, capture.Options{Package: "./nowhere", Dir: t.TempDir()}); err == nil || path != "" {
		t.Fatalf("%q, %v", path, err)
	}
	if left, _ := filepath.Glob(filepath.Join(c.recordings(), "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func TestLastWithoutARecordingSaysWhatToDo(t *testing.T) {
	_, err := Last(Config{CacheDir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "hone record") {
		t.Errorf("error %v", err)
	}
}

func TestSplitRecording(t *testing.T) {
	for _, tc := range []struct {
		arg, file, part string
		ok              bool
	}{
		{"x.hone", "x.hone", "", true},
		{"dir/x.hone:allocs", "dir/x.hone", "allocs", true},
		{"cpu.pprof", "", "", false},
		{"a.honey", "", "", false},
	} {
		file, part, ok := splitRecording(tc.arg)
		if file != tc.file || part != tc.part || ok != tc.ok {
			t.Errorf("splitRecording(%q) = %q, %q, %v", tc.arg, file, part, ok)
		}
	}
}

func TestPartFor(t *testing.T) {
	for index, want := range map[string]string{
		"": recording.PartCPU, "cpu": recording.PartCPU, "alloc_space": recording.PartAllocs,
		"inuse_space": recording.PartHeap, "delay": recording.PartMutex,
	} {
		if got := partFor(index); got != want {
			t.Errorf("partFor(%q) = %q, want %q", index, got, want)
		}
	}
}

// metricsPart writes a recording that holds only metrics.jsonl.
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

func TestOpenSourceErrorsNameTheSource(t *testing.T) {
	c := Config{CacheDir: t.TempDir()}
	bad := filepath.Join(t.TempDir(), "bad.pprof")
	if err := os.WriteFile(bad, []byte("\x1f\x8bbroken"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{bad, "/nowhere/x.pprof", "/nowhere/x.hone", "http://127.0.0.1:1/debug/pprof/heap"} {
		_, err := OpenSource(context.Background(), c, arg, strings.NewReader(""), SourceOptions{})
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(arg, "http://")) {
			t.Errorf("OpenSource(%q): %v", arg, err)
		}
	}
	_, err := OpenSource(context.Background(), c, "-", strings.NewReader("no profile"), SourceOptions{})
	if err == nil || !regexp.MustCompile("standard input").MatchString(err.Error()) {
		t.Errorf("stdin: %v", err)
	}
	_, err = OpenSource(context.Background(), c, "-", strings.NewReader("go 1.26 trace\x00\x00\x00"), SourceOptions{})
	if err == nil || !strings.Contains(err.Error(), "standard input: execution trace is broken") {
		t.Errorf("a trace that is broken: %v", err)
	}
}

func TestMainDirIsWhereTheProfileSaysIfItIsThere(t *testing.T) {
	dir := t.TempDir()
	here := filepath.Join(dir, "main.go")
	if err := os.WriteFile(here, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ function, file, want string }{
		{"main.main", here, dir},
		{"main.main", filepath.Join(dir, "gone.go"), ""},
		{"main.main", "main.go", ""}, // -trimpath
		{"example.com/x.F", here, ""},
	} {
		b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
		b.Add([]profile.FrameSpec{{Function: tc.function, File: tc.file, Line: 1}}, 1)
		p, err := b.Profile()
		if err != nil {
			t.Fatal(err)
		}
		if got := mainDir(p); got != tc.want {
			t.Errorf("mainDir of %s in %s = %q, want %q", tc.function, tc.file, got, tc.want)
		}
	}
}

// TestRemember: the recordings of an experiment do not become the last one.
func TestRemember(t *testing.T) {
	c := Config{CacheDir: t.TempDir()}
	for _, path := range []string{filepath.Join(c.CacheDir, "recordings", "a.hone"), filepath.Join(c.CacheDir, "work", "try-1", "01-0.hone")} {
		if err := c.remember(path); err != nil {
			t.Fatal(err)
		}
	}
	if last, err := Last(c); err != nil || filepath.Base(last) != "a.hone" {
		t.Errorf("%q, %v", last, err)
	}
}
