package analysis_test

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/requests"
)

// summarize traces f on two processors, and returns the summary.
func summarize(t *testing.T, f func()) *analysis.Summary {
	t.Helper()
	return summary(t, bytes.NewReader(onTwo(t, f)))
}

// onTwo traces f on two processors.
func onTwo(t *testing.T, f func()) []byte {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	return tracetest.Record(t, f)
}

// summary summarizes a trace.
func summary(t *testing.T, r io.Reader) *analysis.Summary {
	t.Helper()
	set := analysis.New(requests.Options{})
	tr, err := exectrace.Read(t.Context(), r, exectrace.Options{}, set.Folds()...)
	if err != nil {
		t.Fatal(err)
	}
	set.Done(tr)
	return set.Summary()
}

//go:noinline
func spin(d time.Duration) (n int) {
	for start := time.Now(); time.Since(start) < d; n++ {
	}
	return n
}

// workers runs f on several goroutines.
func workers(n int, f func()) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(f)
	}
	wg.Wait()
}

// TestSummaryAddsUp compares the figures with each other.
func TestSummaryAddsUp(t *testing.T) {
	s := summarize(t, func() { workers(4, func() { spin(10 * time.Millisecond) }) })
	if s.Procs != 2 || s.MeanBusy > 2 || s.MeanRunning > s.MeanBusy+0.2 || s.Length <= 0 || s.Events == 0 {
		t.Errorf("%+v", s)
	}
	var running float64
	for _, p := range s.Total {
		if p.What == "running" {
			running += p.Seconds
		}
	}
	if most := s.Length * 2 * 1.01; running > most {
		t.Errorf("goroutines ran %.3f s, two processors have %.3f s", running, most)
	}
	b, err := json.Marshal(s)
	if err != nil || !bytes.Contains(b, []byte(`"schema":"hone/trace/summary/v1"`)) {
		t.Errorf("%v: %.100s", err, b)
	}
}

// TestAssistsAgree compares the time of assists by goroutine with that by collection, which are
// computed separately. Many goroutines allocate, so most assists wait, too.
func TestAssistsAgree(t *testing.T) {
	s := summarize(t, func() {
		workers(32, func() {
			var keep [64][]*int // of pointers, which take time to mark
			for i := range 2000 {
				keep[i%len(keep)] = make([]*int, 4096)
			}
			runtime.KeepAlive(keep)
		})
	})
	wall := map[string]float64{}
	for _, p := range s.Total {
		wall[p.What] += p.Seconds
	}
	// A goroutine that sweeps during an assist counts as sweeping.
	swept := s.Assisted - wall["gc assist"]
	if s.Assisted == 0 || swept < -1e-9 || swept > wall["gc sweep"]+1e-9 {
		t.Errorf("assists ran for %v s by collection, %v s by goroutine, with %v s of sweeping", s.Assisted, wall["gc assist"], wall["gc sweep"])
	}
	if s.Assist < s.Assisted {
		t.Errorf("assists took %v s, and ran for %v s of them", s.Assist, s.Assisted)
	}
}
