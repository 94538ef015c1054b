package parallelism

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/histogram"
)

// turn is what a change of a goroutine of the program changes in the figures.
type turn struct {
	running, ready int
	waited         int   // 1: the time it was ready is over
	swaps          int64 // all bits set when it comes to a processor or leaves one, else 0
	stops          int64 // all bits set when it leaves one, else 0
	calls          int64
}

// turns are the turns of the kinds that are most of all events, and of others like them.
var turns = [exectrace.GoSwitch]turn{
	exectrace.GoStart:          {running: 1, ready: -1, waited: 1, swaps: -1},
	exectrace.GoDestroy:        {running: -1, swaps: -1, stops: -1},
	exectrace.GoDestroySyscall: {},
	exectrace.GoStop:           {running: -1, ready: 1, swaps: -1, stops: -1},
	exectrace.GoBlock:          {running: -1, swaps: -1, stops: -1},
	exectrace.GoUnblock:        {ready: 1},
	exectrace.GoSyscallBegin:   {running: -1, swaps: -1, stops: -1, calls: 1},
	exectrace.GoSyscallEnd:     {running: 1, swaps: -1},
	exectrace.GoSyscallEndLost: {ready: 1},
}

// record records how long goroutines that came to a processor were ready: nanoseconds, of which all bits
// are changed when a processor was idle.
func (f *Fold) record(waits []int64) {
	h := [2]*histogram.Histogram{f.saturated, f.wakeup}
	for _, ns := range waits {
		idle := ns >> 63
		h[idle&1].Record(ns ^ idle)
	}
}
