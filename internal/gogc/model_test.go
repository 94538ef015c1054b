package gogc_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/hone-go/hone/internal/gogc"
)

func TestParseCycle(t *testing.T) {
	c, ok := gogc.ParseCycle("gc 7 @0.214s 3%: 0.021+1.2+0.004 ms clock, 0.042+0.3/0.9/0.1+0.008 ms cpu, 7->8->4 MB, 9 MB goal, 1 MB stacks, 2 MB globals, 2 P (forced)\n")
	if !ok || c.Number != 7 || c.At != 0.214 || math.Abs(c.CPU-1.35e-3) > 1e-9 || c.Start != 7.5*mib || c.End != 8.5*mib || c.Live != 4.5*mib ||
		c.Goal != 9.5*mib || c.Stacks != 1.5*mib || c.Globals != 2.5*mib || !c.Forced {
		t.Errorf("%+v, %t", c, ok)
	}
	for _, line := range []string{"", "gc", "gc 1", "gc x @1s 2%: a", "gc 1 @0.1s 2%: 1 ms clock, x ms cpu, 1->2->3 MB, 4 MB goal, 2 P",
		"gc 1 @0.1s 2%: 1+1 ms clock, 1 ms cpu, 1->2 MB, 4 MB goal, 2 P", "gc 1 @0.1s 2%: 1 ms clock, 1 ms cpu, 1->2->3 MB, -4 MB goal, 2 P, x"} {
		if c, ok := gogc.ParseCycle(line); ok {
			t.Errorf("%q is a cycle: %+v", line, c)
		}
	}
}

func FuzzParseCycle(f *testing.F) {
	f.Add("gc 7 @0.214s 3%: 0.021+1.2+0.004 ms clock, 0.042+0.3/0.9/0.1+0.008 ms cpu, 7->8->4 MB, 9 MB goal, 1 MB stacks, 2 MB globals, 2 P")
	f.Fuzz(func(t *testing.T, line string) {
		c, ok := gogc.ParseCycle(line)
		if !ok {
			return
		}
		for _, x := range []float64{c.CPU, c.Start, c.End, c.Live, c.Goal} {
			if !(x >= 0) || math.IsInf(x, 0) {
				t.Errorf("%q: %+v", line, c)
			}
		}
	})
}

// simulated returns the collections of a program under a setting, by a pacer of its own. The live
// heap rises to most within the first half of what the program allocates.
func simulated(gogcNow int, total, most, perByte float64) *gogc.Observed {
	o := &gogc.Observed{GOGC: gogcNow, Ends: true, AllocBytes: total, CPUSeconds: 10}
	live := func(x float64) float64 { return most * math.Min(1, 2*x/total) }
	var run []gogc.Cycle
	x, now := 0.0, 0.0
	for {
		goal := math.Max(gogc.LeastHeap*float64(gogcNow)/100, now*(1+float64(gogcNow)/100))
		if x+goal-now > total {
			break
		}
		x += goal - now
		now = live(x)
		run = append(run, gogc.Cycle{CPU: perByte * now, End: goal, Live: now, Goal: goal})
	}
	o.Runs = [][]gogc.Cycle{run}
	for _, c := range run {
		o.CPUSeconds += c.CPU
		o.Resident = math.Max(o.Resident, c.Goal)
	}
	return o
}

// TestPredictsOtherSettings observes a program at GOGC=100, and compares the predictions for other
// settings with what its own pacer does.
func TestPredictsOtherSettings(t *testing.T) {
	const total, most, perByte = 40e9, 200 * mib, 1e-9
	o := simulated(100, total, most, perByte)
	for _, g := range []int{25, 50, 100, 200, 400, 1600} {
		t.Run(fmt.Sprint(g), func(t *testing.T) {
			truth := simulated(g, total, most, perByte)
			p := o.Predict(gogc.Setting{GOGC: g})
			if math.Abs(p.CPUSeconds/truth.CPUSeconds-1) > 0.02 || math.Abs(p.Resident/truth.Resident-1) > 0.1 {
				t.Errorf("%.2f s and %.0f MiB, the truth is %.2f s and %.0f MiB", p.CPUSeconds, p.Resident/mib, truth.CPUSeconds, truth.Resident/mib)
			}
		})
	}
}

