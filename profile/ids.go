package profile

// idTable maps the ids of a table's entries in the file to indices. Ids are any numbers except 0,
// but nearly always 1 to n in order, which costs nothing.
type idTable struct {
	kind   string
	n      int              // number of entries while they are in order
	sparse map[uint64]int32 // all entries, once they are not
	dense  []int32          // the same by id, −1 for none; nil when the ids are too sparse
	max    uint64
}

func (t *idTable) add(id uint64, index int) error {
	if id == 0 {
		return syntaxErrorf(-1, t.kind, "entry %d has the id 0", index)
	}
	t.max = max(t.max, id)
	if t.sparse == nil {
		if id == uint64(index)+1 {
			t.n++
			return nil
		}
		t.sparse = make(map[uint64]int32, index)
		for i := range index {
			t.sparse[uint64(i)+1] = int32(i)
		}
	}
	if _, dup := t.sparse[id]; dup {
		return syntaxErrorf(-1, t.kind, "two entries have the id %d", id)
	}
	t.sparse[id] = int32(index)
	return nil
}

// seal ends the additions; find may be called afterwards.
func (t *idTable) seal() {
	if t.sparse == nil || t.max > 8*uint64(len(t.sparse))+1024 {
		return
	}
	t.dense = make([]int32, t.max+1)
	for i := range t.dense {
		t.dense[i] = -1
	}
	for id, i := range t.sparse {
		t.dense[id] = i
	}
}

// find returns the index of an id, −1 when there is none.
func (t *idTable) find(id uint64) int32 {
	switch {
	case t.sparse == nil:
		if id-1 < uint64(t.n) {
			return int32(id - 1)
		}
		return -1
	case t.dense != nil:
		if id < uint64(len(t.dense)) {
			return t.dense[id]
		}
		return -1
	}
	if i, ok := t.sparse[id]; ok {
		return i
	}
	return -1
}
