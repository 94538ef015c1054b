package frames

import (
	"math/bits"

	"github.com/hone-go/hone/profile"
)

// repeats are the frames of the rows that contain a key several times.
type repeats struct {
	rows []uint64 // a bit per row that has some
	// frames has, by 64 rows, the frames whose key repeats, leaf first. Each is the index in
	// Table.List, shifted by shift, the index of its location in the stack, shifted by 1, at most
	// deepest, and 1 if it is the last of its row.
	frames  [][]uint32
	shift   int
	deepest uint32
	memory  []uint32 // for frames
}

// repeatFinder finds repeats, row by row.
type repeatFinder struct {
	table          *Table
	heads, seconds []uint32
	// marks has by key the last row (plus one) that contains it, shifted by 32, and the last one
	// that contains it several times.
	marks  []uint64
	picked []int32 // scratch
}

func (f *Table) newFinder() *repeatFinder {
	n := len(f.Keys) + 1 // one for locations without frames
	return &repeatFinder{table: f, heads: f.KeysAt(0), seconds: f.KeysAt(1), marks: make([]uint64, n)}
}

// wordsPerStep is the number of times 64 rows after which finders call goOn.
const wordsPerStep = 128

// findRepeats returns the repeats of a set of rows. It returns nil when goOn reports false.
func (f *Table) findRepeats(p *profile.Profile, rows []uint64, goOn func() bool) *repeats {
	x, r := f.newFinder(), f.newRepeats(len(rows))
	var found []uint32
	for i, left := range rows {
		if i%wordsPerStep == 0 && !goOn() {
			return nil
		}
		found = found[:0]
		for ; left != 0; left &= left - 1 {
			row := 64*i + bits.TrailingZeros64(left)
			if stack := p.Stack(row); x.mark(stack, uint32(row)+1) {
				found = x.appendRepeats(found, r, stack, uint32(row)+1)
				r.rows[i] |= 1 << (row % 64)
			}
		}
		r.store(i, found)
	}
	return r
}

// finerRepeats returns those of the repeats by other keys that also repeat by the keys of f, which
// distinguish more frames. It returns nil when goOn reports false.
func (f *Table) finerRepeats(known *repeats, goOn func() bool) *repeats {
	x, r := f.newFinder(), f.newRepeats(len(known.rows))
	var found []uint32
	for i, left := range known.rows {
		if i%wordsPerStep == 0 && !goOn() {
			return nil
		}
		found = found[:0]
		for frames := known.frames[i]; left != 0; left &= left - 1 {
			row := 64*i + bits.TrailingZeros64(left)
			n, before := rowLength(frames), len(found)
			found = x.appendFiner(found, frames[:n], r.shift, uint32(row)+1)
			if frames = frames[n:]; len(found) > before {
				r.rows[i] |= 1 << (row % 64)
			}
		}
		r.store(i, found)
	}
	return r
}

// newRepeats returns no repeats, of that many times 64 rows.
func (f *Table) newRepeats(words int) *repeats {
	r := &repeats{rows: make([]uint64, words), frames: make([][]uint32, words), shift: bits.LeadingZeros32(uint32(len(f.List)))}
	r.deepest = 1<<(r.shift-1) - 1
	return r
}

// store stores the frames of 64 rows.
func (r *repeats) store(i int, frames []uint32) {
	if len(frames) > cap(r.memory)-len(r.memory) { // growth would copy, and leave garbage
		r.memory = make([]uint32, 0, max(len(frames), 1<<14))
	}
	from := len(r.memory)
	r.memory = append(r.memory, frames...)
	r.frames[i] = r.memory[from:]
}

// rowLength returns the number of the first frames that are of one row.
func rowLength(frames []uint32) (n int) {
	for frames[n]&1 == 0 {
		n++
	}
	return n + 1
}

// mark marks the keys of a stack, and reports whether some repeat.
func (x *repeatFinder) mark(stack []int32, mark uint32) (repeat bool) {
	if len(x.picked) < len(stack) {
		x.picked = make([]int32, max(256, 2*len(stack)))
	}
	n, repeat := markKeys(x.marks, x.heads, stack, x.picked, mark)
	if n == 0 {
		return repeat
	}
	n, again := markKeys(x.marks, x.seconds, x.picked[:n], x.picked, mark)
	repeat = repeat || again
	for _, l := range x.picked[:n] { // three frames and more are rare
		for _, k := range x.table.List[x.table.Start[l]+2 : x.table.Start[l+1]] {
			repeat = x.markKey(k, mark) || repeat
		}
	}
	return repeat
}

// markKey marks a key, and reports whether it was marked before.
func (x *repeatFinder) markKey(k int32, mark uint32) bool {
	if uint32(x.marks[k]>>32) != mark {
		x.marks[k] = uint64(mark) << 32
		return false
	}
	x.marks[k] |= uint64(mark)
	return true
}

