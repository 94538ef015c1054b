package site

import "testing"

// TestSweepYields: yields belong to the sweeper if it is the only goroutine that yields; the
// settings of the collector do not change that.
func TestSweepYields(t *testing.T) {
	yield := "runtime.lock2 < runtime.schedule < runtime.goschedImpl < runtime.gosched_m < runtime.mcall"
	poll := "internal/runtime/syscall.EpollWait < runtime.netpoll < runtime.findRunnable < " + yield[len("runtime.lock2 < "):]
	clock := "runtime.nanotime < runtime.(*timers).check < runtime.findRunnable < " + yield[len("runtime.lock2 < "):]
	preempted := "runtime.findRunnable < runtime.schedule < runtime.goschedImpl < runtime.gopreempt_m < runtime.newstack"
	for _, c := range []struct {
		name             string
		samples          []sample
		sweep, scheduler float64
	}{
		{"the sweeper", []sample{ticks(10, "main.f:1"), ticks(5, "runtime.bgsweep"), ticks(15, yield), ticks(5, clock), ticks(3, preempted), ticks(7, poll), ticks(2, "runtime.nanotime < "+preempted)}, 25, 3},
		{"the program yields too", []sample{ticks(10, "runtime.Gosched < main.f:1"), ticks(5, "runtime.bgsweep"), ticks(20, yield)}, 5, 20},
		{"a loop that yields far more than the sweeper works", []sample{ticks(10, "main.f:1"), ticks(5, "runtime.bgsweep"), ticks(21, yield)}, 5, 21},
		{"no sweeper", []sample{ticks(10, "main.f:1"), ticks(20, yield)}, 0, 20},
	} {
		table := mustJoin(t, Input{CPU: build(t, cpu, c.samples...), Code: testIndex(t)})
		tick := table.Totals.TotalSeconds / float64(table.Totals.CPUSamples)
		got := map[string]float64{}
		for _, b := range table.Buckets {
			got[b.Name] = b.Seconds / tick
		}
		if !alike(got[bucketSweep], c.sweep) || !alike(got[BucketScheduler], c.scheduler) || !alike(table.Totals.W/tick, c.sweep) {
			t.Errorf("%s: sweep %g, scheduler %g, W %g; want %g, %g", c.name, got[bucketSweep], got[BucketScheduler], table.Totals.W/tick, c.sweep, c.scheduler)
		}
		if work := table.CycleWork(); c.sweep > 5 && !alike(work.Value/tick, 5) {
			t.Errorf("%s: %g samples of work follow the cycles, want 5", c.name, work.Value/tick)
		}
	}
}

func alike(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }
