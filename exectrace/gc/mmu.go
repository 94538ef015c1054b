package gc

import (
	"cmp"
	"math"
	"slices"
)

// windows returns the window lengths for which the minimum utilization is computed, in nanoseconds.
func windows() []int64 {
	return []int64{100_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000,
		100_000_000, 200_000_000, 500_000_000, 1_000_000_000}
}

// mmu computes the minimum mutator utilization over all windows of some lengths as time passes.
//
// Utilization is a step function u(t): the share of processors that the program has. As a window
// moves, its mean changes by u at its end minus u at its start. The minimum is therefore at a
// window that ends at a step up or starts at a step down, and only those are examined. The area of
// a window decreases by at most the distance that the window moves, so after a window with a high
// utilization the next candidate is some distance away (window.next). mmu holds the steps within
// the longest window.
type mmu struct {
	windows []window
	steps   []step  // of the last second or more, oldest first
	u       float64 // the current utilization
	now     int64
	area    float64 // ∫u dt up to now, in nanoseconds
	held    int     // number of steps after forget last dropped some
}

// window is the minimum for windows of one length.
type window struct {
	length int64
	least  float64 // ∫u dt of the worst window
	at     int64   // start of the worst window
	next   int64   // no window that ends earlier can be worse
}

// step is a change of u: u is the value from at on, and area is the integral up to at.
type step struct {
	at   int64
	area float64
	u    float64
	down bool // may be a step down
}

func newMMU() *mmu {
	m := &mmu{u: 1, steps: []step{{0, 0, 1, true}}, held: 1}
	for _, w := range windows() {
		m.windows = append(m.windows, window{length: w, least: math.Inf(1), next: w})
	}
	return m
}

// set sets the utilization from now on.
func (m *mmu) set(now int64, u float64) {
	if u == m.u {
		return
	}
	down := u < m.u
	m.pass(now, !down)
	m.u = u
	if last := &m.steps[len(m.steps)-1]; last.at == now {
		last.u, last.down = u, true
		return
	}
	m.steps = append(m.steps, step{now, m.area, u, down})
}

// pass advances to a time. It examines the windows that start at a step and end by then and, if
// ends is true (the utilization goes up, or the trace ends), those that end at that time.
func (m *mmu) pass(now int64, ends bool) {
	since := m.now
	m.area += m.u * float64(now-since)
	m.now = now
	for i := range m.windows {
		w := &m.windows[i]
		if now < w.next {
			continue
		}
		for k := m.first(max(since+1, w.next) - w.length); k < len(m.steps) && m.steps[k].at+w.length <= now; k++ {
			if s := &m.steps[k]; s.down && s.at+w.length >= w.next {
				w.look(s.at+w.length, m.areaAt(s.at+w.length)-s.area)
			}
		}
		if ends && now >= w.next {
			w.look(now, m.area-m.areaAt(now-w.length))
		}
	}
	m.forget()
}

// look examines the window that ends at a time and has an area.
func (w *window) look(end int64, area float64) {
	if area < w.least {
		w.least, w.at = area, end-w.length
	}
	w.next = math.MaxInt64
	if w.least > 0 {
		w.next = end + int64(area-w.least)
	}
}

// mean returns the mean utilization of the worst window.
func (w *window) mean() float64 { return w.least / float64(w.length) }

// first returns the index of the first step at or after a time.
func (m *mmu) first(t int64) int {
	k, _ := slices.BinarySearchFunc(m.steps, t, func(s step, t int64) int { return cmp.Compare(s.at, t) })
	return k
}

// areaAt returns the integral up to a time within the steps that are held.
func (m *mmu) areaAt(t int64) float64 {
	s := &m.steps[m.first(t+1)-1]
	return s.area + s.u*float64(t-s.at)
}

// forget drops the steps before the longest window when their number has doubled since the last
// time.
func (m *mmu) forget() {
	if len(m.steps) < max(128, 2*m.held) {
		return
	}
	longest := m.windows[len(m.windows)-1].length
	if k := m.first(m.now-longest+1) - 1; k > 0 {
		m.steps = append(m.steps[:0], m.steps[k:]...)
	}
	m.held = len(m.steps)
}
