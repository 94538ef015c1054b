package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
)

// smallTrace is a trace of goroutines that wait for each other.
func smallTrace(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	c := make(chan int)
	go func() {
		defer close(c)
		for i := range 100 {
			c <- i
			time.Sleep(10 * time.Microsecond)
		}
	}()
	for range c {
	}
	trace.Stop()
	return b.Bytes()
}

func write(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestOpenSourceOfTraces reads traces as profiles, wherever they are.
func TestOpenSourceOfTraces(t *testing.T) {
	data := smallTrace(t)
	dir := t.TempDir()
	plain := write(t, dir, "x.trace", data)
	packed := write(t, dir, "x.gz", zipped(t, data))
	colon := write(t, dir, "y:blocking", data) // a file, not a view of y
	cut := write(t, dir, "cut.trace", data[:len(data)-10])
	rec := filepath.Join(dir, "x.hone")
	w, err := recording.Create(rec, recording.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(recording.PartTrace, "", data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	c := Opener{CacheDir: t.TempDir()}
	for _, tc := range []struct {
		arg, name, types string
		notes            int
	}{
		{plain, plain, "intervals time", 1},
		{packed, packed, "intervals time", 1},
		{colon, colon, "intervals time", 1},
		{plain + ":goroutines", plain + ":goroutines", "intervals time", 0},
		{plain + ":blocking", plain + ":blocking", "contentions delay", 0},
		{packed + ":parallelism", packed + ":parallelism", "stretches serial", 0},
		{"-", "standard input", "intervals time", 1},
		{"-:sched", "standard input", "contentions delay", 0},
		{rec + ":trace", rec + ":trace", "intervals time", 1},
		{rec + ":trace:blocking", rec + ":trace:blocking", "contentions delay", 0},
		{rec + ":trace.out:blocking", rec + ":trace:blocking", "contentions delay", 0},
	} {
		s, err := with(c, bytes.NewReader(data), Options{}).Profile(context.Background(), tc.arg)
		if err != nil {
			t.Errorf("%s: %v", tc.arg, err)
			continue
		}
		var types []string
		for _, x := range s.Profile.SampleTypes {
			types = append(types, x.Type)
		}
		if s.Name != tc.name || strings.Join(types, " ") != tc.types || len(s.Notes) != tc.notes {
			t.Errorf("%s: %s, %v, notes %q", tc.arg, s.Name, types, s.Notes)
		}
		if blocking := strings.HasSuffix(tc.arg, ":blocking"); blocking && tc.arg != colon && s.Profile.Total(0) < 100 {
			t.Errorf("%s: %d waits", tc.arg, s.Profile.Total(0))
		}
	}
	for arg, want := range map[string]string{
		plain + ":block":          `no view "block" of ` + plain,
		rec + ":trace:x":          `no view "x" of an execution trace`,
		rec + ":blocking":         "there is " + rec + ":trace:blocking",
		plain + ":critical":       "no critical path: no request in the trace",
		dir + "/nowhere:blocking": "no such file",
		cut + ":blocking":         "broken",
	} {
		if _, err := c.Profile(context.Background(), arg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}

// TestViewsAreNotParts: what follows a recording's name is a part of it or, after trace, a view.
func TestViewsAreNotParts(t *testing.T) {
	for _, part := range []string{recording.PartCPU, recording.PartGoroutine, "allocs", "trace2", ""} {
		if view, ok := partTraceView(part); ok {
			t.Errorf("%q is view %q of a trace", part, view)
		}
	}
	if slices.Contains(analysis.Profiles(), "trace") {
		t.Error("a view is called as the part")
	}
}

// TestTheProbeIsNotTheProgram: waits and work of the probe are not the program's.
func TestTheProbeIsNotTheProgram(t *testing.T) {
	for file, want := range map[string]bool{
		"/home/me/shop/" + target.ProbeFile: true,
		`C:\shop\` + target.ProbeFile:       true,
		"/home/me/shop/main.go":             false,
		"/0hone_probe/main.go":              false,
	} {
		l := exectrace.Line{Function: "main.f", File: file, Line: 1}
		if l.OfProbe() != want || l.OfRuntime() != want || want != target.IsProbeFile(file[strings.LastIndexAny(file, `/\`)+1:]) {
			t.Errorf("%s: of the probe %t, of the runtime %t, want %t", file, l.OfProbe(), l.OfRuntime(), want)
		}
	}
}
