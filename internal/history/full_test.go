package history

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestFull: when a database can no longer grow, the error says what to do, and every run that was
// acknowledged is there.
func TestFull(t *testing.T) {
	t.Parallel() // it mostly waits
	s := open(t, filepath.Join(t.TempDir(), "h.db"))
	s.db.SetMaxOpenConns(1) // the limit is per connection
	if _, err := s.db.ExecContext(t.Context(), "PRAGMA max_page_count=64"); err != nil {
		t.Fatal(err)
	}
	var kept []string
	var full error
	for i := 0; i < 500 && full == nil; i++ {
		var samples []Sample
		for j := range 20 {
			samples = append(samples, sample(fmt.Sprintf("Benchmark%d", j), "ns/op", float64(i)+0.1, float64(i)+0.7))
		}
		id, err := s.Add(t.Context(), Run{Commit: fmt.Sprintf("%040d", i), Go: "go1.26", Machine: "m"}, samples, nil)
		if err != nil {
			full = err
			continue
		}
		kept = append(kept, id)
	}
	if full == nil || len(kept) == 0 {
		t.Fatalf("%d runs were added, then: %v", len(kept), full)
	}
	if !strings.Contains(full.Error(), "-db") || !strings.Contains(full.Error(), "is kept") {
		t.Errorf("the error does not say what to do: %v", full)
	}
	for _, id := range kept {
		if _, err := s.Find(t.Context(), id); err != nil {
			t.Errorf("an acknowledged run is lost: %v", err)
		}
	}
	runs, err := s.Runs(t.Context(), 0)
	if err != nil || len(runs) != len(kept) {
		t.Errorf("%d runs of %d: %v", len(runs), len(kept), err)
	}
}
