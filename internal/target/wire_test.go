package target

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// peer is a wire, and the descriptors of a probe at its other end.
func peer(t *testing.T) (w *wire, requests io.Reader, answers *os.File) {
	t.Helper()
	ours, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	requests, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w = newWire(ours, out)
	t.Cleanup(func() {
		answers.Close()
		w.drain(time.Second)
		requests.(*os.File).Close()
	})
	return w, requests, answers
}

func reply(t *testing.T, to io.Writer, frames ...frame) {
	t.Helper()
	for _, f := range frames {
		if _, err := to.Write(appendFrame(nil, f)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWireInterleaves: answers are matched with their requests in whatever order they arrive.
func TestWireInterleaves(t *testing.T) {
	w, requests, answers := peer(t)
	type result struct {
		text string
		note string
		err  error
	}
	results := [2]chan result{make(chan result, 1), make(chan result, 1)}
	var ids [2]uint32
	for i, word := range []string{"slow", "fast"} {
		go func() {
			var b bytes.Buffer
			note, err := w.ask(soon(t), &b, word)
			results[i] <- result{b.String(), note, err}
		}()
		f, err := readFrame(requests)
		if err != nil || string(f.payload) != word || f.kind != 'R' {
			t.Fatalf("request %+v, %v", f, err)
		}
		ids[i] = f.id
	}
	reply(t, answers,
		frame{ids[0], 'D', []byte("a")}, frame{ids[1], 'D', []byte("x")}, frame{99, 'D', []byte("nobody's")},
		frame{ids[1], 'E', []byte("quick")}, frame{ids[0], 'D', []byte("b")}, frame{ids[0], 'E', nil})
	if r := <-results[1]; r != (result{"x", "quick", nil}) {
		t.Errorf("fast: %+v", r)
	}
	if r := <-results[0]; r != (result{"ab", "", nil}) {
		t.Errorf("slow: %+v", r)
	}
}

func TestWireErrors(t *testing.T) {
	w, requests, answers := peer(t)
	for name, c := range map[string]struct {
		frame frame
		check func(error) bool
	}{
		"error":   {frame{0, 'X', []byte("it broke")}, func(err error) bool { return err.Error() == "it broke" }},
		"missing": {frame{0, 'M', []byte("why")}, func(err error) bool { m := new(Missing); return errors.As(err, &m) && m.Why == "why" }},
		"unknown": {frame{0, '?', nil}, func(err error) bool { return strings.Contains(err.Error(), "kind") }},
	} {
		done := make(chan error, 1)
		go func() {
			_, err := w.ask(soon(t), io.Discard, "x")
			done <- err
		}()
		f, err := readFrame(requests)
		if err != nil {
			t.Fatal(err)
		}
		c.frame.id = f.id
		reply(t, answers, c.frame)
		if err := <-done; err == nil || !c.check(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A caller that gives up is reported to the probe.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := w.ask(ctx, io.Discard, "long"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller that left: %v", err)
	}
	for _, want := range []string{"long", "cancel"} {
		if f, err := readFrame(requests); err != nil || string(f.payload) != want {
			t.Errorf("request %+v, %v; want %s", f, err, want)
		}
	}
	// So is one whose writer fails.
	done := make(chan error, 1)
	go func() {
		_, err := w.ask(soon(t), failing{}, "y")
		done <- err
	}()
	f, err := readFrame(requests)
	if err != nil {
		t.Fatal(err)
	}
	reply(t, answers, frame{f.id, 'D', []byte("z")})
	if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a writer that fails: %v", err)
	}
	// The other end closes in the middle of an answer.
	go func() {
		_, err := w.ask(soon(t), io.Discard, "last")
		done <- err
	}()
	readFrame(requests) // cancel
	if f, err = readFrame(requests); err != nil {
		t.Fatal(err)
	}
	reply(t, answers, frame{f.id, 'D', []byte("z")})
	answers.Close()
	if err := <-done; !errors.Is(err, ErrEnded) {
		t.Errorf("an end in the middle: %v", err)
	}
	if _, err := w.ask(soon(t), io.Discard, "after"); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestWireJunk: a descriptor with other content ends the conversation.
func TestWireJunk(t *testing.T) {
	w, _, answers := peer(t)
	answers.WriteString("Hello, this is another protocol.\n")
	select {
	case <-w.closed:
	case <-time.After(10 * time.Second):
		t.Fatal("junk is read without end")
	}
	if _, err := w.ask(soon(t), io.Discard, "x"); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("junk: %v", err)
	}
}

func TestFrameRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := frame{
			id: rapid.Uint32().Draw(t, "id"), kind: rapid.Byte().Draw(t, "kind"),
			payload: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "payload"),
		}
		got, err := readFrame(bytes.NewReader(appendFrame(nil, want)))
		if err != nil || got.id != want.id || got.kind != want.kind || !bytes.Equal(got.payload, want.payload) {
			t.Fatalf("%+v became %+v, %v", want, got, err)
		}
	})
}

