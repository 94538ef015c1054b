package gc_test

import (
	"bytes"
	"math"
	"runtime"
	"testing"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/exectrace/gc"
	"github.com/hone-go/hone/exectrace/internal/tracetest"
	"github.com/hone-go/hone/exectrace/internal/tracetext"
)

func run(t *testing.T, f func()) *gc.Result {
	t.Helper()
	runtime.GC()
	var fold gc.Fold
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(tracetest.Record(t, f)), exectrace.Options{}, &fold); err != nil {
		t.Fatal(err)
	}
	return fold.Result()
}

// TestCyclesAreThoseOfTheRuntime compares the number of cycles with runtime.MemStats.
func TestCyclesAreThoseOfTheRuntime(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := run(t, func() {
		for range 3 {
			runtime.GC()
		}
	})
	runtime.ReadMemStats(&after)
	// One was forced before the trace started; another may run at either end.
	if want := int64(after.NumGC-before.NumGC) - 1; r.Cycles < 3 || r.Cycles > want {
		t.Errorf("%d cycles, the runtime counts %d", r.Cycles, want)
	}
	if len(r.List) != int(r.Cycles) {
		t.Errorf("%d cycles are listed, of %d", len(r.List), r.Cycles)
	}
	reasons := map[string]int64{}
	for _, s := range r.Stops {
		reasons[s.Reason] = s.Count
	}
	// The first cycle may have started before the trace, with its stop for sweep termination.
	if reasons["GC mark termination"] < r.Cycles || reasons["GC sweep termination"] < r.Cycles-1 {
		t.Errorf("stops %v, want two for each of %d cycles", reasons, r.Cycles)
	}
}

// TestHeapSeesAllocation compares the allocation rate of the heap curve with the bytes that were
// allocated.
func TestHeapSeesAllocation(t *testing.T) {
	const size, n = 1 << 20, 64
	r := run(t, func() {
		for range n {
			sink = make([]byte, size)
		}
	})
	if r.Heap == nil {
		t.Fatal("no heap counter")
	}
	if r.Heap.High-r.Heap.Low < size {
		t.Errorf("heap between %d and %d, with %d MiB allocated", r.Heap.Low, r.Heap.High, n)
	}
	if grown := r.Heap.Rate * r.Length; grown < size || grown > 3*size*n {
		t.Errorf("%.0f bytes allocated by the counter, %d by the program", grown, size*n)
	}
}

// TestUtilizationIsLowInAStop asserts that a window as short as a stop of the world has no
// utilization.
func TestUtilizationIsLowInAStop(t *testing.T) {
	r := run(t, func() {
		for range 5 {
			runtime.GC()
		}
	})
	for i, w := range r.Utilization {
		if w.Least < 0 || w.Least > 1 {
			t.Errorf("window of %v s: %v", w.Length, w.Least)
		}
		if i > 0 && w.Least < r.Utilization[i-1].Least-1e-9 && w.Length == 2*r.Utilization[i-1].Length {
			t.Errorf("window of %v s has less than its halves: %v, %v", w.Length, w.Least, r.Utilization[i-1].Least)
		}
	}
}

var sink []byte

// TestAssistsCountWhileTheyRun follows an assist that was open when the trace started, of a
// goroutine that waits: it runs for 100 µs of 10 ms.
func TestAssistsCountWhileTheyRun(t *testing.T) {
	data, err := tracetext.Assemble(`trace 26
generation 1
thread 1 time=100
ProcStatus p=0 pstatus=1
GoStatus g=1 m=1 gstatus=2
ProcsChange procs=2
GoStatus g=2 m=18446744073709551615 gstatus=4
GCMarkAssistActive g=2
GoUnblock dt=1000000 g=2 g_seq=1
GoBlock reason_string="sync"
GoStart dt=1000000 g=2 g_seq=2
GoBlock dt=40000 reason_string="sync"
GoUnblock dt=1000000 g=2 g_seq=3
GoStart dt=1000000 g=2 g_seq=4
GCMarkAssistEnd dt=60000
GoBlock dt=6000000 reason_string="sync"
`)
	if err != nil {
		t.Fatal(err)
	}
	var fold gc.Fold
	if _, err := exectrace.Read(t.Context(), bytes.NewReader(data), exectrace.Options{}, &fold); err != nil {
		t.Fatal(err)
	}
	r := fold.Result()
	if a := r.Assists; a.Count != 1 || a.Running != 100e-6 || a.Seconds < 4e-3 || a.Seconds > 5e-3 {
		t.Errorf("assists: %+v, want one of some 4.1 ms that ran for 100 µs", a)
	}
	for _, w := range r.Utilization {
		want := 1 - 0.5*min(100e-6, w.Length)/w.Length // two processors
		if w.Length == 100e-6 {
			want = 1 - 0.5*60e-6/w.Length
		}
		if math.Abs(w.Least-want) > 1e-6 && (w.Length <= 100e-6 || w.Length >= 5e-3) {
			t.Errorf("a window of %v s has at least %v, want %v", w.Length, w.Least, want)
		}
	}
}
