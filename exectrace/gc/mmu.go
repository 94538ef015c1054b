package gc

import (
	"cmp"
	"math"
	"slices"
)

// windows are the lengths for which the least utilization is kept, in nanoseconds.
func windows() []int64 {
	return []int64{100_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000,
		100_000_000, 200_000_000, 500_000_000, 1_000_000_000}
}

// mmu finds the least mutator utilization over every window of some lengths, while time
// passes. Utilization is a step function u(t) of the share of processors that the program has. As a window
// moves, its mean changes by u where it ends less u where it begins: so it is least where the window ends at a
// step up or begins at a step down, and only those are looked at. Nor does it fall by more than the way that the
// window moves, so that from a mild one the next that could be worse is some way off. It holds the steps of the
// longest window.
type mmu struct {
	windows []window
	steps   []step  // of the last second or more, oldest first
	u       float64 // now
	now     int64
	area    float64 // ∫u dt up to now, in nanoseconds
	held    int     // steps after forget had last work to do
}

// window is what is known of windows of one length.
type window struct {
	length int64
	least  float64 // ∫u dt of the worst one
	at     int64   // where that begins
	next   int64   // none that ends before can be worse
}

// step is where u changed: from there on it is u, and area is its integral up to there.
type step struct {
	at   int64
	area float64
	u    float64
	down bool // it may be a step down
}

func newMMU() *mmu {
	m := &mmu{u: 1, steps: []step{{0, 0, 1, true}}, held: 1}
	for _, w := range windows() {
		m.windows = append(m.windows, window{length: w, least: math.Inf(1), next: w})
	}
	return m
}

// set changes the utilization at a time.
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

// pass moves to a time and looks at the windows that begin at a step and ended meanwhile, and, if the
// utilization goes up there or the trace ends, at those that end at it.
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

// look looks at the window that ends at a time, of which it knows the area.
func (w *window) look(end int64, area float64) {
	if area < w.least {
		w.least, w.at = area, end-w.length
	}
	w.next = math.MaxInt64
	if w.least > 0 {
		w.next = end + int64(area-w.least)
	}
}

// mean is the mean utilization of the worst window.
func (w *window) mean() float64 { return w.least / float64(w.length) }

// first is the first of the steps that are held from a time on.
func (m *mmu) first(t int64) int {
	k, _ := slices.BinarySearchFunc(m.steps, t, func(s step, t int64) int { return cmp.Compare(s.at, t) })
	return k
}

// areaAt is the integral up to a time within the steps that are held.
func (m *mmu) areaAt(t int64) float64 {
	s := &m.steps[m.first(t+1)-1]
	return s.area + s.u*float64(t-s.at)
}

// forget drops the steps before the longest window, when there are twice as many as the last time.
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
