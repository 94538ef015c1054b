package timeline_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/timeline"
)

// record traces goroutines that take turns at a lock.
func record(t *testing.T) []byte {
	t.Helper()
	return tracetest.Record(t, func() {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				for range 200 {
					mu.Lock()
					time.Sleep(10 * time.Microsecond)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	})
}

func gather(t *testing.T, data []byte, opt timeline.Options) *timeline.Result {
	t.Helper()
	f := timeline.New(opt)
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, f); err != nil {
		t.Fatal(err)
	}
	return f.Result()
}

// TestRowsHaveNoHoles asserts that a goroutine's spans follow each other without gaps or overlaps
// within the window, whether they were merged or not.
func TestRowsHaveNoHoles(t *testing.T) {
	data := record(t)
	whole := gather(t, data, timeline.Options{})
	for name, opt := range map[string]timeline.Options{
		"whole":  {},
		"melted": {MaxSpans: 100},
		"window": {From: whole.To / 4, To: whole.To / 2},
	} {
		r := gather(t, data, opt)
		var spans int
		for _, g := range r.Goroutines {
			spans += len(g.Spans)
			for i, s := range g.Spans {
				if s.From < r.From || s.To > r.To || s.To < s.From {
					t.Fatalf("%s: goroutine %d: span %d to %d in a window %d to %d", name, g.ID, s.From, s.To, r.From, r.To)
				}
				if i > 0 && s.From != g.Spans[i-1].To {
					t.Fatalf("%s: goroutine %d: %d after %d", name, g.ID, s.From, g.Spans[i-1].To)
				}
			}
		}
		if opt.MaxSpans > 0 && (spans > opt.MaxSpans || r.Grain == 0) {
			t.Errorf("%d spans with at most %d asked for, grain %d", spans, opt.MaxSpans, r.Grain)
		}
		if opt.MaxSpans == 0 && r.Grain != 0 {
			t.Errorf("%s: melted though there was room", name)
		}
		if len(r.Wakes) == 0 && name != "window" {
			t.Errorf("%s: nobody woke anybody", name)
		}
	}
}

// TestOnlySomeGoroutines asserts that only the chosen goroutines are returned.
func TestOnlySomeGoroutines(t *testing.T) {
	data := record(t)
	all := gather(t, data, timeline.Options{})
	id := all.Goroutines[len(all.Goroutines)-1].ID
	r := gather(t, data, timeline.Options{Goroutines: []uint64{id}})
	if len(r.Goroutines) != 1 || r.Goroutines[0].ID != id {
		t.Errorf("%d goroutines, want %d alone", len(r.Goroutines), id)
	}
}
