package session

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// TestRecordingDoesNotChooseWhatRuns: the build flags of a recording from elsewhere are not used.
func TestRecordingDoesNotChooseWhatRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script")
	}
	dir := t.TempDir()
	write(t, dir, "go.mod", []byte("module example.com/small\n\ngo 1.23\n"))
	source := write(t, dir, "main.go", []byte("package main\n\nfunc main() {}\n"))
	ran := filepath.Join(dir, "ran")
	script := write(t, dir, "tool.sh", []byte("#!/bin/sh\ntouch "+ran+"\nexec \"$@\"\n"))
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	var cpu bytes.Buffer
	if err := tinyProfile(t, source).Encode(&cpu); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.hone")
	w, err := recording.Create(path, recording.Manifest{Target: recording.Target{
		Kind: "service", ImportPath: "example.com/small", Dir: dir, BuildFlags: []string{"-toolexec", script, "-race=false"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(recording.PartCPU, recording.PhaseCPU, cpu.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	res, err := Diagnose(context.Background(), Config{CacheDir: t.TempDir()}, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program that the recording names was run")
	}
	if !slices.ContainsFunc(res.Report.Notes, func(n string) bool { return strings.Contains(n, "-toolexec") }) {
		t.Errorf("it is not reported: %q", res.Report.Notes)
	}
}

// tinyProfile has a cost in main of a source file.
func tinyProfile(t *testing.T, file string) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add([]profile.FrameSpec{{Function: "main.main", File: file, Line: 3, StartLine: 3}}, 100, 1e9)
	p, err := b.Profile()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
