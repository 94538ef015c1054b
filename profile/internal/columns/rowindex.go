package columns

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// RowIndex finds the row that has a stack and label set: open addressing with linear probing. The
// hash is stored with the row number, so that a probe of another row costs one cache miss.
type RowIndex struct {
	seed  uint64
	slots []rowSlot
	n     int
}

type rowSlot struct {
	hash uint32
	row  int32 // plus one; 0 is free
}

// NewRowIndex returns an empty index.
func NewRowIndex() RowIndex {
	return RowIndex{seed: maphash.Comparable(maphash.MakeSeed(), 0), slots: make([]rowSlot, 1024)}
}

// Find returns the row that has this stack and this label set; sets holds the label set of each
// row. If there is none, Find assumes that the caller adds it as the next row.
func (x *RowIndex) Find(stacks *Stacks, sets []int32, stack []int32, set int32) (row int, known bool) {
	if 2*x.n >= len(x.slots) {
		x.Grow(2 * x.n)
	}
	h := uint32(hashStack(x.seed, stack, set))
	mask := uint32(len(x.slots) - 1)
	at := h & mask
	for ; x.slots[at].row != 0; at = (at + 1) & mask {
		row := int(x.slots[at].row - 1)
		if x.slots[at].hash == h && sets[row] == set && slices.Equal(stacks.Row(row), stack) {
			return row, true
		}
	}
	x.slots[at] = rowSlot{h, int32(x.n + 1)}
	x.n++
	return x.n - 1, false
}

// Grow reserves memory for at least rows rows.
func (x *RowIndex) Grow(rows int) {
	size := len(x.slots)
	for size < 2*rows {
		size *= 2
	}
	if size == len(x.slots) {
		return
	}
	old := x.slots
	x.slots = make([]rowSlot, size)
	mask := uint32(size - 1)
	for _, s := range old {
		if s.row == 0 {
			continue
		}
		at := s.hash & mask
		for x.slots[at].row != 0 {
			at = (at + 1) & mask
		}
		x.slots[at] = s
	}
}

// hashStack hashes a stack and its label set: a folded 64×64 bit multiplication for every two ids,
// as in wyhash. The seed is random for each table, so that no input can be constructed to collide.
func hashStack(seed uint64, ids []int32, set int32) uint64 {
	const k = 0x9e3779b97f4a7c15
	h := seed ^ uint64(len(ids))<<32 ^ uint64(uint32(set))
	for len(ids) >= 2 {
		x := uint64(uint32(ids[0])) | uint64(uint32(ids[1]))<<32
		hi, lo := bits.Mul64(h^x, k)
		h = hi ^ lo + seed
		ids = ids[2:]
	}
	if len(ids) == 1 {
		h ^= uint64(uint32(ids[0]))
	}
	hi, lo := bits.Mul64(h, k)
	return hi ^ lo
}
