package parallelism

import (
	"math"

	"github.com/hone-go/hone/exectrace"
)

// tail follows parallel regions and what is lost at their end: a region is full from when
// every processor has a goroutine of the program to when a processor first finds none
// that is ready, and over when no two goroutines run. The processors that idle between those two
// are the price of uneven shares.
//
// Mostly a region is full, or over before it counts: since alone holds that, and Events keeps it.
type tail struct {
	since   int64 // when the region began that is full; notFull when none is, drains once it has drained
	started int64 // what since was before drains
	idled   int64 // when the first processor found nothing since the region was last full
	drained int64 // up to when it drains; of old when it was full again since then
	lost    int64 // idle processor time since idled
	last    exectrace.StackID

	regions  int64
	parallel int64 // nanoseconds of regions, tails included
	wasted   int64 // processor nanoseconds
	sum      map[exectrace.StackID]*tailSum
}

// What since is else: later, and long before, any time.
const (
	notFull = math.MaxInt64
	drains  = math.MinInt64 / 2
)

type tailSum struct{ n, wasted int64 }

// minRegion is how long a region must be full to count, in nanoseconds: shorter ones
// are chance meetings of requests.
const minRegion = 1_000_000

// pass books d nanoseconds from a time on in which the region, if there is one, is not full.
func (r *tail) pass(f *Fold, from, d int64) {
	again := r.since == drains && r.drained == from
	switch {
	case r.since == notFull:
		return
	case f.procs < 2: // no other could have worked meanwhile
		if again {
			r.drained = from + d
		}
		return
	case r.since != drains:
		r.started, r.since = r.since, drains
	}
	if !again {
		r.idled, r.lost = from, 0
	}
	r.drained = from + d
	if f.running > 1 {
		r.lost += int64(f.procs-f.running-f.workers) * d
	} else {
		r.over(from)
	}
}

// left remembers where the goroutine was that left a processor last: in a tail, the ones
// that had most to do.
func (r *tail) left(e *exectrace.Event) {
	if e.Time == r.drained && e.Stack != 0 {
		r.last = e.Stack
	}
}

// over ends a region at a time.
func (r *tail) over(at int64) {
	if r.idled-r.started >= minRegion {
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
	r.since, r.drained, r.last = notFull, 0, 0
}
