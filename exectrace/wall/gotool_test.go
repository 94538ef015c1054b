package wall_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/internal/live"
	"github.com/hone-go/hone/profile"
)

// TestSystemCallsAreThoseOfGoToolTrace compares the count and the time of system calls with go tool
// trace -pprof=syscall, which omits those that are open at the end: nothing else may differ.
func TestSystemCallsAreThoseOfGoToolTrace(t *testing.T) {
	live.Only(t)
	dir := t.TempDir()
	data := tracetest.Record(t, func() {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for range 200 {
					name := filepath.Join(dir, string(rune('a'+i)))
					if err := os.WriteFile(name, []byte("some words"), 0o600); err != nil {
						t.Error(err)
					}
					if _, err := os.ReadFile(name); err != nil {
						t.Error(err)
					}
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
	})
	file := filepath.Join(dir, "trace.out")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "tool", "trace", "-pprof=syscall", file).Output()
	if err != nil {
		t.Skipf("go tool trace: %v", err)
	}
	theirs, err := profile.Decode(bytes.NewReader(out), 0)
	if err != nil {
		t.Fatal(err)
	}

	var f wall.Fold
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, &f); err != nil {
		t.Fatal(err)
	}
	ours := f.Syscalls()
	var open int64
	for _, l := range ours.Lines {
		open += l.Open
	}
	if open > 0 {
		t.Skipf("%d system calls are open at the end: their time is in hone's sum only", open)
	}
	if ours.Count < 800 || ours.Count != theirs.Total(0) {
		t.Errorf("%d system calls, go tool trace has %d", ours.Count, theirs.Total(0))
	}
	p, err := f.Profile(wall.Calls)
	if err != nil {
		t.Fatal(err)
	}
	if p.Total(1) != theirs.Total(1) {
		t.Errorf("%d ns in system calls, go tool trace has %d", p.Total(1), theirs.Total(1))
	}
}
