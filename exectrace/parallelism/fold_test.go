package parallelism_test

import (
	"bytes"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/internal/tracetext"
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

// assembled folds a trace on two processors, with threads that each have one processor from the
// start. Times are in nanoseconds; text starts at 100.
func assembled(t *testing.T, text string) *parallelism.Result {
	t.Helper()
	data, err := tracetext.Assemble("trace 26\ngeneration 1\n" + text)
	if err != nil {
		t.Fatal(err)
	}
	var fold parallelism.Fold
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, &fold); err != nil {
		t.Fatal(err)
	}
	return fold.Result()
}

// TestSerialTimeGoesToItsLine: one goroutine computes for 100 ms, yields, and waits for 20 ms.
func TestSerialTimeGoesToItsLine(t *testing.T) {
	r := assembled(t, `thread 1 time=100
ProcStatus p=0 pstatus=1
ProcStatus p=1 pstatus=2
GoStatus g=1 m=1 gstatus=2
ProcsChange procs=2
GoStop dt=100000000 reason_string="runtime.Gosched" stack="runtime.Gosched proc.go:9;main.spin a.go:5;main.main a.go:9"
GoStart g=1 g_seq=1
GoBlock reason_string="sleep" stack="time.Sleep time.go:9;main.main a.go:10"
GoUnblock dt=20000000 g=1 g_seq=2
`)
	if r.Procs != 2 || math.Abs(r.Serial.Seconds-0.1) > 1e-6 || math.Abs(r.Serial.Share-0.1/0.12) > 1e-6 {
		t.Fatalf("100 of 120 ms are serial, on two processors: %d processors, serial %.6f s, %.6f of the time", r.Procs, r.Serial.Seconds, r.Serial.Share)
	}
	if len(r.Serial.Lines) == 0 || r.Serial.Lines[0].Line.Function != "main.spin" || r.Serial.Lines[0].Line.Line != 5 || math.Abs(r.Serial.Lines[0].Seconds-0.1) > 1e-6 {
		t.Errorf("lines: %+v, want main.spin:5 first, with 100 ms", r.Serial.Lines)
	}
}

// two is the start of a trace in which two goroutines run from 100 on. The events of the first
// follow it.
const two = `thread 2 time=100
ProcStatus p=1 pstatus=1
GoStatus g=2 m=2 gstatus=2
GoBlock dt=100000000 reason_string="sync" stack="main.other a.go:7"
thread 1 time=100
ProcStatus p=0 pstatus=1
GoStatus g=1 m=1 gstatus=2
ProcsChange procs=2
`

func TestParallelIsNotSerial(t *testing.T) {
	r := assembled(t, two+`GoBlock dt=100000000 reason_string="sync" stack="main.one a.go:5"
`)
	if r.Serial.Seconds > 1e-6 || math.Abs(r.MeanRunning-2) > 1e-6 {
		t.Errorf("two goroutines that compute: serial %.6f s, %.6f running", r.Serial.Seconds, r.MeanRunning)
	}
}

// TestTheLastShareIsSerial asserts that on two processors, work of one goroutine after the other
// has finished is serial time.
func TestTheLastShareIsSerial(t *testing.T) {
	r := assembled(t, two+`GoBlock dt=150000000 reason_string="sync" stack="main.one a.go:5"
`)
	if math.Abs(r.Serial.Seconds-0.05) > 1e-6 || len(r.Serial.Lines) != 1 || r.Serial.Lines[0].Line.Line != 5 {
		t.Errorf("the last share ran alone for %.6f s, want 0.05: %+v", r.Serial.Seconds, r.Serial.Lines)
	}
}

// TestTimesSum asserts that the times with k goroutines running add up to the length of the trace,
// and that no more processors were busy than exist.
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