func TestParseMetrics(t *testing.T) {
	m, err := parseMetrics("/a:bytes 12\n/b:seconds h 4 0.5 1 +Inf\n/c:x NaN\n")
	want := Metrics{
		"/a:bytes":   {Value: 12},
		"/b:seconds": {Hist: &MetricHist{Count: 4, P50: 0.5, P99: 1, Max: math.Inf(1)}},
	}
	if d := cmp.Diff(want, m); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for _, bad := range []string{"/a", "/a x", "/a h 1 2 3", "/a h -1 2 3 4", "\n"} {
		if _, err := parseMetrics(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add("pid 1\ngo go1.26\nlistening true\n\npath x\n")
	f.Add("/a:bytes 12\n/b:seconds h 4 0.5 1 2\n")
	f.Add("  sl  local_address rem_address st\n 0: 0100007F:1F90 00000000:0000 0A 0 0 0 0 0 123\n")
	f.Fuzz(func(t *testing.T, s string) {
		parseInfo(s)
		parseMetrics(s)
		twoNumbers(s)
		accountOf(s)
		lastLines([]byte(s))
		looksLikeProfile([]byte(s), "application/octet-stream")
		for r := strings.NewReader(s); ; {
			if _, err := readFrame(r); err != nil {
				break
			}
		}
	})
}

func TestLastLines(t *testing.T) {
	many := strings.Repeat("line\n", 50) + "last"
	if got := lastLines([]byte(many)); len(got) != stderrLines || got[stderrLines-1] != "last" {
		t.Errorf("%q", got)
	}
	death := "a\r\n\n" + strings.Repeat("b\n", 20) + "panic: oh\n\ngoroutine 1 [running]:\n" + strings.Repeat("main.f()\n", 30)
	if got := lastLines([]byte(death)); len(got) != stderrLines || got[0] != "panic: oh" || got[1] != "goroutine 1 [running]:" {
		t.Errorf("%q", got)
	}
	if got := lastLines(nil); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestFailure(t *testing.T) {
	for want, e := range map[string]Exit{
		"":              {},
		"exit code 2":   {Code: 2},
		"signal killed": {Code: -1, Signal: "killed"},
		"exit code 1; last lines on stderr: a | b":   {Code: 1, Stderr: []string{"a", "b"}},
		"how is not known, as hone did not start it": {Code: -1},
	} {
		if got := e.Failure(); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
}

// TestProbeSource: the probe compiles in any package main.
func TestProbeSource(t *testing.T) {
	for _, goos := range []string{"linux", "windows"} {
		src, err := placement{pkg: "foreign", goos: goos}.source()
		if err != nil {
			t.Fatal(err)
		}
		names, imports := topLevel(t, src)
		for _, name := range names {
			if name != "_" && !strings.HasPrefix(name, "hone0") {
				t.Errorf("%s: %s may collide with a name of the program's", goos, name)
			}
		}
		for _, path := range imports {
			if path == "net" || strings.HasPrefix(path, "net/") || strings.Contains(path, ".") {
				t.Errorf("%s: it imports %s", goos, path)
			}
		}
		if !slices.Contains(imports, "runtime/pprof") || !strings.Contains(string(src), "\npackage foreign\n") {
			t.Errorf("%s: this is not the probe: %.200s", goos, src)
		}
	}
}
