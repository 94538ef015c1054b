package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestServerGC checks the bounds of the collector's percentage, and that it decreases as the heap
// grows.
func TestServerGC(t *testing.T) {
	last := mostServerGC
	for _, live := range []uint64{0, 4 << 20, 48 << 20, 96 << 20, 300 << 20, 1 << 30, 1 << 40} {
		got := serverGC(live)
		if got < leastServerGC || got > last {
			t.Errorf("serverGC(%d) = %d, want at least %d and at most %d", live, got, leastServerGC, last)
		}
		last = got
	}
	if got := serverGC(96 << 20); got != 50 {
		t.Errorf("serverGC(96 MiB) = %d, want 50", got)
	}
}

// TestAdaptCollector: after stop, the percentage is the previous one again, even after later
// collections.
func TestAdaptCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(137))
	stop := adaptCollector()
	runtime.GC()
	stop()
	runtime.GC()
	if got := debug.SetGCPercent(137); got != 137 {
		t.Errorf("the percentage is %d after stop, want 137", got)
	}
}
