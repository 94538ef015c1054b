package parallelism

import (
	"math"
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// cycles feeds collections, each after as much time without one. In them a running goroutine does its
// work so many times slower.
func cycles(n int, slower float64, rises, assist bool) *marking {
	var m marking
	now, heap := int64(0), uint64(1<<20)
	see := func(k exectrace.Kind) { m.see(&exectrace.Event{Kind: k, Time: now, Value: heap}) }
	work := func(steps int, each int64) {
		for range steps {
			now += each
			m.pass(m.works(1), each)
			heap += 8192
			if rises {
				see(exectrace.HeapAlloc)
			}
			m.now[m.index()].calls++
		}
	}
	see(exectrace.HeapAlloc)
	for range n {
		work(20, 1000)
		see(exectrace.GCBegin)
		if assist { // time of its own, and none of the program's
			m.assisting = 1
			now += 50_000
			m.pass(m.works(1), 50_000)
			m.assisting = 0
		}
		work(20, int64(1000*slower))
		see(exectrace.GCEnd)
		heap = 1 << 20
		see(exectrace.HeapAlloc)
	}
	return &m
}

func TestMarkingSlowsDown(t *testing.T) {
	for _, tc := range []struct {
		name          string
		cycles        int
		slower        float64
		rises, assist bool
		want, lost    float64 // of 1: the part of running time while marking
	}{
		{"half as fast", 48, 2, true, false, 2, 0.5},
		{"assists are not the program's running", 48, 2, true, true, 2, 0.5},
		{"by system calls alone", 48, 1.25, false, false, 1.25, 0.2},
		{"not slower", 48, 1, true, false, 1, 0},
		{"faster is no gain", 48, 0.5, true, false, 0.5, 0},
		{"too few cycles", 10, 2, true, false, math.NaN(), 0},
	} {
		r := cycles(tc.cycles, tc.slower, tc.rises, tc.assist).result(1e9)
		if math.IsNaN(tc.want) != !r.Slower.Known() || r.Slower.Known() && math.Abs(r.Slower.Value-tc.want) > 1e-9 {
			t.Errorf("%s: %v slower, want %v", tc.name, r.Slower, tc.want)
		}
		if got := r.Lost.Value / r.Running; math.Abs(got-tc.lost) > 1e-9 {
			t.Errorf("%s: lost %.3f of the running time, want %.3f", tc.name, got, tc.lost)
		}
		if want := 20 * 1000 * tc.slower * float64(tc.cycles) / 1e9; !tc.assist && math.Abs(r.Share-want) > 1e-6 {
			t.Errorf("%s: %.6f of the time, want %.6f", tc.name, r.Share, want)
		}
	}
}

func TestMarkingForgetsAtGaps(t *testing.T) {
	m := cycles(48, 2, true, false)
	m.see(&exectrace.Event{Kind: exectrace.GCBegin, Time: 1e9})
	m.forget()
	m.see(&exectrace.Event{Kind: exectrace.GCEnd, Time: 2e9})
	if m.cycles != 48 || m.on {
		t.Errorf("%d cycles, on %t", m.cycles, m.on)
	}
}
