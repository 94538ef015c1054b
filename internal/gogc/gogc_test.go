package gogc_test

import (
	"testing"

	"github.com/hone-go/hone/internal/gogc"
)

const mib = 1 << 20

func TestLarger(t *testing.T) {
	for _, c := range []struct {
		name string
		heap gogc.Heap
		want int
	}{
		{"plenty", gogc.Heap{100, 100 * mib, 250 * mib, 36 << 30}, 400},
		{"some", gogc.Heap{100, 100 * mib, 250 * mib, 1000 * mib}, 300},
		{"little", gogc.Heap{100, 100 * mib, 250 * mib, 800 * mib}, 200},
		{"none", gogc.Heap{100, 100 * mib, 250 * mib, 600 * mib}, 0},
		{"high already", gogc.Heap{400, 100 * mib, 250 * mib, 36 << 30}, 0},
		{"off", gogc.Heap{-1, 100 * mib, 250 * mib, 36 << 30}, 0},
		{"live heap not known", gogc.Heap{100, 0, 250 * mib, 36 << 30}, 0},
		{"use not known", gogc.Heap{100, 100 * mib, 0, 36 << 30}, 0},
		{"memory not known", gogc.Heap{100, 100 * mib, 250 * mib, 0}, 0},
	} {
		if got := c.heap.Larger(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPrice(t *testing.T) {
	if got := (gogc.Heap{GOGC: 100, Live: 100 * mib}).Price(400); got != 300*mib {
		t.Errorf("%.0f MiB on top of 100 live, want 300", got/mib)
	}
	if got := (gogc.Heap{GOGC: 100, Live: 1 * mib}).Price(400); got != 12*mib {
		t.Errorf("%.0f MiB on top of a heap of the least size, want 12", got/mib)
	}
}

func TestGuard(t *testing.T) {
	for _, c := range []struct {
		memory float64
		want   int64
	}{{36 << 30, 27000 * mib}, {800 * mib, 600 * mib}, {0.5 * mib, 0}} {
		if got := (gogc.Heap{Memory: c.memory}).Guard(); got != c.want {
			t.Errorf("memory of %.0f MiB: %d MiB, want %d", c.memory/mib, got/mib, c.want/mib)
		}
	}
}

func TestTiny(t *testing.T) {
	for _, c := range []struct {
		gogc         int
		goal, cycles float64
		want         bool
	}{
		{100, 4 * mib, 50, true},
		{100, 7 * mib, 50, false},
		{400, 16 * mib, 50, true},
		{100, 4 * mib, 5, false},
		{-1, 4 * mib, 50, false},
		{100, 0, 50, false},
	} {
		if got := gogc.Tiny(c.gogc, c.goal, c.cycles); got != c.want {
			t.Errorf("GOGC=%d, a goal of %.0f MiB, %.0f cycles a second: %t", c.gogc, c.goal/mib, c.cycles, got)
		}
	}
}
