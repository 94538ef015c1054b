package inspect

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/disasm"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/source"
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/report"
)

const remarked = `package main

import "os"

type big [64]int

func main() { os.Stdout.WriteString(pad("x", len(os.Args), nil, nil)) }

//go:noinline
func pad(s string, n int, from, to *big) string {
	for len(s) < n {
		s = double(s)
	}
	if n > 100 {
		*to = *from
		return s[from[0]:]
	}
	return s
}

func double(s string) string { return s + s }
`

// TestRemarksFromTheCompiler asks the compiler about a real package.
func TestRemarksFromTheCompiler(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	for name, text := range map[string]string{"main.go": remarked, "go.mod": "module example.com/remarked\n\ngo 1.26\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	src := &source.Source{Name: "cpu.pprof", Profile: remarkedProfile(t, file), KnownBuild: true}
	var err error
	src.Code, err = gocode.Open(t.Context(), gocode.Config{Dir: dir, ImportPath: "example.com/remarked", CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	v, err := report.NewView(src.Profile, report.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	l, err := List(src, v, regexp.MustCompile(`^main\.pad$`))
	if err != nil {
		t.Fatal(err)
	}
	if err := AddRemarks(t.Context(), src, l, RemarkOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []Remark{
		{10, "inlining", "is not inlined: marked go:noinline"},
		{12, "inlined call", "main.double is inlined here"},
		{12, "escape", "s + s escapes to heap: returned, main.go:16 (in a call inlined from main.go:21)"},
		{15, "copy", "copies 512 bytes"},
		{16, "bounds check", "the bounds of a slice are checked"},
	}
	if diff := cmp.Diff(want, l.Functions[0].Remarks); diff != "" || len(l.Notes) > 0 {
		t.Errorf("remarks (-want +got):\n%s\nnotes %q", diff, l.Notes)
	}

	frame := func(name string, line int) disasm.Frame { return disasm.Frame{Function: name, File: file, Line: line} }
	inst := func(cum int64, frames ...disasm.Frame) CostedInst {
		return CostedInst{Inst: disasm.Inst{Frames: frames}, Cum: cum}
	}
	d := &Disassembly{Functions: []DisassembledFunc{{Cum: 50, Insts: []CostedInst{
		inst(0, frame("main.double", 21), frame("main.pad", 12)),
		inst(50, frame("main.double", 21), frame("main.pad", 12)),
		inst(50, frame("main.double", 21), frame("main.pad", 12)),
		inst(50, frame("main.pad", 12)),
	}}}}
	if err := AddInstRemarks(t.Context(), src, d, RemarkOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]Remark{nil, {{21, "escape", want[2].Text}}, nil, nil} {
		if got := d.Functions[0].Insts[i].Remarks; !slices.Equal(got, want) {
			t.Errorf("instruction %d: %v, want %v", i, got, want)
		}
	}

	// Without its build, the code is not known well enough to ask without being told to.
	src.KnownBuild = false
	if err := AddRemarks(t.Context(), src, l, RemarkOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := l.Functions[0].Remarks; !slices.Equal(got, want[1:2]) {
		t.Errorf("without a known build: %v", got)
	}
}

// remarkedProfile has costs on lines 12, 15 and 16 of the program, on 12 in an inlined call.
func remarkedProfile(t *testing.T, file string) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	pad := func(line int64) profile.FrameSpec {
		return profile.FrameSpec{Function: "main.pad", File: file, Line: line, StartLine: 10}
	}
	inlined := profile.FrameSpec{Function: "main.double", File: file, Line: 21, Inlined: true}
	b.Add([]profile.FrameSpec{inlined, pad(12)}, 50)
	b.Add([]profile.FrameSpec{pad(15)}, 30)
	b.Add([]profile.FrameSpec{pad(16)}, 20)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
