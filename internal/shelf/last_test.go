package shelf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPathLooksInTheCacheForABareName(t *testing.T) {
	s := In(t.TempDir())
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cached := filepath.Join(s.Dir, "x.hone")
	if err := os.WriteFile(cached, []byte("recording"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Label("x", "baseline"); err != nil {
		t.Fatal(err)
	}
	if got := s.Path("baseline"); got != cached {
		t.Errorf("Path of a label = %q, want %q", got, cached)
	}
	if got := s.Path("x.hone"); got != cached {
		t.Errorf("Path = %q, want %q", got, cached)
	}
	if got := s.Path("./x.hone"); got != "./x.hone" {
		t.Errorf("a path means itself: %q", got)
	}
	if got := s.ShortName(cached); got != "x.hone" {
		t.Errorf("ShortName = %q", got)
	}
}

func TestLastWithoutARecordingSaysWhatToDo(t *testing.T) {
	_, err := In(t.TempDir()).Last()
	if err == nil || !strings.Contains(err.Error(), "hone record") {
		t.Errorf("error %v", err)
	}
}
