//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/recording"
)

// TestInterruptedGoIsNoOtherModule: when an interrupt ends the go command before hone knows of it,
// the error is about the signal, not about the module.
func TestInterruptedGoIsNoOtherModule(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bin/go":         "#!/bin/sh\ncase \"$(pwd)\" in */here) kill -INT $$ ;; *) echo \"$(pwd)/go.mod\" ;; esac\n",
		"module/go.mod":  "module example.com/app\n",
		"here/empty.txt": "",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	m := recording.Manifest{Target: recording.Target{Dir: filepath.Join(dir, "module")}}
	err := isHere(t.Context(), Env{Dir: filepath.Join(dir, "here")}, m)
	if err == nil || !strings.Contains(err.Error(), "signal: interrupt") || strings.Contains(err.Error(), "cd ") {
		t.Errorf("%v, want the signal", err)
	}
	if err := isHere(t.Context(), Env{Dir: filepath.Join(dir, "module")}, m); err != nil {
		t.Errorf("in the module itself: %v", err)
	}
}
