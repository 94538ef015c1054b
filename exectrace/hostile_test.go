package exectrace_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

// read reads a trace that may contain anything, and fails if the events contradict each other.
func read(t *testing.T, data []byte) (*exectrace.Trace, error) {
	t.Helper()
	tr, err := exectrace.Read(context.Background(), bytes.NewReader(data), exectrace.Options{}, &consistent{t: t}, toucher{})
	var broken *exectrace.Broken
	if err != nil && (tr == nil) == errors.As(err, &broken) {
		t.Fatalf("Read = %v, %v", tr, err)
	}
	if broken != nil && (broken.Offset < 0 || broken.Offset > int64(len(data)) || broken.Err == nil) {
		t.Fatalf("%+v in a trace of %d bytes", broken, len(data))
	}
	return tr, err
}

// toucher reads everything that events refer to.
type toucher struct{}

func (toucher) Events(t *exectrace.Trace, b *exectrace.Block) {
	for i := range b.Events {
		e := &b.Events[i]
		t.Annotation(e)
		t.Message(e)
		t.ReasonName(e, e.Why)
		t.Frames(e.Stack)
		t.Frames(e.Left)
		t.Goroutine(e.G)
		t.Goroutine(e.By)
		if e.M >= 0 {
			_ = t.Threads()[e.M]
		}
	}
}

func (toucher) End(t *exectrace.Trace) { t.Info() }

// TestCutAnywhere cuts a trace at many places: what is left is read, and the error is reported.
func TestCutAnywhere(t *testing.T) {
	data := record(t, 2, 1)
	step := max(1, len(data)/150)
	for n := 16; n < len(data); n += step {
		tr, err := read(t, data[:n])
		if err == nil {
			t.Fatalf("%d bytes of %d are no broken trace", n, len(data))
		}
		if tr == nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	for n := range 16 {
		if tr, err := read(t, data[:n]); tr != nil || err == nil {
			t.Errorf("%d bytes of a header are a trace: %v", n, err)
		}
	}
}

// TestFlippedBits flips bits: the reader does not panic, and events do not contradict each other.
func TestFlippedBits(t *testing.T) {
	data := record(t, 2, 1)
	rapid.Check(t, func(r *rapid.T) {
		b := bytes.Clone(data)
		for range rapid.IntRange(1, 4).Draw(r, "flips") {
			b[rapid.IntRange(16, len(b)-1).Draw(r, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(r, "bit")
		}
		read(t, b)
	})
}

// TestReaders reads in odd pieces, and compressed traces.
func TestReaders(t *testing.T) {
	data := record(t, 2, 1)
	want, err := read(t, data)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(data)
	w.Close()
	for name, r := range map[string]io.Reader{
		"one byte":  iotest.OneByteReader(bytes.NewReader(data)),
		"data, EOF": iotest.DataErrReader(bytes.NewReader(data)),
		"gzip":      &zipped,
	} {
		tr, err := exectrace.Read(context.Background(), r, exectrace.Options{})
		if err != nil || tr.Info() != want.Info() {
			t.Errorf("%s: %v, %+v", name, err, tr)
		}
	}
	bad := errors.New("the disk is on fire")
	r := io.MultiReader(bytes.NewReader(data[:len(data)/2]), iotest.ErrReader(bad))
	if _, err := exectrace.Read(context.Background(), r, exectrace.Options{}); !errors.Is(err, bad) {
		t.Errorf("an error of the reader comes out as %v", err)
	}
}

// TestBomb limits the size that a compressed trace may unpack to.
func TestBomb(t *testing.T) {
	data := record(t, 2, 1)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(data)
	w.Close()
	_, err := exectrace.Read(context.Background(), &zipped, exectrace.Options{MaxInflated: int64(len(data) / 2)})
	if err == nil {
		t.Error("a trace larger than allowed was read")
	}
}

// TestHostileCounts: large counts without data behind them cost no memory.
func TestHostileCounts(t *testing.T) {
	for name, text := range map[string]string{
		"goroutine ids": "GoCreate new_g=0xfffffffffffffffe\nGoCreate new_g=0x8000000000000000\nGoCreate new_g=12345678901234567\n",
		"threads":       "GoStatus g=0xffffffffffff m=0xfffffffffffffff0 gstatus=3\n",
		"procs":         "ProcsChange procs=0xffffffffffffffff\nProcStatus p=0xffffffffffffffff pstatus=2\n",
		"string id":     "table Strings 05 ffffffffffffffff7f 01 61\n",
		"stack id":      "table Stacks 03 ffffffffffffffff7f 00\n",
		"frames":        "table Stacks 03 01 ffffffffffffffff7f\n",
		"string size":   "table Strings 05 01 ffffffffffffffff7f\n",
		"batch size":    "open\nthread 1\nbytes 01\n",
		"tasks":         "UserTaskBegin task=0xffffffffffffffff parent_task=0xffffffffffffffff\n",
		"long number":   "bytes 10 80808080808080808080808080808080 01\n",
	} {
		data, err := tracetext.Assemble("trace 26\ngeneration 1\nthread 1 time=100\nProcStatus p=0 pstatus=1\nGoStatus g=1 m=1 gstatus=2\n" + text)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read(t, data)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
			t.Errorf("%s: %d bytes of memory for a trace of %d bytes", name, grown, len(data))
		}
	}
}

// FuzzRead searches for traces that panic, hang, or contradict themselves.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		data, err := tracetext.Assemble(section(a, "trace"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { read(t, data) })
}

// FuzzText is FuzzRead over the text form, which gets past the framing of batches sooner.
func FuzzText(f *testing.F) {
	f.Add("trace 26\ngeneration 1\nthread 1\nGoStart g=1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 || strings.Count(text, "\n") > 100 {
			return
		}
		if data, err := tracetext.Assemble(text); err == nil {
			read(t, data)
		}
	})
}