// TestPredictsLimits: with a limit above the live heap cycles are few; a limit below it cannot be
// kept.
func TestPredictsLimits(t *testing.T) {
	o := simulated(100, 40e9, 200*mib, 1e-9)
	own := o.Predict(gogc.Setting{GOGC: 100})
	wide := o.Predict(gogc.Setting{Limit: 2 << 30})
	if !wide.Feasible || wide.Cycles > own.Cycles/5 || wide.Resident > 2<<30 {
		t.Errorf("off below 2 GiB: %+v, own %+v", wide, own)
	}
	if narrow := o.Predict(gogc.Setting{Limit: 150 * mib}); narrow.Feasible {
		t.Errorf("a limit below the live heap: %+v", narrow)
	}
}

// TestPredictsWithoutCycles: a program that never collected can save nothing.
func TestPredictsWithoutCycles(t *testing.T) {
	o := &gogc.Observed{GOGC: 100, Ends: true, Runs: [][]gogc.Cycle{nil}, AllocBytes: 1 * mib, CPUSeconds: 2, Resident: 10 * mib}
	if p := o.Predict(gogc.Setting{GOGC: 400}); p.CPUSeconds != 2 || p.Resident != 10*mib {
		t.Errorf("%+v", p)
	}
}

// TestPredictsServices observes a service for less time than passes between two collections under
// other settings. A service keeps running, so its memory grows to the goal, and collections cost
// their share.
func TestPredictsServices(t *testing.T) {
	const live, window = 20 * mib, 400 * mib
	o := &gogc.Observed{GOGC: 100, AllocBytes: window, CPUSeconds: 1, Resident: 60 * mib}
	var run []gogc.Cycle
	for range 20 {
		run = append(run, gogc.Cycle{CPU: 0.01, End: 2 * live, Live: live, Goal: 2 * live})
	}
	o.Runs = [][]gogc.Cycle{run}
	for g, want := range map[int]struct{ cycles, resident float64 }{100: {20, 60 * mib}, 400: {5, (60 + 1.05*60) * mib}, 3200: {0.625, (60 + 1.05*620) * mib}} {
		p := o.Predict(gogc.Setting{GOGC: g})
		if math.Abs(p.Cycles/want.cycles-1) > 0.06 || math.Abs(p.GCSeconds-0.01*p.Cycles) > 1e-6 || math.Abs(p.Resident/want.resident-1) > 0.01 {
			t.Errorf("GOGC=%d: %.3f cycles, %.4f s, %.0f MiB; want %.3f cycles, %.0f MiB", g, p.Cycles, p.GCSeconds, p.Resident/mib, want.cycles, want.resident/mib)
		}
	}
}

// TestMeasuredCostOfCycles: other processes used half of the CPU time that the runtime printed, and
// the program runs slower while it is collected.
func TestMeasuredCostOfCycles(t *testing.T) {
	o := simulated(100, 40e9, 200*mib, 1e-9)
	half := *o
	half.GCSeconds = o.Printed() / 2
	printed, measured := o.Predict(gogc.Setting{GOGC: 400}), half.Predict(gogc.Setting{GOGC: 400})
	if saved, want := half.CPUSeconds-measured.CPUSeconds, (o.CPUSeconds-printed.CPUSeconds)/2; math.Abs(saved/want-1) > 1e-9 {
		t.Errorf("saves %.3f s, want %.3f", saved, want)
	}
	slower := half
	slower.Drag = 0.5
	if saved, want := half.CPUSeconds-slower.Predict(gogc.Setting{GOGC: 400}).CPUSeconds, 1.5*(half.CPUSeconds-measured.CPUSeconds); math.Abs(saved/want-1) > 1e-9 {
		t.Errorf("with a drag of 0.5: saves %.3f s, want %.3f", saved, want)
	}
}

// TestPromisesNothingWithoutPointers: marking a large live heap without pointers costs nothing.
func TestPromisesNothingWithoutPointers(t *testing.T) {
	o := simulated(100, 40e9, 200*mib, 1e-9)
	o.GCSeconds = 0.002 * o.CPUSeconds
	for _, g := range []int{400, 800, 3200} {
		if p := o.Predict(gogc.Setting{GOGC: g}); 1-p.CPUSeconds/o.CPUSeconds > 0.002 {
			t.Errorf("GOGC=%d: promises %.2f %%", g, 100*(1-p.CPUSeconds/o.CPUSeconds))
		}
	}
}
