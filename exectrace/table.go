package exectrace

import "math/rand/v2"

// idTable finds the slot of an id: open addressing, linear probing. It takes any ids: the
// goroutines of a long running server, or what a broken file claims. The hash has a
// random seed, so that no file can be written that fills one place.
type idTable struct {
	slots []idSlot // a power of two, at most half full
	shift uint     // 64 - log2(len(slots))
	n     int
	seed  uint64
}

type idSlot struct {
	id uint64
	at uint32 // none: empty
}

const none = ^uint32(0)

func newIDTable() idTable {
	t := idTable{seed: rand.Uint64()}
	t.resize(10)
	return t
}

func (t *idTable) resize(log uint) {
	old := t.slots
	t.slots = make([]idSlot, 1<<log)
	t.shift = 64 - log
	for i := range t.slots {
		t.slots[i].at = none
	}
	for _, s := range old {
		if s.at != none {
			t.slots[t.place(s.id)] = s
		}
	}
}

// home is where an id stands when nothing is in its way.
func (t *idTable) home(id uint64) int {
	h := (id ^ t.seed) * 0x9e3779b97f4a7c15
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return int(h >> (t.shift & 63))
}

// place returns where id is, or the empty place where it belongs.
func (t *idTable) place(id uint64) int {
	slots := t.slots
	mask := len(slots) - 1
	i := t.home(id)
	for {
		if s := &slots[i&mask]; s.at == none || s.id == id {
			return i & mask
		}
		i++
	}
}

// get returns the slot of id, or none.
func (t *idTable) get(id uint64) uint32 { return t.slots[t.place(id)].at }

// put adds an id that is not there yet.
func (t *idTable) put(id uint64, at uint32) {
	if t.n++; 2*t.n > len(t.slots) {
		t.resize(64 - t.shift + 1)
	}
	t.slots[t.place(id)] = idSlot{id, at}
}

// drop takes an id out and moves those behind it up, so that no probe ends too early.
func (t *idTable) drop(id uint64) {
	hole := t.place(id)
	if t.slots[hole].at == none {
		return
	}
	t.n--
	mask := len(t.slots) - 1
	for i := hole; ; {
		i = (i + 1) & mask
		s := t.slots[i]
		if s.at == none {
			break
		}
		// s may stand in the hole when its home is not between the hole and itself.
		if (i-t.home(s.id))&mask >= (i-hole)&mask {
			t.slots[hole] = s
			hole = i
		}
	}
	t.slots[hole].at = none
}

func (t *idTable) clear() {
	for i := range t.slots {
		t.slots[i].at = none
	}
	t.n = 0
}
