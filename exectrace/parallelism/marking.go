package parallelism

import (
	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/stats"
)

// Marking is how fast the program runs while the collector marks, against how fast it runs else. The
// write barriers, the caches that the mark workers fill, and the other thread of a core all slow it down,
// and no profile charges that to the collector.
type Marking struct {
	Share   float64 `json:"share"` // of the time, with a collection going on
	Running float64 `json:"running_seconds"`
	// Slower is the program's work for a second of running, outside of collections by within: 1.5 is half as
	// much again. Work is counted in bytes allocated and in system calls, the one that tells of less being
	// taken: whoever does little of one may do more of it in one half by chance. NaN when there
	// is too little to tell.
	Slower stats.Interval `json:"slower"`
	// Lost is the part of Running that this took, in seconds, with its interval; 0 when that is not known.
	Lost stats.Interval `json:"lost_seconds"`
}

// speed is what the program did while it ran.
type speed struct {
	ran          int64 // nanoseconds of its goroutines running, assists left out
	bytes, calls int64
	rises        int64 // of the heap counter, which make up bytes
}

func (s *speed) add(o speed) {
	s.ran += o.ran
	s.bytes += o.bytes
	s.calls += o.calls
	s.rises += o.rises
}

// markGroups is how many samples the interval is of: cycles are dealt out to them in turn.
const markGroups = 12

// marking follows the program's speed inside and outside of collections.
type marking struct {
	on        bool
	assisting int // goroutines of the program that run, in an assist
	heap      uint64
	now       [2]speed // since the last cycle's end; [1] while marking
	groups    [markGroups][2]speed
	cycles    int
	wall      int64
	since     int64
}

// works is how many goroutines do the program's own work when so many of them run.
func (m *marking) works(running int) int { return running - m.assisting }

// pass books the time of so many.
func (m *marking) pass(works int, d int64) { m.now[m.index()].ran += int64(works) * d }

func (m *marking) index() int {
	if m.on {
		return 1
	}
	return 0
}

// see takes an event that is no change of a goroutine, after pass.
func (m *marking) see(e *exectrace.Event) {
	switch e.Kind {
	case exectrace.GCBegin, exectrace.GCActive:
		if !m.on {
			m.on, m.since = true, e.Time
		}
	case exectrace.GCEnd:
		if !m.on {
			return
		}
		m.on = false
		m.wall += e.Time - m.since
		g := &m.groups[m.cycles%markGroups]
		g[0].add(m.now[0])
		g[1].add(m.now[1])
		m.now = [2]speed{}
		m.cycles++
	case exectrace.HeapAlloc:
		if s := &m.now[m.index()]; m.heap > 0 && e.Value > m.heap {
			s.bytes += int64(e.Value - m.heap)
			s.rises++
		}
		m.heap = e.Value
	}
}

// forget drops what is open, at a gap.
func (m *marking) forget() {
	m.on, m.assisting, m.heap = false, 0, 0
	m.now = [2]speed{}
}

// leastWork is how many rises of the heap counter, or system calls, there must be inside and outside of
// collections for a speed to be told by them.
const leastWork = 200

func (m *marking) result(length int64) Marking {
	var all [2]speed
	for i := range m.groups {
		all[0].add(m.groups[i][0])
		all[1].add(m.groups[i][1])
	}
	r := Marking{Running: exectrace.Seconds(all[1].ran), Slower: stats.Unknown()}
	if length > 0 {
		r.Share = float64(m.wall) / float64(length)
	}
	if m.cycles < 2*markGroups {
		return r
	}
	if min(all[0].rises, all[1].rises) >= leastWork {
		r.Slower = m.slower(func(s *speed) int64 { return s.bytes })
	}
	if min(all[0].calls, all[1].calls) >= leastWork {
		if by := m.slower(func(s *speed) int64 { return s.calls }); !r.Slower.Known() || by.Known() && by.Value < r.Slower.Value {
			r.Slower = by
		}
	}
	if r.Slower.Known() && r.Slower.High > 1 {
		lost := func(slower float64) float64 { return r.Running * max(0, 1-1/max(1, slower)) }
		r.Lost = stats.Interval{Value: lost(r.Slower.Value), Low: lost(r.Slower.Low), High: lost(r.Slower.High)}
	}
	return r
}

// slower compares the speeds by a kind of work.
func (m *marking) slower(work func(*speed) int64) stats.Interval {
	var speeds [2][]float64
	for i := range m.groups {
		for k := range speeds {
			if s := &m.groups[i][k]; s.ran > 0 {
				speeds[k] = append(speeds[k], float64(work(s))/float64(s.ran))
			}
		}
	}
	ratio, _ := stats.MeanRatio(speeds[1], speeds[0])
	return ratio
}
