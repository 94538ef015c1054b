package parallelism_test

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/parallelism"
)

// run traces f on two processors.
func run(t *testing.T, f func()) *parallelism.Result {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var fold parallelism.Fold
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(tracetest.Record(t, f)), exectrace.Options{}, &fold); err != nil {
		t.Fatal(err)
	}
	return fold.Result()
}

//go:noinline
func spin(d time.Duration) (n int) {
	for start := time.Now(); time.Since(start) < d; n++ {
	}
	return n
}

func TestSerialTimeGoesToItsLine(t *testing.T) {
	r := run(t, func() { spin(100 * time.Millisecond) })
	if r.Procs != 2 || r.Serial.Share < 0.7 {
		t.Fatalf("one goroutine on two processors: %d processors, serial %.2f of the time", r.Procs, r.Serial.Share)
	}
	if len(r.Serial.Lines) == 0 || !strings.HasSuffix(r.Serial.Lines[0].Line.Function, "parallelism_test.spin") {
		t.Errorf("lines: %+v, want spin first", r.Serial.Lines)
	}
}

func TestParallelIsNotSerial(t *testing.T) {
	var r *parallelism.Result
	for range 5 { // on a busy machine the second may come late
		r = run(t, func() {
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() { spin(100 * time.Millisecond) })
			}
			wg.Wait()
		})
		if r.Serial.Share <= 0.3 && r.MeanRunning >= 1.5 {
			return
		}
	}
	t.Errorf("two goroutines that spin: serial %.2f of the time, %.2f running", r.Serial.Share, r.MeanRunning)
}

// TestTheLastShareIsSerial asserts that work that is left to one goroutine after the others are
// done is serial time, on two processors.
func TestTheLastShareIsSerial(t *testing.T) {
	r := run(t, func() {
		var wg sync.WaitGroup
		for _, d := range []time.Duration{50, 50, 50, 150} {
			wg.Go(func() { spin(d * time.Millisecond) })
		}
		wg.Wait()
	})
	if r.Serial.Seconds < 0.01 {
		t.Errorf("the last share ran alone for %.3f s, want some 0.05, less on a busy machine", r.Serial.Seconds)
	}
}

// TestTimesSum asserts that the time with k running is the trace's length in all, and that
// no more processors were busy than there are.
func TestTimesSum(t *testing.T) {
	r := run(t, func() {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { spin(time.Millisecond) })
		}
		wg.Wait()
	})
	for name, by := range map[string][]float64{"running": r.Running, "busy": r.Busy} {
		var sum float64
		for _, s := range by {
			sum += s
		}
		if math.Abs(sum-r.Length) > 1e-6 {
			t.Errorf("%s: %.6f s in all, the trace is %.6f s", name, sum, r.Length)
		}
		if len(by) > r.Procs+1 {
			t.Errorf("%s: up to %d at a time on %d processors", name, len(by)-1, r.Procs)
		}
	}
	if r.MeanBusy > float64(r.Procs) {
		t.Errorf("%.2f busy of %d", r.MeanBusy, r.Procs)
	}
}
