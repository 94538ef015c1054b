package parallelism

import (
	"math"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/stats"
)

// Marking is how fast the program runs while the garbage collector marks, compared with how fast it
// runs otherwise. Write barriers, the cache lines that the mark workers evict, and the other
// hardware thread of a core slow the program down, and no profile charges that to the collector.
//
// Work is counted in bytes allocated and in system calls. The result is that of the kind with less
// slowdown: code that does little of one kind may do more of it in one half by chance.
type Marking struct {
	Share   float64 `json:"share"` // of the time, with a garbage collection in progress
	Running float64 `json:"running_seconds"`
	// Slower is the program's work per second of a goroutine in state running, outside of
	// collections divided by inside: 1.5 means that the program works 50 % faster outside. A
	// goroutine is also in that state while its thread waits for a core that other processes or the
	// collector's idle workers use, so the collector's work is not the only cause. NaN when there
	// is too little data.
	Slower stats.Interval `json:"slower"`
	// Lost is the part of Running that the slowdown costs, in seconds, with its interval; 0 if it
	// is unknown.
	Lost stats.Interval `json:"lost_seconds"`
	// SlowerByCPU is the same per second of CPU time, computed from the CPU samples in the trace:
	// time without a core does not count. NaN when there are too few samples.
	SlowerByCPU stats.Interval `json:"slower_by_cpu"`
	// LostCPU is the share of all CPU samples that the slowdown by SlowerByCPU costs. Its value is
	// 0 unless the whole interval of SlowerByCPU is above 1.
	LostCPU stats.Interval `json:"lost_cpu_share"`
}

// speed is the work that the program did while it ran.
type speed struct {
	ran          int64 // running time of its goroutines in nanoseconds, without assists
	bytes, calls int64
	rises        int64 // number of increases of the heap counter, whose sum is bytes
	own, sampled int64 // CPU samples: those of the program's goroutines outside of assists, and all
}

func (s *speed) add(o speed) {
	s.ran += o.ran
	s.bytes += o.bytes
	s.calls += o.calls
	s.rises += o.rises
	s.own += o.own
	s.sampled += o.sampled
}

func (s speed) minus(o speed) speed {
	s.ran -= o.ran
	s.bytes -= o.bytes
	s.calls -= o.calls
	s.rises -= o.rises
	s.own -= o.own
	s.sampled -= o.sampled
	return s
}

// markGroups is the number of groups that the interval is computed from; cycles are assigned to
// them in turn.
const markGroups = 12

// marking follows the program's speed inside and outside of collections.
type marking struct {
	on        bool
	assisting int // goroutines of the program that run an assist
	heap      uint64
	now       [2]speed // since the end of the last cycle; [1] while marking
	groups    [markGroups][2]speed
	cycles    int
	wall      int64
	since     int64
}

// works returns how many goroutines do the program's own work when running goroutines run.
func (m *marking) works(running int) int { return running - m.assisting }

// pass counts the time of works goroutines.
func (m *marking) pass(works int, d int64) { m.now[m.index()].ran += int64(works) * d }

func (m *marking) index() int {
	if m.on {
		return 1
	}
	return 0
}

// see handles an event that is not a transition of a goroutine. It is called after pass.
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

// sample counts a CPU sample. It is called after pass.
func (m *marking) sample(own bool) {
	s := &m.now[m.index()]
	s.sampled++
	if own {
		s.own++
	}
}

// forget discards what is open, at a gap.
func (m *marking) forget() {
	m.on, m.assisting, m.heap = false, 0, 0
	m.now = [2]speed{}
}

// leastWork is the number of increases of the heap counter, or of system calls, that are necessary
// inside and outside of collections to compare speeds by them. leastSamples is the number of the
// program's CPU samples that are.
const leastWork, leastSamples = 200, 50

func (m *marking) result(length int64) Marking {
	all := m.total()
	r := Marking{Running: exectrace.Seconds(all[1].ran), Slower: stats.Unknown(), SlowerByCPU: stats.Unknown()}
	if length > 0 {
		r.Share = float64(m.wall) / float64(length)
	}
	if m.cycles < 2*markGroups {
		return r
	}
	least := func(compare func(work func(*speed) int64) stats.Interval) stats.Interval {
		by := stats.Unknown()
		if min(all[0].rises, all[1].rises) >= leastWork {
			by = compare(func(s *speed) int64 { return s.bytes })
		}
		if min(all[0].calls, all[1].calls) >= leastWork {
			if calls := compare(func(s *speed) int64 { return s.calls }); !by.Known() || calls.Known() && calls.Value < by.Value {
				by = calls
			}
		}
		return by
	}
	r.Slower = least(m.slower)
	if r.Slower.Known() && r.Slower.High > 1 {
		r.Lost = lost(r.Slower).Scale(r.Running)
	}
	if min(all[0].own, all[1].own) >= leastSamples {
		r.SlowerByCPU = least(m.slowerByCPU)
	}
	if by := r.SlowerByCPU; by.Known() {
		r.LostCPU = lost(by).Scale(float64(all[1].own) / float64(all[0].sampled+all[1].sampled))
		if by.Low <= 1 {
			r.LostCPU.Value = 0
		}
	}
	return r
}

// lost returns the part of the time inside of collections that a slowdown costs.
func lost(slower stats.Interval) stats.Interval {
	part := func(slower float64) float64 { return 1 - 1/max(1, slower) }
	return stats.Interval{Value: part(slower.Value), Low: part(slower.Low), High: part(slower.High)}
}

// total returns the sum of all groups.
func (m *marking) total() (all [2]speed) {
	for i := range m.groups {
		all[0].add(m.groups[i][0])
		all[1].add(m.groups[i][1])
	}
	return all
}

// slower compares the speeds by one kind of work.
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

// slowerByCPU compares the work per CPU sample. One group has few samples, so the speeds are
// computed from sums, and the interval is the jackknife's: from the logarithms of the ratios
// without each group (B. Efron and C. Stein, "The jackknife estimate of variance", Annals of
// Statistics 9, 1981).
func (m *marking) slowerByCPU(work func(*speed) int64) stats.Interval {
	ratio := func(all [2]speed) float64 {
		w0, w1 := float64(work(&all[0])), float64(work(&all[1]))
		return math.Log(w0 / float64(all[0].own) * float64(all[1].own) / w1)
	}
	all := m.total()
	whole := ratio(all)
	var pseudo []float64
	for _, g := range m.groups {
		without := ratio([2]speed{all[0].minus(g[0]), all[1].minus(g[1])})
		pseudo = append(pseudo, markGroups*whole-(markGroups-1)*without)
	}
	mean := stats.Mean(pseudo)
	half := (mean.High - mean.Low) / 2
	by := stats.Interval{Value: math.Exp(whole), Low: math.Exp(whole - half), High: math.Exp(whole + half)}
	if !by.Known() {
		return stats.Unknown()
	}
	return by
}
