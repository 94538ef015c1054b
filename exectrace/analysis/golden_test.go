package analysis_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/requests"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRecordedTraceGivesTheSameResults compares all results about a recorded trace, to the
// nanosecond: making the analyses faster must not change them.
func TestRecordedTraceGivesTheSameResults(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "testdata", "go1.25.1.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set := analysis.New(requests.Options{})
	read, err := exectrace.Read(t.Context(), f, exectrace.Options{}, set.Folds()...)
	if err != nil {
		t.Fatal(err)
	}
	set.Done(read)
	annotations := set.Annotations.Result()
	annotations.Logs = annotations.Logs[:10]
	for name, result := range map[string]any{
		"goroutines":  set.Wall.Goroutines(),
		"blocking":    set.Wall.Blocking(),
		"sched":       set.Wall.Sched(),
		"syscalls":    set.Wall.Syscalls(),
		"parallelism": set.Parallelism.Result(),
		"gc":          set.GC.Result(),
		"annotations": annotations,
		"requests":    set.Requests.Result().All,
	} {
		got, err := json.MarshalIndent(result, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".json.golden")
		if *update {
			if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(want)) {
			t.Errorf("%s is not what it was in %s (-update rewrites it):\n%s", name, file, got)
		}
	}
}
