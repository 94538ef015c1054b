package covdata_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/covdata"
)

// program executes counted blocks in two packages of its own and one of the standard library.
var program = map[string]string{
	"go.mod": "module example.com/counted\n\ngo 1.23\n",
	"main.go": `package main

import (
	"fmt"
	"strings"

	"example.com/counted/part"
)

func main() {
	n := 0
	for i := 0; i < 10; i++ {
		if part.Odd(i) {
			func() { n++ }()
		}
	}
	fmt.Println(n, strings.Repeat("x", 3))
}

func unused() { fmt.Println("never") }

var _ = unused
`,
	"part/part.go": `package part

func Odd(i int) bool {
	for i > 1 {
		i -= 2
	}
	return i == 1
}
`,
}

// record builds the program with counters, runs it and returns the folder with what it wrote.
func record(t testing.TB) (dir string) {
	t.Helper()
	src, dir := t.TempDir(), t.TempDir()
	for name, text := range program {
		path := filepath.Join(src, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = src
		cmd.Env = append(os.Environ(), "GOCOVERDIR="+dir, "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, out)
		}
	}
	exe := filepath.Join(t.TempDir(), "counted.exe")
	run("go", "build", "-cover", "-covermode=atomic", "-coverpkg="+covered, "-o", exe, ".")
	run(exe)
	return dir
}

func file(t testing.TB, dir, prefix string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, prefix+".*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %v, %v", prefix, names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// text prints counts as go tool covdata textfmt does.
func text(m *covdata.Meta, counts covdata.Counts) []string {
	var lines []string
	for i, p := range m.Packages {
		for j, f := range p.Funcs {
			for k, b := range f.Blocks {
				n := uint64(0)
				if counts[i][j] != nil {
					n = counts[i][j][k]
				}
				lines = append(lines, fmt.Sprintf("%s:%d.%d,%d.%d %d %d", f.File, b.StartLine, b.StartColumn, b.EndLine, b.EndColumn, b.Statements, n))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// TestReadsWhatCovdataReads compares every block with go tool covdata.
func TestReadsWhatCovdataReads(t *testing.T) {
	dir := record(t)
	m, err := covdata.ReadMeta(file(t, dir, "covmeta"))
	if err != nil {
		t.Fatal(err)
	}
	counters := file(t, dir, "covcounters")
	counts, err := m.ReadCounters(counters, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.txt")
	if b, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+out).CombinedOutput(); err != nil {
		t.Fatalf("go tool covdata: %v\n%s", err, b)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(data)), "\n")[1:] // after "mode: atomic"
	slices.Sort(want)
	got := text(m, counts)
	if !slices.Equal(got, want) {
		t.Errorf("%d blocks, go tool covdata has %d", len(got), len(want))
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("first difference: %s, want %s", got[i], want[i])
			}
		}
	}
	if !slices.ContainsFunc(got, func(s string) bool {
		return strings.HasPrefix(s, "example.com/counted/part/part.go:4.12") && strings.HasSuffix(s, " 20")
	}) {
		t.Errorf("the loop of Odd ran 20 times:\n%s", strings.Join(got, "\n"))
	}

	twice, err := m.ReadCounters(counters, counts)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(text(m, twice), func(s string) bool { return strings.HasSuffix(s, " 40") }) {
		t.Error("the counters of a second file were not added")
	}
}

// TestBrokenFilesAreErrors truncates and changes both files everywhere: the result is an error or
// counts, never a panic.
func TestBrokenFilesAreErrors(t *testing.T) {
	dir := record(t)
	meta, counters := file(t, dir, "covmeta"), file(t, dir, "covcounters")
	m, err := covdata.ReadMeta(meta)
	if err != nil {
		t.Fatal(err)
	}
	for n := range meta {
		if _, err := covdata.ReadMeta(meta[:n]); err == nil && n < len(meta)/2 {
			t.Fatalf("meta-data cut at %d of %d bytes have no error", n, len(meta))
		}
	}
	for n := range counters {
		if _, err := m.ReadCounters(counters[:n], nil); err == nil {
			t.Fatalf("counters cut at %d of %d bytes have no error", n, len(counters))
		}
	}
	for _, data := range [][]byte{meta, counters} {
		for i := range data {
			for _, b := range []byte{0, 0x7f, 0xff} {
				broken := slices.Clone(data)
				broken[i] = b
				if m, err := covdata.ReadMeta(broken); err == nil {
					m.ReadCounters(counters, nil)
				}
				m.ReadCounters(broken, nil)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	dir := record(f)
	meta, counters := file(f, dir, "covmeta"), file(f, dir, "covcounters")
	f.Add(meta, counters)
	f.Add([]byte("\x00cvm\x01"), []byte("\x00cwm\x01"))
	f.Fuzz(func(t *testing.T, meta, counters []byte) {
		if m, err := covdata.ReadMeta(meta); err == nil {
			m.ReadCounters(counters, nil)
		}
	})
}
