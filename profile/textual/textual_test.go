package textual_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/textual"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Every text in testdata was written by the tool it is named after; goroutine-states.txt joins
// pieces of several versions of Go and was shortened by hand.
func TestReadsEveryFormat(t *testing.T) {
	for name, format := range map[string]string{
		"heap": "Go heap text", "block": "Go contention text", "mutex": "Go contention text",
		"goroutine-debug1": "Go count text", "threadcreate": "Go count text",
		"goroutine-debug2": "goroutine dump", "goroutine-states": "goroutine dump", "panic": "goroutine dump",
		"perf-stacks": "perf script", "perf-flat": "perf script", "perf-srcline": "perf script",
		"stacks.folded": "folded stacks",
	} {
		t.Run(name, func(t *testing.T) {
			text := read(t, name+".txt")
			if got := textual.Detect(text); got != format {
				t.Fatalf("Detect = %q, want %q", got, format)
			}
			p, err := textual.Decode(bytes.NewReader(text), 0)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".golden", describe(p))
		})
	}
}

func TestReadsCompressedText(t *testing.T) {
	text := read(t, "mutex.txt")
	want, err := textual.Decode(bytes.NewReader(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"gzip": zip(t, text), "zstd": enc.EncodeAll(text, nil)} {
		if textual.Detect(data) == "" {
			t.Errorf("%s: not detected", name)
		}
		got, err := textual.Decode(bytes.NewReader(data), 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(describe(want), describe(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOtherThingsAreNotText(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add([]profile.FrameSpec{{Function: "main.main;x 1\n"}}, 7)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	if err := p.EncodeRaw(&raw); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"empty": "", "blank": "\n\n", "a profile": raw.String(), "error page": "404 page not found\n",
		"web page": "<!DOCTYPE html>\n<p>a; b 12", "one number": "HTTP 404\n", "C++ heap": "heap profile: 1: 2 [1: 2] @ heapprofile\n",
		"log": "goroutine profile is here\ngoroutine 1 [running]:\n", "cut gzip": "\x1f\x8b\x08",
	} {
		if got := textual.Detect([]byte(data)); got != "" {
			t.Errorf("%s: taken for %s", name, got)
		}
	}
	_, err = textual.Decode(strings.NewReader("404 page not found\n"), 0)
	if !errors.Is(err, profile.ErrText) {
		t.Errorf("error page: %v", err)
	}
}

func TestErrorsSayWhatAndWhere(t *testing.T) {
	const heap = "heap profile: 1: 2 [3: 4] @ heap/1024\n"
	for _, c := range []struct{ name, text, want string }{
		{"heap values", heap + "1: 2 @ 0x1\n", `Go heap text, line 2: "1: 2": want OBJECTS: BYTES [OBJECTS: BYTES]`},
		{"heap bytes of nothing", heap + "\n0: 2 [0: 0] @ 0x1\n", "line 3: \"0: 2 [0: 0]\": 2 bytes in no objects"},
		{"huge number", heap + "1: 99999999999999999999 [1: 1] @ 0x1\n", "value out of range"},
		{"address", heap + "1: 2 [1: 2] @ 0x1 zz\n", `"zz": want an address`},
		{"no record", heap + "hello\n", `"hello": want VALUES @ ADDRESSES`},
		{"frame without place", heap + "1: 2 [1: 2] @ 0x1\n#\t0x1\tmain.f+0x1\tmain.go\n", `line 3: "main.go": want FILE:LINE`},
		{"frame without file", heap + "1: 2 [1: 2] @ 0x1\n#\t0x1\tmain.f+0x1\n", "with tabs"},
		{"labels", "x profile: total 1\n1 @ 0x1\n# labels: {\"a\"}\n", `want {"key":"value", ...}`},
		{"count", "x profile: total 1\n-1 @ 0x1\n", `"-1": want a count`},
		{"no clock", "--- mutex:\n1 1 @ 0x1\n", "no cycles/second"},
		{"not a clock", "--- mutex:\ncycles/second=0\n", "want a positive number"},
		{"C++ contention", "--- contention:\nformat = java\n", "want a positive number"},
		{"contention values", "--- mutex:\ncycles/second=1\n1 @ 0x1\n", `line 3: "1": want CYCLES COUNT`},
		{"dump without place", "goroutine 1 [running]:\nmain.main()\nmain.f()\n", "line 3: want a line with FILE:LINE"},
		{"dump with prose", "goroutine 1 [running]:\nhello\n", `line 2: "hello": want FUNCTION(ARGUMENTS)`},
		{"dump labels", "goroutine 1 [running labels:{x}]:\n", "labels: want"},
		{"dump wait", "goroutine 1 [running, many minutes]:\n", `"many minutes": want a number`},
		{"perf frame", "a 1 1.0: 1 cycles:\n\tnonsense\n", `"\tnonsense": want ADDRESS SYMBOL (FILE)`},
		{"perf header", "a 1 1.0: 1 cycles:\n\nnonsense\n", `line 3: "nonsense": want COMM PID`},
		{"folded", "a;b 1\n" + strings.Repeat("a;b 1\n", textual.HeadBytes/6) + "a;b\n", `"a;b": want ROOT`},
		{"deep stack", "a;b 1\n" + strings.Repeat("a;b 1\n", textual.HeadBytes/6) + strings.Repeat("a;", 1<<17) + " 1\n", "more than 65536 frames"},
		{"long line", "a;b 1\n" + strings.Repeat("a;b 1\n", textual.HeadBytes/6) + strings.Repeat("a", 2<<20) + " 1\n", "line 10924: longer than 1048576 bytes"},
	} {
		_, err := textual.Decode(strings.NewReader(c.text), 0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is\n\t%v\nwant\n\t%s", c.name, err, c.want)
		}
	}
}

func TestSizeIsBounded(t *testing.T) {
	many := strings.Repeat("main.main;main.f 1\n", 1<<16)
	if _, err := textual.Decode(strings.NewReader(many), 1<<20); !errors.Is(err, profile.ErrTooLarge) {
		t.Errorf("long text: %v", err)
	}
	long := "a;" + strings.Repeat("b", 40_000) + " 1\n"
	member := zip(t, bytes.Repeat([]byte(long), 25)) // a gzip file may contain many streams
	if _, err := textual.Decode(bytes.NewReader(bytes.Repeat(member, 40)), 0); !errors.Is(err, profile.ErrTooLarge) {
		t.Errorf("bomb: %v", err)
	}
}

// describe prints everything of a profile that a text can contain.
func describe(p *profile.Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "types %v default %q period %v %d\n", p.SampleTypes, p.DefaultSampleType, p.PeriodType, p.Period)
	for row := range p.NumSamples() {
		for i := range p.SampleTypes {
			fmt.Fprintf(&b, "%d ", p.Values(i)[row])
		}
		for _, l := range p.Labels(row) {
			if l.Str != "" {
				fmt.Fprintf(&b, "%s=%q ", l.Key, l.Str)
			} else {
				fmt.Fprintf(&b, "%s=%d%s ", l.Key, l.Num, l.Unit)
			}
		}
		b.WriteString("\n")
		for _, l := range p.Stack(row) {
			loc := p.Locations[l]
			if len(loc.Lines) == 0 {
				fmt.Fprintf(&b, "\t%#x\n", loc.Address)
			}
			for i, ln := range loc.Lines {
				f := p.Functions[ln.Func]
				fmt.Fprintf(&b, "\t%#x %s %s:%d", loc.Address, f.Name, f.Filename, ln.Line)
				if i < len(loc.Lines)-1 {
					b.WriteString(" inlined")
				}
				if loc.Mapping >= 0 {
					fmt.Fprintf(&b, " (%s)", p.Mappings[loc.Mapping].File)
				}
				b.WriteString("\n")
			}
		}
	}
	for _, c := range p.Comments {
		fmt.Fprintf(&b, "comment %s\n", c)
	}
	return b.String()
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("testdata", name), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(read(t, name)), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func zip(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := io.Copy(zw, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
