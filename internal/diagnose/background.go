package diagnose

import (
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// A benchmark and a program that exits do their work without pause: what the runtime does
// meanwhile, without being asked by a line, takes as long as the work does. Processors without a
// goroutine look for one and go to sleep, and the monitor and the network are looked after. A fix
// that shortens the work by a part may shorten that by the same part. It need not: a line that
// blocks causes some of it, and no row says which. A service under load waits for requests for as
// long as before.

// mostBackground is the largest part of the CPU that counts as unasked: benchmarks of code that
// does not block have 3 to 10 % in the scheduler (tools/field). More than that is from lines that
// block.
const mostBackground = 0.15

// backgroundGone is the part of what may go that is expected to.
const backgroundGone = 0.5

// withBackground adds what the runtime may do less, because the work takes less time.
func (e *engine) withBackground(saved stats.Interval) stats.Interval {
	if e.pass.Table == nil || !(e.totals.TotalSeconds > 0) {
		return saved
	}
	if per := e.manifest.PerUnit(); per != "per operation" && per != "per run" {
		return saved
	}
	background := -e.cycling.Value // what the collector's cycles cost the scheduler has owners
	for _, b := range e.pass.Table.Buckets {
		if b.Name == site.BucketScheduler || b.Name == site.BucketPoll {
			background += b.Seconds
		}
	}
	background = max(0, min(background/e.totals.TotalSeconds, mostBackground))
	more := background / (1 - background)
	return stats.Interval{Value: saved.Value * (1 + backgroundGone*more), Low: saved.Low, High: saved.High * (1 + more)}
}
