package parallelism

import "github.com/hone-go/hone/exectrace"

// tail follows parallel regions and what is lost at their end: a region is full from when
// every processor has a goroutine of the program to when a processor first finds none
// that is ready, and over when no two goroutines run. The processors that idle between those two
// are the price of uneven shares.
type tail struct {
	full     bool  // all processors were busy in this region
	since    int64 // when it was so last; 0 while it is so
	draining bool
	started  int64
	lost     int64 // idle processor time since the region was last full
	last     exectrace.StackID

	regions  int64
	parallel int64 // nanoseconds of regions, tails included
	wasted   int64 // processor nanoseconds
	sum      map[exectrace.StackID]*tailSum
}

type tailSum struct{ n, wasted int64 }

// minRegion is how long a region must be full to count, in nanoseconds: shorter ones
// are chance meetings of requests.
const minRegion = 1_000_000

// pass books d nanoseconds up to now.
func (r *tail) pass(f *Fold, now, d int64) {
	running := f.running
	switch {
	case f.procs < 2:
	case running+f.workers >= f.procs || running > 1 && f.ready > 0:
		if !r.full {
			r.full, r.started = true, now-d
		}
		r.draining, r.lost = false, 0
	case r.full && running > 1:
		r.drain(now - d)
		r.lost += int64(f.procs-running-f.workers) * d
	case r.full:
		r.drain(now - d)
		r.over(now - d)
	}
}

func (r *tail) drain(at int64) {
	if !r.draining {
		r.draining, r.since = true, at
	}
}

// left remembers where the goroutine was that left a processor last: in a tail, the ones
// that had most to do.
func (r *tail) left(e *exectrace.Event) {
	if r.draining && e.Stack != 0 {
		r.last = e.Stack
	}
}

// over ends a region at a time.
func (r *tail) over(at int64) {
	if r.since-r.started >= minRegion {
		r.regions++
		r.parallel += at - r.started
		r.wasted += r.lost
		if r.lost > 0 && r.last != 0 {
			if r.sum == nil {
				r.sum = map[exectrace.StackID]*tailSum{}
			}
			s := r.sum[r.last]
			if s == nil {
				s = new(tailSum)
				r.sum[r.last] = s
			}
			s.n++
			s.wasted += r.lost
		}
	}
	r.full, r.draining, r.lost, r.last = false, false, 0, 0
}
