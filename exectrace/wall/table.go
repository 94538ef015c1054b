package wall

import "github.com/hone-go/hone/exectrace"

// what is the kind of time that an interval is.
type what uint8

// Running is split by what the goroutine did for the collector meanwhile. The
// states after it are followed by their reason.
const (
	running what = iota
	assisting
	sweeping
	runnable
	blocked
	inSyscall
)

// key says which intervals share a row.
type key struct {
	entry exectrace.StackID // the goroutine's first stack: its root says what it was started with
	left  exectrace.StackID // where it left the processor; 0 while running
	wake  exectrace.StackID // who ended a wait, or made it ready; 0 when nobody did
	what  what
	why   exectrace.Reason
	open  bool // still open at the end of the trace
}

// row is a line of the table.
type row struct {
	key
	n     int64
	total int64 // nanoseconds
	max   int64
	// work is how long the goroutines ran between the wait before and this one, for
	// waits: little work and many waits is a goroutine that only passes things on.
	work int64
	// brief of the waits came after less than tooBrief of work.
	brief int64
}

// tooBrief is the work between two waits that is less than the waits cost, in nanoseconds: a
// goroutine that parks and is woken costs some 0.2 to 1 µs on each side, and its waker
// as much. Unlike a mean, a count of these stands when the machine takes the CPU away now and then.
const tooBrief = 5_000

// table finds rows by their key: open addressing, since a Go map would take more
// time than the rest of the fold. Rows keep their place.
type table struct {
	rows  []row
	slots []int32 // place in rows plus one; 0 is free
}

func (t *table) row(k key) *row {
	if 2*len(t.rows) >= len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := k.hash() & mask; ; i = (i + 1) & mask {
		at := t.slots[i]
		if at == 0 {
			t.rows = append(t.rows, row{key: k})
			t.slots[i] = int32(len(t.rows))
			return &t.rows[len(t.rows)-1]
		}
		if r := &t.rows[at-1]; r.key == k {
			return r
		}
	}
}

func (t *table) grow() {
	t.slots = make([]int32, max(1<<10, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for at := range t.rows {
		i := t.rows[at].hash() & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = int32(at + 1)
	}
}

// hash mixes by Fibonacci multipliers (Knuth, The Art of Computer Programming 3, 6.4); the
// high bits, which are mixed best, come down at the end.
func (k key) hash() uint64 {
	h := (uint64(k.entry)<<32 | uint64(k.left)) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	rest := uint64(k.wake)<<17 | uint64(k.why)<<4 | uint64(k.what)<<1
	if k.open {
		rest |= 1
	}
	h = (h ^ rest) * 0xbf58476d1ce4e5b9
	return h ^ h>>32
}

func (r *row) add(d, work int64) {
	r.n++
	r.total += d
	r.work += work
	if work < tooBrief {
		r.brief++
	}
	if d > r.max {
		r.max = d
	}
}
