package source

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

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

func TestErrorsNameTheSource(t *testing.T) {
	c := Opener{CacheDir: t.TempDir()}
	bad := filepath.Join(t.TempDir(), "bad.pprof")
	if err := os.WriteFile(bad, []byte("\x1f\x8bbroken"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, arg := range []string{bad, "/nowhere/x.pprof", "/nowhere/x.hone", "http://127.0.0.1:1/debug/pprof/heap"} {
		_, err := with(c, strings.NewReader(""), Options{}).Profile(context.Background(), arg)
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(arg, "http://")) {
			t.Errorf("Profile(%q): %v", arg, err)
		}
	}
	_, err := with(c, strings.NewReader("no profile"), Options{}).Profile(context.Background(), "-")
	if err == nil || !regexp.MustCompile("standard input").MatchString(err.Error()) {
		t.Errorf("stdin: %v", err)
	}
	_, err = with(c, strings.NewReader("go 1.26 trace\x00\x00\x00"), Options{}).Profile(context.Background(), "-")
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
