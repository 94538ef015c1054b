package exectrace_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	exptrace "golang.org/x/exp/trace"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/internal/live"
)

// tracedWithSecrets is a program with names to hide; its trace has several generations.
func tracedWithSecrets(t *testing.T) []byte {
	t.Helper()
	return tracetest.Record(t, func() {
		ctx, task := trace.NewTask(context.Background(), "CustomerImport")
		trace.Log(ctx, "customer", "net.Jane Roe of fmt.Example")
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 11 {
					mu.Lock()
					time.Sleep(50 * time.Millisecond)
					mu.Unlock()
				}
			})
		}
		wg.Wait() // about 2.2 s: three generations or so
		task.End()
	})
}

// count counts the events of a trace with the reader of x/exp, which is strict.
func count(t *testing.T, data []byte) (n int) {
	t.Helper()
	r, err := exptrace.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for {
		_, err := r.ReadEvent()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
}

// TestRewrittenTracesAreTraces cuts and anonymizes a trace, and reads the results with other
// readers.
func TestRewrittenTracesAreTraces(t *testing.T) {
	live.Only(t)
	data := tracedWithSecrets(t)
	info, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	generations := info.Info().Generations
	if generations < 2 {
		t.Fatalf("%d generations: too short a trace", generations)
	}

	t.Run("whole", func(t *testing.T) {
		var out bytes.Buffer
		w, err := exectrace.Cut(t.Context(), &out, bytes.NewReader(data), 0, 0, exectrace.Options{})
		if err != nil || w.Generations != generations || w.Bytes != int64(out.Len()) {
			t.Fatalf("%+v, %v: want all %d generations", w, err, generations)
		}
		// The tracer pads sizes; everything else is equal.
		if a, b := count(t, out.Bytes()), count(t, data); a != b || out.Len() > len(data) {
			t.Errorf("%d events in %d bytes, of %d in %d", a, out.Len(), b, len(data))
		}
	})
	t.Run("end", func(t *testing.T) {
		var out bytes.Buffer
		from := info.Info().Length - time.Millisecond
		w, err := exectrace.Cut(t.Context(), &out, bytes.NewReader(data), from, 0, exectrace.Options{})
		if err != nil || w.Generations == 0 || w.Skipped == 0 || w.Generations+w.Skipped != generations {
			t.Fatalf("%+v, %v, of %d generations", w, err, generations)
		}
		if w.From > from {
			t.Errorf("it begins at %v, asked was %v", w.From, from)
		}
		if n := count(t, out.Bytes()); n == 0 {
			t.Error("no event in it")
		}
	})
	t.Run("cut off", func(t *testing.T) {
		var out bytes.Buffer
		_, err := exectrace.Cut(t.Context(), &out, bytes.NewReader(data[:len(data)-100]), 0, 0, exectrace.Options{})
		var broken *exectrace.Broken
		if !errors.As(err, &broken) {
			t.Fatalf("%v, want a *Broken", err)
		}
		count(t, out.Bytes())
	})
	t.Run("anonymous", func(t *testing.T) {
		var out bytes.Buffer
		if _, err := exectrace.Anonymize(t.Context(), &out, bytes.NewReader(data), exectrace.Options{}); err != nil {
			t.Fatal(err)
		}
		if a, b := count(t, out.Bytes()), count(t, data); a != b {
			t.Errorf("%d events, before %d", a, b)
		}
		for _, secret := range []string{"CustomerImport", "Jane", "Example", "tracedWithSecrets", "exectrace_test", "rewrite_test", filepath.Base(t.TempDir())} {
			if bytes.Contains(out.Bytes(), []byte(secret)) {
				t.Errorf("%q is still in it", secret)
			}
		}
		for _, common := range []string{"sync.(*Mutex).Lock", "chan receive", "runtime.main"} {
			if bytes.Contains(data, []byte(common)) && !bytes.Contains(out.Bytes(), []byte(common)) {
				t.Errorf("%q is gone", common)
			}
		}
	})
}

// TestCutOfRecorded cuts the recorded traces at times relative to their length, which a first
// reading finds.
func TestCutOfRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/*.trace.gz")
	if err != nil || len(files) == 0 {
		t.Fatal("recordings are missing", err)
	}
	for _, name := range files {
		data := gunzip(t, name)
		read, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		info := read.Info()
		cut := func(from, to time.Duration) (exectrace.Written, int, error) {
			var out bytes.Buffer
			w, err := exectrace.Cut(t.Context(), &out, bytes.NewReader(data), from, to, exectrace.Options{})
			return w, out.Len(), err
		}
		w, n, err := cut(0, 0)
		if err != nil || w.Generations != info.Generations || int64(n) != w.Bytes || (w.To-info.Length).Abs() > 10*time.Millisecond {
			t.Errorf("%s, all: %+v, %v; %d generations of %v", name, w, err, info.Generations, info.Length)
		}
		last := w.To - time.Microsecond
		if w, _, err := cut(last, 0); err != nil || w.Generations != 1 || w.Skipped != info.Generations-1 || w.From > last {
			t.Errorf("%s, the end: %+v, %v", name, w, err)
		}
		if w, _, err := cut(0, time.Nanosecond); err != nil || w.Generations != 1 || w.From != 0 {
			t.Errorf("%s, the start: %+v, %v", name, w, err)
		}
		for _, c := range []struct{ from, to time.Duration }{{w.To + time.Microsecond, 0}, {time.Hour, 2 * time.Hour}} {
			if w, n, err := cut(c.from, c.to); err == nil || !strings.Contains(err.Error(), "it ends at") || n != 0 {
				t.Errorf("%s, after the end: %+v, %d bytes, %v; want an error and nothing written", name, w, n, err)
			}
		}
		for _, c := range []struct{ from, to time.Duration }{{-1, 0}, {0, -1}, {2, 1}, {1, 1}} {
			if _, n, err := cut(c.from, c.to); err == nil || !strings.Contains(err.Error(), "the end must be after the start") || n != 0 {
				t.Errorf("%s, from %v to %v: %v", name, c.from, c.to, err)
			}
		}
	}
}

// TestGoToolReadsTheCut reads the cut with the installed go tool.
func TestGoToolReadsTheCut(t *testing.T) {
	live.Only(t)
	data := tracedWithSecrets(t)
	var out bytes.Buffer
	if _, err := exectrace.Cut(t.Context(), &out, bytes.NewReader(data), 1500*time.Millisecond, 0, exectrace.Options{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cut.trace")
	writeFile(t, file, out.Bytes())
	text, err := exec.CommandContext(t.Context(), "go", "tool", "trace", "-d=parsed", file).CombinedOutput()
	if err != nil || !strings.Contains(string(text), "StateTransition") {
		t.Errorf("go tool trace: %v\n%.500s", err, text)
	}
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
