package collector

import "math"

// windows are the lengths for which the least utilization is kept, in nanoseconds.
func windows() []int64 {
	return []int64{100_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000,
		100_000_000, 200_000_000, 500_000_000, 1_000_000_000}
}

// mmu finds the least mutator utilization over every window of some lengths, while time
// passes. Utilization is a step function u(t) of the share of processors that the program has. As a window
// moves, its mean changes by u where it ends less u where it begins: so it is least where the window ends at a
// step up or begins at a step down, and only those are looked at. It holds the steps of the longest window.
type mmu struct {
	windows []window
	steps   []step  // of the last second, oldest first
	u       float64 // now
	now     int64
	area    float64 // ∫u dt up to now, in nanoseconds
}

// window is what is known of windows of one length.
type window struct {
	length int64
	least  float64 // ∫u dt of the worst one
	at     int64   // where that begins
	tail   int     // the first step at which one begins that is not over
	cut    int     // the step within which the one begins that was last looked at for its end
	end    int     // the step within which the one ends that was last looked at for its begin
}

// step is where u changed: from there on it is u, and area is its integral up to there.
type step struct {
	at   int64
	area float64
	u    float64
	down bool // it may be a step down
}

func newMMU() *mmu {
	m := &mmu{u: 1, steps: []step{{0, 0, 1, true}}}
	for _, w := range windows() {
		m.windows = append(m.windows, window{length: w, least: math.Inf(1)})
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
	m.area += m.u * float64(now-m.now)
	m.now = now
	for i := range m.windows {
		w := &m.windows[i]
		for w.tail < len(m.steps) && m.steps[w.tail].at+w.length <= now {
			if s := &m.steps[w.tail]; s.down {
				w.look(s.at, m.areaAt(&w.end, s.at+w.length)-s.area)
			}
			w.tail++
		}
		if ends && now >= w.length {
			w.look(now-w.length, m.area-m.areaAt(&w.cut, now-w.length))
		}
	}
	m.forget()
}

func (w *window) look(begin int64, area float64) {
	if area < w.least {
		w.least, w.at = area, begin
	}
}

// mean is the mean utilization of the worst window.
func (w *window) mean() float64 { return w.least / float64(w.length) }

// areaAt is the integral up to a time within the steps that are held. from is where it was
// asked for last with these windows: time only grows.
func (m *mmu) areaAt(from *int, t int64) float64 {
	k := *from
	for k+1 < len(m.steps) && m.steps[k+1].at <= t {
		k++
	}
	*from = k
	s := &m.steps[k]
	return s.area + s.u*float64(t-s.at)
}

// forget drops the steps before the longest window, when they are half of all.
func (m *mmu) forget() {
	n := m.windows[len(m.windows)-1].cut
	if n < 64 || 2*n < len(m.steps) {
		return
	}
	for i := range m.windows {
		w := &m.windows[i]
		n = min(n, w.tail, w.cut, w.end)
	}
	if n == 0 {
		return
	}
	m.steps = append(m.steps[:0], m.steps[n:]...)
	for i := range m.windows {
		w := &m.windows[i]
		w.tail, w.cut, w.end = w.tail-n, w.cut-n, w.end-n
	}
}
