package exectrace

import "math/rand/v2"

// idTable maps ids to indices of things that are numbered from 0: open addressing, linear probing.
// It accepts any ids: those of the goroutines of a server that has run for long, or those in a
// damaged file. The hash has a random seed, so that no file can be made whose ids all collide.
//
// The slots hold only indices, so that those of a few thousand goroutines stay in the L1 cache.
type idTable struct {
	slots []uint32 // length: a power of two; at most half full; none: empty
	ids   []uint64 // by index
	shift uint     // 64 - log2(len(slots))
	n     int
	seed  uint64
}

const none = ^uint32(0)

func newIDTable() idTable {
	t := idTable{seed: rand.Uint64()}
	t.resize(10)
	return t
}

func (t *idTable) resize(log uint) {
	old := t.slots
	t.slots = make([]uint32, 1<<log)
	t.shift = 64 - log
	for i := range t.slots {
		t.slots[i] = none
	}
	for _, at := range old {
		if at != none {
			t.slots[t.find(t.ids[at])] = at
		}
	}
}

// home returns the slot of an id if there is no collision.
func (t *idTable) home(id uint64) int {
	return int((id ^ t.seed) * 0x9e3779b97f4a7c15 >> (t.shift & 63))
}

// find returns the slot of id, or the empty slot where it belongs.
func (t *idTable) find(id uint64) int {
	mask := len(t.slots) - 1
	i := t.home(id)
	for {
		at := t.slots[i&mask]
		if at == none || t.ids[at] == id {
			return i & mask
		}
		i++
	}
}

// get returns the index of id, or none.
func (t *idTable) get(id uint64) uint32 {
	slots, ids := t.slots, t.ids
	mask := len(slots) - 1
	i := t.home(id)
	for {
		at := slots[i&mask]
		if at == none || ids[at] == id {
			return at
		}
		i++
	}
}

// put adds an id that is not in the table.
func (t *idTable) put(id uint64, at uint32) {
	for len(t.ids) <= int(at) {
		t.ids = append(t.ids, 0)
	}
	if t.n++; 2*t.n > len(t.slots) {
		t.resize(64 - t.shift + 1)
	}
	i := t.find(id)
	t.slots[i], t.ids[at] = at, id
}

// drop removes an id and moves up those after it, so that no search stops too early.
func (t *idTable) drop(id uint64) {
	hole := t.find(id)
	if t.slots[hole] == none {
		return
	}
	t.n--
	mask := len(t.slots) - 1
	for i := hole; ; {
		i = (i + 1) & mask
		at := t.slots[i]
		if at == none {
			break
		}
		// The entry may move into the hole if its home is not between the hole and itself.
		if (i-t.home(t.ids[at]))&mask >= (i-hole)&mask {
			t.slots[hole] = at
			hole = i
		}
	}
	t.slots[hole] = none
}

func (t *idTable) clear() {
	for i := range t.slots {
		t.slots[i] = none
	}
	t.n = 0
}
