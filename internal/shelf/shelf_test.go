package shelf

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// put writes a recording of a size, made the given time before noon.
func put(t *testing.T, s Shelf, name string, bytes int, age time.Duration) {
	t.Helper()
	path := filepath.Join(s.Dir, name)
	if err := os.WriteFile(path, make([]byte, bytes), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, noon.Add(-age), noon.Add(-age)); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, s Shelf) []string {
	t.Helper()
	all, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range all {
		out = append(out, e.Name)
	}
	return out
}

// TestReserveIsExclusive: a hundred recordings that start in the same second have a hundred names.
func TestReserveIsExclusive(t *testing.T) {
	s := Shelf{filepath.Join(t.TempDir(), "recordings")}
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			path, err := s.Reserve("20261123-120000-server.hone")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if seen[path] {
				t.Errorf("%s was given twice", path)
			}
			seen[path] = true
		})
	}
	wg.Wait()
	if got := names(t, s); len(got) != 0 {
		t.Errorf("reserved names are no recordings: %q", got)
	}
}

func TestPrune(t *testing.T) {
	const day = 24 * time.Hour
	fill := func(t *testing.T) Shelf {
		s := Shelf{t.TempDir()}
		for i, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} { // a is the latest
			put(t, s, name+".hone", 100, time.Duration(i)*day)
		}
		return s
	}
	for _, c := range []struct {
		name   string
		limits Limits
		label  string // of h, the oldest
		left   string
	}{
		{"no limit", Limits{}, "", "abcdefgh"},
		{"age", Limits{Age: 5*day + time.Hour}, "", "abcdef"},
		{"size", Limits{Bytes: 650}, "", "abcdef"},
		{"the newest stay", Limits{Bytes: 1, Age: time.Second}, "", "abcde"},
		{"labels stay", Limits{Bytes: 1, Age: time.Second}, "baseline", "abcdeh"},
		{"labels do not count", Limits{Bytes: 700}, "baseline", "abcdefgh"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := fill(t)
			if _, err := s.Label("h", c.label); err != nil {
				t.Fatal(err)
			}
			removed, err := s.Prune(noon, c.limits)
			if err != nil {
				t.Fatal(err)
			}
			left := strings.ReplaceAll(strings.Join(names(t, s), ""), ".hone", "")
			if left != c.left || len(removed)+len(left) != 8 {
				t.Errorf("%s is left, %d removed; want %s", left, len(removed), c.left)
			}
		})
	}
}

func TestPruneDropsAbandonedNames(t *testing.T) {
	s := Shelf{t.TempDir()}
	put(t, s, "old.hone", 0, 3*24*time.Hour)
	put(t, s, "now.hone", 0, time.Minute)
	if _, err := s.Prune(noon, DefaultLimits); err != nil {
		t.Fatal(err)
	}
	files, _ := os.ReadDir(s.Dir)
	if len(files) != 1 || files[0].Name() != "now.hone" {
		t.Errorf("left: %v", files)
	}
}

func TestLabels(t *testing.T) {
	s := Shelf{t.TempDir()}
	put(t, s, "one.hone", 1, time.Hour)
	put(t, s, "two.hone", 1, time.Minute)
	if _, err := s.Label("one.hone", "baseline"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"baseline", "one", "one.hone"} {
		if e, ok := s.Find(name); !ok || e.Name != "one.hone" || e.Label != "baseline" {
			t.Errorf("%s: %+v, %v", name, e, ok)
		}
	}
	for _, name := range []string{"", "three", "../one", "base"} {
		if e, ok := s.Find(name); ok {
			t.Errorf("%s finds %s", name, e.Name)
		}
	}
	for label, want := range map[string]string{
		"baseline": "one.hone already has", "two words": "one word", "a/b": "one word", "-x": "looks like a flag",
		"x.hone": "looks like a flag", strings.Repeat("x", 65): "at most 64", "a\x1b[2J": "one word",
	} {
		if _, err := s.Label("two", label); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("label %q: %v, want %q", label, err, want)
		}
	}
	if _, err := s.Label("three", "x"); err == nil || !strings.Contains(err.Error(), "hone recordings") {
		t.Errorf("%v", err)
	}
	if e, err := s.Remove("baseline"); err != nil || e.Name != "one.hone" {
		t.Errorf("%+v, %v", e, err)
	}
	if got := names(t, s); !slices.Equal(got, []string{"two.hone"}) {
		t.Errorf("%q", got)
	}
	if files, _ := os.ReadDir(s.Dir); len(files) != 1 {
		t.Errorf("the label is left: %v", files)
	}
}

func TestListOfNothing(t *testing.T) {
	if got := names(t, Shelf{filepath.Join(t.TempDir(), "not there")}); len(got) != 0 {
		t.Errorf("%q", got)
	}
}
