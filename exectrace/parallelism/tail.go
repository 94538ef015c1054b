package parallelism

import (
	"math"

	"github.com/hone-go/hone/exectrace"
)

// tail follows parallel regions and the time lost at their ends. A region is full from when every
// processor has a goroutine of the program to when a processor first finds none that is ready. It
// is over when fewer than two goroutines run. The processors that are idle in between are the cost
// of unequal shares of work.
//
// Most of the time a region is either full, or over before it counts. The field since says which,
// and Events maintains it.
type tail struct {
	since   int64 // start of the current full region; notFull if there is none; drains once processors became idle
	started int64 // the value of since before drains
	idled   int64 // when the first processor became idle since the region was last full
	drained int64 // time up to which it drains; an old time if it was full again after that
	lost    int64 // idle processor time since idled
	last    exectrace.StackID

	regions  int64
	parallel int64 // nanoseconds of regions, including tails
	wasted   int64 // processor nanoseconds
	sum      map[exectrace.StackID]*tailSum
}

// Special values of since: later and much earlier than any time.
const (
	notFull = math.MaxInt64
	drains  = math.MinInt64 / 2
)

type tailSum struct{ n, wasted int64 }

// minRegion is how long a region must be full to count, in nanoseconds. Shorter ones are requests
// that overlap by chance.
const minRegion = 1_000_000

// pass counts d nanoseconds from a time on in which the region, if there is one, is not full.
func (r *tail) pass(f *Fold, from, d int64) {
	again := r.since == drains && r.drained == from
	switch {
	case r.since == notFull:
		return
	case f.procs < 2: // no other goroutine could have worked
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

// left records the stack of the goroutine that left a processor last: in a tail, that of the
// goroutine with the most work.
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
