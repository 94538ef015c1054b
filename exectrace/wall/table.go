package wall

import "github.com/hone-go/hone/exectrace"

// what is the kind of time of an interval.
type what uint8

// Running is split by what the goroutine did for the garbage collector. The states after it have a
// reason.
const (
	running what = iota
	assisting
	sweeping
	runnable
	blocked
	inSyscall
)

// key identifies the intervals that share a row. It has two words, which are built, passed and
// compared in registers; a struct with a field for each part would not be.
type key struct{ who, how uint64 }

const openBit = 1

// keyOf returns the key of an interval that has ended. entry is the goroutine's first stack: its
// root is the function that it was started with. left is the stack at which it left the processor,
// 0 while running. wake is the stack of the waker; 0 if there is none.
func keyOf(entry, left, wake exectrace.StackID, what what, why exectrace.Reason) key {
	return key{uint64(entry)<<32 | uint64(left), uint64(wake)<<32 | uint64(why)<<8 | uint64(what)<<1}
}

func (k key) entry() exectrace.StackID { return exectrace.StackID(k.who >> 32) }
func (k key) left() exectrace.StackID  { return exectrace.StackID(k.who) }
func (k key) wake() exectrace.StackID  { return exectrace.StackID(k.how >> 32) }
func (k key) why() exectrace.Reason    { return exectrace.Reason(k.how >> 8) }
func (k key) what() what               { return what(k.how >> 1 & 0x7f) }
func (k key) open() bool               { return k.how&openBit != 0 } // still open at the end of the trace

// from returns the key with another first stack.
func (k key) from(entry exectrace.StackID) key {
	k.who = uint64(entry)<<32 | k.who&(1<<32-1)
	return k
}

// row is a row of the table: 64 bytes, one cache line.
type row struct {
	key
	spans
	// then is the index of the row of the state after a wait (being ready, woken by the same line),
	// plus one.
	then int32
	// again is how many of the sleeps followed a sleep: see slept.
	again uint32
}

// spans is the sums of intervals.
type spans struct {
	n     int64
	total int64 // nanoseconds
	max   int64
	// work is, for waits, how long the goroutines ran between the previous wait and this one:
	// little work and many waits mean that a goroutine only passes things on.
	work int64
	// brief is how many of the waits followed less than tooBrief of work.
	brief int64
}

func (s *spans) merge(o *spans) {
	s.n += o.n
	s.total += o.total
	s.work += o.work
	s.brief += o.brief
	s.max = max(s.max, o.max)
}

// tally is the sums of intervals without work.
type tally struct{ n, total, max int64 }

func (s *tally) add(d int64) {
	s.n++
	s.total += d
	s.max = max(s.max, d)
}

// tooBrief is the work between two waits, in nanoseconds, that costs less than the waits: parking
// and waking a goroutine costs about 0.2 to 1 µs on each side, and about as much for its waker.
// Unlike a mean, a count of such waits is not affected when the machine takes the CPU away for a
// while.
const tooBrief = 5_000

// table finds rows by key: open addressing, since a Go map would take more time than the rest of
// the fold. The index of a row does not change.
type table struct {
	rows  []row
	slots []int32 // index in rows plus one; 0 is free
	// last is, by stack, the last row that was found for goroutines that left the processor there:
	// mostly the next lookup is for the same row.
	last []int32
}

// at returns the index of a row, which it adds if necessary.
func (t *table) at(k key) int32 {
	if left := k.left(); int64(left) < int64(len(t.last)) {
		if at := t.last[left]; t.rows[at].key == k {
			return at
		}
	}
	return t.find(k)
}

func (t *table) find(k key) int32 {
	for int64(k.left()) >= int64(len(t.last)) {
		t.last = append(t.last, make([]int32, max(256, len(t.last)))...)
	}
	mask := uint64(len(t.slots) - 1)
	if mask+1 != 0 {
		for i := k.hash(); ; i++ {
			at := t.slots[i&mask]
			if at == 0 {
				break
			}
			if t.rows[at-1].key == k {
				t.last[k.left()] = at - 1
				return at - 1
			}
		}
	}
	return t.add(k)
}

// add adds a row.
func (t *table) add(k key) int32 {
	if 2*len(t.rows) >= len(t.slots) {
		t.grow()
	}
	t.rows = append(t.rows, row{key: k})
	t.put(int32(len(t.rows)))
	return int32(len(t.rows) - 1)
}

func (t *table) put(at int32) {
	mask := uint64(len(t.slots) - 1)
	i := t.rows[at-1].key.hash()
	for t.slots[i&mask] != 0 {
		i++
	}
	t.slots[i&mask] = at
}

func (t *table) grow() {
	t.slots = make([]int32, max(1<<10, 2*len(t.slots)))
	for at := range t.rows {
		t.put(int32(at + 1))
	}
}

// hash mixes with Fibonacci multipliers (Knuth, The Art of Computer Programming 3, 6.4); the high
// bits, which are mixed best, are moved down at the end.
func (k key) hash() uint64 {
	h := k.who*0x9e3779b97f4a7c15 ^ k.how*0xbf58476d1ce4e5b9
	return h ^ h>>32
}

func (r *row) add(d, work int64) {
	r.n++
	r.total += d
	r.work += work
	if work < tooBrief {
		r.brief++
	}
	r.max = max(r.max, d)
}

// merge adds the intervals of another row.
func (r *row) merge(o *row) {
	r.spans.merge(&o.spans)
	r.again += o.again
}

// take adds running time, which has no work.
func (r *row) take(s tally) {
	r.n += s.n
	r.brief += s.n
	r.total += s.total
	r.max = max(r.max, s.max)
}
