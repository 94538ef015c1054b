package capture

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-100 * time.Hour)
	for _, name := range []string{"capture-old", "build-old", "facts", "capture-new"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o755); err != nil {
			t.Fatal(err)
		}
		if name != "capture-new" {
			if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	sweep(dir, time.Now().Add(-leftoverAge))
	if d := cmp.Diff([]string{"capture-new", "facts"}, names(t, dir)); d != "" {
		t.Errorf("left (-want +got):\n%s", d)
	}
}
