package collector

import "math"

// windows are the lengths for which the least utilization is kept, in nanoseconds.
func windows() []int64 {
	return []int64{100_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000,
		100_000_000, 200_000_000, 500_000_000, 1_000_000_000}
}

// mmu finds the least mutator utilization over every window of some lengths, while time
// passes. Utilization is a step function u(t) of the share of processors that the program has; the mean
// over a window is least where the window begins or ends at a step, so only those are
// looked at. It holds the steps of the longest window.
type mmu struct {
	lens  []int64
	least []float64 // mean utilization of the worst window, by length
	at    []int64   // where that window begins
	steps []step    // of the last second, oldest first
	tails []int     // for each length, the first step at which a window begins that is not over
	cuts  []int     // for each length, the step within which the window that ends now begins
	ends  []int     // for each length, the step within which the window of tails ends
	u     float64   // now
	now   int64
	area  float64 // ∫u dt up to now, in nanoseconds
}

// step is where u changed: from there on it is u, and area is its integral up to there.
type step struct {
	at   int64
	area float64
	u    float64
}

func newMMU() *mmu {
	m := &mmu{lens: windows(), u: 1}
	m.least = make([]float64, len(m.lens))
	m.at = make([]int64, len(m.lens))
	m.tails, m.cuts, m.ends = make([]int, len(m.lens)), make([]int, len(m.lens)), make([]int, len(m.lens))
	for i := range m.least {
		m.least[i] = math.Inf(1)
	}
	m.steps = []step{{0, 0, 1}}
	return m
}

// set changes the utilization at a time.
func (m *mmu) set(now int64, u float64) {
	if u == m.u {
		return
	}
	m.pass(now)
	m.u = u
	if last := &m.steps[len(m.steps)-1]; last.at == now {
		last.u = u
		return
	}
	m.steps = append(m.steps, step{now, m.area, u})
}

// pass moves to a time and looks at the windows that end at it, and at those that begin at a
// step and ended meanwhile.
func (m *mmu) pass(now int64) {
	m.area += m.u * float64(now-m.now)
	m.now = now
	for i, w := range m.lens {
		// Windows that begin at a step and end by now.
		for m.tails[i] < len(m.steps) && m.steps[m.tails[i]].at+w <= now {
			s := m.steps[m.tails[i]]
			m.look(i, s.at, m.areaAt(&m.ends[i], s.at+w)-s.area)
			m.tails[i]++
		}
		if now >= w { // the window that ends now
			m.look(i, now-w, m.area-m.areaAt(&m.cuts[i], now-w))
		}
	}
	m.forget()
}

func (m *mmu) look(i int, begin int64, area float64) {
	if u := area / float64(m.lens[i]); u < m.least[i] {
		m.least[i], m.at[i] = u, begin
	}
}

// areaAt is the integral up to a time within the steps that are held. from is where it was
// asked for last with these windows: time only grows.
func (m *mmu) areaAt(from *int, t int64) float64 {
	k := *from
	for k+1 < len(m.steps) && m.steps[k+1].at <= t {
		k++
	}
	*from = k
	s := m.steps[k]
	return s.area + s.u*float64(t-s.at)
}

// forget drops the steps before the longest window, when they are half of all.
func (m *mmu) forget() {
	n := m.cuts[len(m.cuts)-1] // where the longest window that ends now begins
	if n < 64 || 2*n < len(m.steps) {
		return
	}
	for i := range m.lens {
		n = min(n, m.tails[i], m.cuts[i], m.ends[i])
	}
	if n == 0 {
		return
	}
	m.steps = append(m.steps[:0], m.steps[n:]...)
	for i := range m.tails {
		m.tails[i] -= n
		m.cuts[i] -= n
		m.ends[i] -= n
	}
}
