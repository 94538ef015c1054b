package parallelism

import (
	"math"
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// cycles feeds collections, each after as much time without one. While they run, a running
// goroutine works slower by the given factor.
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
		if assist { // its own time, not the program's
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
		want, lost    float64 // part of the running time while marking, 0 to 1
	}{
		{"half as fast", 48, 2, true, false, 2, 0.5},
		{"assists are not the program's running", 48, 2, true, true, 2, 0.5},
		{"by system calls alone", 48, 1.25, false, false, 1.25, 0.2},
		{"not slower", 48, 1, true, false, 1, 0},
		{"faster is not a gain", 48, 0.5, true, false, 0.5, 0},
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

// waiting feeds collections during which the program's threads wait for a core most of the time: by
// the clock the program works three times slower, but takes the same number of CPU samples for the
// same work.
func waiting(n, samples int) *marking {
	var m marking
	now, heap := int64(0), uint64(1<<20)
	see := func(k exectrace.Kind) { m.see(&exectrace.Event{Kind: k, Time: now, Value: heap}) }
	work := func(steps, samples int, each int64) {
		for i := range steps {
			now += each
			m.pass(m.works(1), each)
			heap += 8192
			see(exectrace.HeapAlloc)
			if i < samples {
				m.sample(true)
			}
		}
		m.sample(false) // of the collector
	}
	see(exectrace.HeapAlloc)
	for range n {
		work(20, 8, 1000)
		see(exectrace.GCBegin)
		work(20, samples, 3000)
		see(exectrace.GCEnd)
		heap = 1 << 20
		see(exectrace.HeapAlloc)
	}
	return &m
}

// TestMarkingIsNotWaiting: time that the program's threads lose to other processes while the
// collector marks is not attributed to the collector.
func TestMarkingIsNotWaiting(t *testing.T) {
	for _, tc := range []struct {
		name    string
		cycles  int
		samples int // during a collection; 8 outside of it
		want    float64
		lost    float64 // share of all samples
	}{
		{"as much CPU for the same work", 48, 8, 1, 0},
		{"half as much again", 48, 12, 1.5, 4.0 / 22},
		{"too few samples", 48, 1, math.NaN(), 0},
		{"too few cycles", 10, 12, math.NaN(), 0},
	} {
		r := waiting(tc.cycles, tc.samples).result(1e9)
		if tc.cycles == 48 && math.Abs(r.Slower.Value-3) > 1e-9 {
			t.Errorf("%s: %v slower by the clock, want 3", tc.name, r.Slower)
		}
		by := r.SlowerByCPU
		if math.IsNaN(tc.want) != !by.Known() || by.Known() && math.Abs(by.Value-tc.want) > 1e-9 {
			t.Errorf("%s: %v slower by CPU time, want %v", tc.name, by, tc.want)
		}
		if math.Abs(r.LostCPU.Value-tc.lost) > 1e-9 {
			t.Errorf("%s: lost %v of the CPU, want %.3f", tc.name, r.LostCPU, tc.lost)
		}
	}
}

// TestMarkingProves: a slowdown that chance explains is reported as possible, not as proven.
func TestMarkingProves(t *testing.T) {
	m := waiting(48, 9)
	for i := range m.groups {
		m.groups[i][1].own += int64(20*(i%2) - 10)
	}
	r := m.result(1e9)
	if by := r.SlowerByCPU; !(by.Value > 1) || by.Low > 1 {
		t.Fatalf("%v slower: chance does not explain that", by)
	}
	if l := r.LostCPU; l.Value != 0 || l.Low != 0 || !(l.High > 0) {
		t.Errorf("lost %v, want nothing, and some at most", l)
	}
}

// TestMarkingTakesSamples: CPU samples of assists and of the runtime's goroutines are not the
// program's work.
func TestMarkingTakesSamples(t *testing.T) {
	f := Fold{
		gs: []goroutine{
			0: {state: exectrace.Running}, 1: {state: exectrace.Running | foreign}, 2: {state: exectrace.Running | foreign, runtime: true},
			3: {state: exectrace.Syscall}, 4: {}, 5: {state: exectrace.Running | foreign, unknown: true},
		},
		helpers: map[exectrace.GIndex]bool{1: true},
	}
	for _, g := range []exectrace.GIndex{0, 1, 2, 3, 4, 5, 6, exectrace.NoG} {
		f.rare(&exectrace.Event{Kind: exectrace.CPUSample, G: g})
	}
	if s := f.marking.now[0]; s.own != 2 || s.sampled != 8 {
		t.Errorf("%d samples of the program, %d of all; want 2 of 8", s.own, s.sampled)
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