// markKeys marks the key of each location of a stack in keys. It puts the locations with more
// frames into more, which may be stack itself, and returns their number. repeat reports whether a
// key was marked before. It has no branch that is mispredicted, and is separate so that its
// variables stay in registers.
//
//go:noinline
func markKeys(marks []uint64, keys []uint32, stack, more []int32, mark uint32) (n int, repeat bool) {
	any := uint64(0)
	for _, l := range stack {
		k := keys[l]
		more[n] = l
		n += int(k & 1)
		differ := int64(uint32(marks[k>>1]>>32) ^ mark)
		same := uint64((differ-1)>>63) & uint64(mark) // 0 if it does not repeat
		marks[k>>1] = uint64(mark)<<32 | same
		any |= same
	}
	return n, any != 0
}

// appendRepeats appends the frames of a marked stack whose keys repeat.
func (x *repeatFinder) appendRepeats(to []uint32, r *repeats, stack []int32, mark uint32) []uint32 {
	f := x.table
	for _, i := range x.picked[:pickMarked(x.marks, x.heads, stack, x.picked, mark)] {
		for at := f.Start[stack[i]]; at < f.Start[stack[i]+1]; at++ {
			if uint32(x.marks[f.List[at]]) == mark {
				to = append(to, uint32(at)<<r.shift|min(uint32(i), r.deepest)<<1)
			}
		}
	}
	to[len(to)-1]++
	return to
}

// pickMarked picks the indices of the locations of a stack whose first key repeats, and of those
// with more frames. It is like markKeys.
//
//go:noinline
func pickMarked(marks []uint64, keys []uint32, stack, picked []int32, mark uint32) (n int) {
	for i, l := range stack {
		k := keys[l]
		picked[n] = int32(i)
		differ := int64(uint32(marks[k>>1]) ^ mark)
		n += int(uint32((differ-1)>>63)&1 | k&1)
	}
	return n
}

// appendFiner appends those of the repeats of a row that repeat by the keys of the finder.
func (x *repeatFinder) appendFiner(to, row []uint32, shift int, mark uint32) []uint32 {
	repeat := false
	for _, e := range row {
		repeat = x.markKey(x.table.List[e>>shift], mark) || repeat
	}
	if !repeat {
		return to
	}
	for _, e := range row {
		if uint32(x.marks[x.table.List[e>>shift]]) == mark {
			to = append(to, e&^1)
		}
	}
	to[len(to)-1]++
	return to
}

// extras sums by key what sums by location count too often: each frame of a row but the first with
// its key.
type extras struct {
	c     *Costs
	shown *Table // without hidden frames
	keys  []cumSum

	// Of the rows that addPart has not passed:
	word   int // their number, divided by 64
	rows   uint64
	frames []uint32
}

// newExtras returns no sums. The table is that of c, perhaps without hidden frames.
func (c *Costs) newExtras(shown *Table) *extras {
	return &extras{c: c, shown: shown, keys: make([]cumSum, len(shown.Keys)), word: -1}
}

// addRepeats adds those of the rows from 64i to 64i+63 that are in a set.
func (x *extras) addRepeats(i int, rows uint64) {
	r := x.c.repeats
	if rows&r.rows[i] == 0 {
		return
	}
	frames, list, hidden := r.frames[i], x.c.Table.List, x.shown.hidden
	for left := r.rows[i]; left != 0; left &= left - 1 {
		j := bits.TrailingZeros64(left)
		row, in := 64*i+j, rows>>j&1 != 0
		for last := false; !last; frames = frames[1:] {
			frame := frames[0] >> r.shift
			last = frames[0]&1 != 0
			if in && (hidden == nil || !hidden[frame]) {
				x.add(list[frame], int32(row)+1, x.c.values[row])
			}
		}
	}
}

// addPart adds a row of whose stack only the first locations, the innermost, are left. Rows must
// come in their order.
func (x *extras) addPart(row int, stack []int32) {
	r := x.c.repeats
	if r.rows[row/64]>>(row%64)&1 == 0 {
		return
	}
	frames, f := x.framesOf(row), x.shown
	if frames[len(frames)-1]>>1&r.deepest == r.deepest {
		for _, l := range stack {
			for _, k := range f.List[f.Start[l]:f.Start[l+1]] {
				x.add(k, int32(row)+1, x.c.values[row])
			}
		}
		return
	}
	for _, e := range frames {
		if frame := e >> r.shift; e>>1&r.deepest < uint32(len(stack)) && (f.hidden == nil || !f.hidden[frame]) {
			x.add(x.c.Table.List[frame], int32(row)+1, x.c.values[row])
		}
	}
}

// framesOf returns the repeats of a row that has some.
func (x *extras) framesOf(row int) []uint32 {
	if r := x.c.repeats; row/64 != x.word {
		x.word, x.rows, x.frames = row/64, r.rows[row/64], r.frames[row/64]
	}
	for {
		n := rowLength(x.frames)
		of, at := x.frames[:n], 64*x.word+bits.TrailingZeros64(x.rows)
		x.frames, x.rows = x.frames[n:], x.rows&(x.rows-1)
		if at == row {
			return of
		}
	}
}

func (x *extras) add(k, mark int32, v int64) {
	if s := &x.keys[k]; s.row == mark {
		s.cum += v
	} else {
		s.row = mark
	}
}

// subtractFrom subtracts the sums from others by the same keys, and returns these.
func (x *extras) subtractFrom(sums []Sum) []Sum {
	for k := range sums {
		sums[k].Cum -= x.keys[k].cum
	}
	return sums
}
