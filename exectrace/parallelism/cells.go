package parallelism

import "math"

// cell is the time with k of the program's goroutines running and with none or some ready.
// Everything else that is charged follows from these two. The numbers of processors, of the
// runtime's workers and of assists matter too, but change rarely: a cell is renewed when it is
// first used after such a change.
type cell struct {
	ns      int64 // nanoseconds not charged yet
	version int64 // version of these fields; if older than the fold's, they are stale

	alone int64 // all bits set when this is serial time, else 0
	held  bool  // a goroutine is ready and a processor runs no goroutine
	works int   // goroutines that do the program's own work

	// For the tail, which must see each interval once a region has lasted for patience. Before
	// that, it only needs to know that the region is full, or that there is none: over is then
	// notFull, else 0.
	patience int64
	over     int64
	_        int64 // pads the cell to 64 bytes, so that indexing is a shift
}

// atOnce is less than the length of any region, and more than the difference of any time and
// notFull.
const atOnce = -1 << 62

// cellAt returns the index of a cell.
func cellAt(running, ready int) int {
	k := 2 * running
	if ready > 0 {
		k++
	}
	return k
}

// renew charges the time of a cell and updates the cell to the current state.
//
//go:noinline
func (f *Fold) renew(k int) {
	for k >= len(f.cells) {
		f.cells = append(f.cells, cell{})
	}
	c := &f.cells[k]
	running, ready := k/2, k%2 > 0
	if c.ns > 0 {
		f.busy = count(f.busy, running, c.ns)
		f.marking.pass(c.works, c.ns)
		if c.held {
			f.held += c.ns
		}
	}
	lacking := running+f.workers < f.procs
	*c = cell{version: f.version, works: f.marking.works(running), held: ready && lacking}
	if running == 1 && !ready && f.procs > 1 {
		c.alone = -1
	}
	switch {
	case f.procs > 1 && (!lacking || running > 1 && ready):
		c.patience = math.MaxInt64
	case f.procs > 1 && running <= 1:
		c.patience, c.over = minRegion, notFull
	default:
		c.patience, c.over = atOnce, notFull
	}
}

// settle charges the time of all cells.
func (f *Fold) settle() {
	f.version++
	for k := range f.cells {
		f.renew(k)
	}
	f.marking.now[f.marking.index()].calls += f.calls
	f.calls = 0
}
