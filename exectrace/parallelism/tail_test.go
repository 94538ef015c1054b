package parallelism

import (
	"testing"

	"github.com/hone-go/hone/exectrace"
)

// TestTailCountsIdleProcessors follows a region on four processors: all are busy for 2 ms, then
// three for 1 ms, then two, then none.
func TestTailCountsIdleProcessors(t *testing.T) {
	f := &Fold{procs: 4}
	var now int64
	left := func(stack exectrace.StackID) { f.tail.left(&exectrace.Event{Stack: stack, Time: now}) }
	step := func(running, ready int, d int64) {
		f.running, f.ready = running, ready
		now += d
		f.Events(&exectrace.Trace{}, &exectrace.Block{Events: []exectrace.Event{{Kind: exectrace.HeapGoal, Time: now}}})
	}
	step(1, 0, 1e6) // before it
	step(4, 3, 2e6)
	step(3, 0, 1e6)
	left(7)
	step(2, 0, 1e6)
	left(8)
	step(1, 0, 5e6)
	if f.tail.regions != 1 || f.tail.parallel != 4e6 || f.tail.wasted != 1e6+2e6 {
		t.Errorf("%d regions, %d ns, %d ns lost; want 1, 4 ms, 3 ms", f.tail.regions, f.tail.parallel, f.tail.wasted)
	}
	if s := f.tail.sum[8]; s == nil || s.wasted != 3e6 {
		t.Errorf("the tail is charged to %v, want the last to leave", f.tail.sum)
	}

	step(4, 0, 5e5) // too short for a region
	step(2, 0, 1e6)
	step(0, 0, 1e6)
	if f.tail.regions != 1 {
		t.Errorf("a meeting of half a millisecond counts as a region")
	}
}
