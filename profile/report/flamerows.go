package report

import "math/bits"

// rowSplitter divides nodes by reading the stacks of their rows. It does not need an order of all
// stacks, so it is for filters that keep few rows or little of each stack.
//
// A row is an entry of 64 bits: the codes of the next frames, a hint of the frame after these, and
// the row. A code is twice the number of a key, plus one if the call was inlined, or zero for the
// end of the stack. After the last code, the entry gets the next ones. The first of these are
// stored by row; later, they are read from the stack again, which most likely is in no cache of
// the processor. The hint spares that for most rows: it divides them so that those of a child have
// the same hint, and a hint whose rows are too narrow has no child. A row whose stack ends in a
// child is added to that child when its parent is divided, and then it is not stored again.
type rowSplitter struct {
	*source
	coder
	top flameNode

	count    int32 // codes in an entry
	codeBits int
	hintBits int // at least 1
	rowBits  int

	// Of split:
	buffers  [2]sums
	children []flameNode
	slot     []int32 // by number: index of the child of the current node, −1 if it is not kept
	seen     []int32 // by number: the node that slot is valid for
	hints    []int64 // by hint: the width of its rows

	// By row or, if there are few, by index in rowNumbers:
	weights []int64
	more    []int64 // the codes after those of its first entry, the first in the lowest bits
	places  []place // up to where its stack was read; nil if unknown

	rowNumbers []int32
	chunks     int32    // entries that more is enough for
	want       []uint32 // scratch of read
}

// place is a position in a stack, times 256 plus the number of frames of its location that were
// read: from the root, the number of locations left, otherwise the number of those before. 0 if it
// is unknown.
type place uint32

// leastHint is the smallest number of bits for hints that is reserved; mostHint is the largest that
// is used.
const (
	leastHint = 6
	mostHint  = 12
)

func newRowSplitter(src *source, inverted bool) *rowSplitter {
	s := &rowSplitter{source: src, coder: newCoder(src.frames, inverted), top: flameNode{parent: -1, function: -1}, weights: src.values}
	memory, n := src.cache.memory(0), len(src.values)
	if src.fewRows() {
		n = src.rows.Len()
		s.buffers, memory = [2]sums{memory[:n], memory[n : 2*n]}, memory[2*n:]
		s.weights, s.more = memory[:0:n], memory[n:2*n]
		s.rowNumbers = make([]int32, 0, n)
	} else {
		s.buffers, s.more = [2]sums{memory[:n], make(sums, n)}, make([]int64, n)
	}
	if src.shown == nil { // otherwise places are not in whole stacks
		s.places = make([]place, n)
	}
	s.setBits(n)
	more := 64 / s.codeBits
	s.chunks = int32(more) / s.count
	s.want = make([]uint32, int(s.count)+more)
	src.each(func(row int, stack []int32) {
		v := src.values[row]
		if v == 0 {
			return
		}
		i := row
		if s.rowNumbers != nil {
			i = len(s.rowNumbers)
			s.rowNumbers, s.weights = append(s.rowNumbers, int32(row)), append(s.weights, v)
		}
		s.buffers[0][s.top.hi] = s.first(i, stack)
		s.top.hi++
		s.top.value += v
		s.top.width += abs(v)
	})
	return s
}

// first returns the entry for the first frames of a stack, and stores the codes after these.
func (s *rowSplitter) first(i int, stack []int32) int64 {
	next := s.read(stack, 0, 0, s.want, int(s.count*(1+s.chunks)))
	if s.places != nil {
		s.places[i] = next
	}
	var codes uint64
	for at := len(s.want) - 1; at >= int(s.count); at-- {
		codes = codes<<s.codeBits | uint64(s.want[at])
	}
	s.more[i] = int64(codes)
	return s.entry(s.want, i)
}

// entry returns an entry with the first codes, and with the hint of the one after them.
func (s *rowSplitter) entry(codes []uint32, i int) int64 {
	e := uint64(0)
	for _, code := range codes[:s.count] {
		e = e<<s.codeBits | uint64(code)
	}
	return int64((e<<s.hintBits|s.hint(codes))<<s.rowBits | uint64(i))
}

// hint returns bits of the number of the key after the codes of an entry: zero if the stack ends
// before, otherwise not.
func (s *rowSplitter) hint(codes []uint32) uint64 {
	const factor = 0x9e3779b1 // 2³² divided by the golden ratio, so that each bit depends on all
	switch {
	case codes[s.count-1] == 0 || len(codes) > int(s.count) && codes[s.count] == 0:
		return 0
	case len(codes) == int(s.count): // it is unknown
		return 1
	}
	return max(1, uint64(codes[s.count]>>1*factor)>>(32-s.hintBits))
}

// setBits decides what is in an entry, for up to n rows.
func (s *rowSplitter) setBits(n int) {
	s.slot, s.seen = make([]int32, len(s.keys)), make([]int32, len(s.keys))
	s.rowBits = bits.Len(uint(n))
	s.codeBits = bits.Len(uint(2*len(s.keys) - 1))
	s.count = int32(max(1, (64-s.rowBits-leastHint)/s.codeBits))
	s.hintBits = min(mostHint, 64-s.rowBits-int(s.count)*s.codeBits)
	s.hints = make([]int64, 1<<s.hintBits)
}

// read sets want to the next codes of a stack, from a location on after skip frames. It returns the
// place of the code with the index mark.
func (s *rowSplitter) read(stack []int32, from int, skip int32, want []uint32, mark int) (next place) {
	n := 0
	for i := from; i < len(stack); i++ {
		l := stack[i]
		if !s.inverted {
			l = stack[len(stack)-1-i]
		}
		code := s.codes[l]
		if code == noFrames {
			continue
		}
		end, list := int32(1), []uint32(nil)
		if code >= someFrames {
			list = s.list(code)
			end = int32(len(list))
		}
		for taken := range end {
			if skip > 0 {
				skip--
				continue
			}
			if n == mark {
				next = s.placeOf(i, len(stack)-i, taken)
			}
			if n == len(want) {
				return next
			}
			if end > 1 {
				code = list[taken]
			}
			want[n] = code
			n++
		}
	}
	clear(want[n:])
	return next
}

// placeOf returns a place, or that it is unknown if its numbers are too large.
func (s *rowSplitter) placeOf(before, left int, taken int32) place {
	locations := before
	if !s.inverted {
		locations = left
	}
	if locations >= 1<<24 || taken > 0xff {
		return 0
	}
	return place(locations<<8) | place(taken)
}

func (s *rowSplitter) root() flameNode { return s.top }

func (s *rowSplitter) split(n *flameNode, index int32, least int64) []flameNode {
	entries := s.buffers[n.buffer][n.lo:n.hi]
	at := n.depth % s.count
	if at == 0 && n.depth > 0 {
		entries = s.continued(n, entries, least)
	}
	shift := s.rowBits + s.hintBits + int(s.count-1-at)*s.codeBits
	mask, after := uint64(1)<<s.codeBits-1, s.goesOn(at)
	s.children = s.children[:0]
	s.withValues(entries, func(entries, values []int64) {
		for i, e := range entries {
			code, v := uint64(e)>>shift&mask, values[i]
			width := abs(v)
			if code == 0 {
				n.self += v
				n.ends += width
				continue
			}
			number := code >> 1
			if mark := index + 1; s.seen[number] != mark {
				s.seen[number], s.slot[number] = mark, int32(len(s.children))
				s.children = append(s.children, flameNode{parent: index, function: s.keys[number], depth: n.depth + 1})
			}
			child := &s.children[s.slot[number]]
			child.value += v
			child.width += width
			child.inline += width & -int64(code&1)
			on := int64(uint64(e) & after)
			on = (on | -on) >> 63 // all ones if the stack goes on
			child.hi -= int32(on) // the number of these rows, for now
			child.self += v &^ on
			child.ends += width &^ on
		}
	})
	return s.store(n, entries, shift, after, least)
}

// goesOn returns the bits of an entry after its code at an index: all are zero if and only if the
// stack ends with it.
func (s *rowSplitter) goesOn(at int32) uint64 {
	left := int(s.count - 1 - at)
	if left == 0 {
		return (1<<s.hintBits - 1) << s.rowBits
	}
	return (1<<s.codeBits - 1) << (s.rowBits + s.hintBits + (left-1)*s.codeBits)
}

// withValues calls use with some entries at a time and the values of their rows. Most values are in
// no cache of the processor: it reads several at a time, unless branches that it does not predict
// are between.
func (s *rowSplitter) withValues(entries []int64, use func(entries, values []int64)) {
	var values [256]int64
	for len(entries) > 0 {
		n := min(len(values), len(entries))
		for i, e := range entries[:n] {
			values[i] = s.weights[s.indexOf(e)]
		}
		use(entries[:n], values[:n])
		entries = entries[n:]
	}
}

// indexOf returns the index of an entry's row in weights, more and places.
func (s *rowSplitter) indexOf(e int64) int { return int(uint64(e) & (1<<s.rowBits - 1)) }

// store stores the entries of children that are at least as wide as least in the other buffer, at
// the positions of their parent, and returns these children.
func (s *rowSplitter) store(n *flameNode, entries []int64, shift int, after uint64, least int64) []flameNode {
	kept, at := s.children[:0], n.lo
	for _, c := range s.children {
		number := s.numbers[c.function]
		if s.slot[number] = -1; c.width < least {
			continue
		}
		s.slot[number] = int32(len(kept))
		rows := c.hi
		c.lo, c.hi, c.buffer = at, at, 1-n.buffer
		at += rows
		kept = append(kept, c)
	}
	to := s.buffers[1-n.buffer]
	for _, e := range entries {
		number := uint64(e) >> shift & (1<<s.codeBits - 1) >> 1
		if number == 0 || uint64(e)&after == 0 || s.slot[number] < 0 {
			continue
		}
		c := &kept[s.slot[number]]
		to[c.hi] = e
		c.hi++
	}
	return kept
}

// continued replaces the entries of a node, of which all codes were used, by the next codes of
// those rows that may be in a child that is at least as wide as least. It returns these entries.
func (s *rowSplitter) continued(n *flameNode, entries []int64, least int64) []int64 {
	hintOf := func(e int64) uint64 { return uint64(e) >> s.rowBits & (1<<s.hintBits - 1) }
	clear(s.hints)
	s.withValues(entries, func(entries, values []int64) {
		for i, e := range entries {
			s.hints[hintOf(e)] += abs(values[i])
		}
	})
	left, chunk := entries[:0], n.depth/s.count-1
	if chunk == s.chunks && int(s.chunks*s.count) == 64/s.codeBits {
		least = 0 // the last stored codes have no hint: rows may end here
	}
	for _, e := range entries {
		if s.hints[hintOf(e)] >= least {
			left = append(left, e)
		}
	}
	if chunk < s.chunks {
		s.takeStored(left, int(chunk*s.count))
		return left
	}
	for at, e := range left {
		i, codes := s.indexOf(e), s.want[:s.count+1]
		s.readAgain(i, n.depth, codes)
		left[at] = s.entry(codes, i)
	}
	return left
}

// takeStored replaces entries by those with the codes that are stored of their rows, from that one
// on. Like withValues, it first reads what is in no cache.
func (s *rowSplitter) takeStored(entries []int64, from int) {
	var stored [256]uint64
	codes := s.want[:min(int(s.count)+1, 64/s.codeBits-from)]
	mask := uint64(1)<<s.codeBits - 1
	for len(entries) > 0 {
		block := entries[:min(len(stored), len(entries))]
		for at, e := range block {
			stored[at] = uint64(s.more[s.indexOf(e)])
		}
		for at, e := range block {
			left := stored[at] >> (from * s.codeBits)
			for k := range codes {
				codes[k] = uint32(left & mask)
				left >>= s.codeBits
			}
			block[at] = s.entry(codes, s.indexOf(e))
		}
		entries = entries[len(block):]
	}
}

// readAgain reads the next codes of a row after depth frames from its stack.
func (s *rowSplitter) readAgain(i int, depth int32, codes []uint32) {
	row, at := i, place(0)
	if s.rowNumbers != nil {
		row = int(s.rowNumbers[i])
	}
	if s.places != nil {
		at = s.places[i]
	}
	skip, from := int32(at&0xff), int(at>>8)
	stack := s.p.Stack(row)
	switch {
	case at == 0:
		stack, skip = s.cutStack(row), depth
	case s.inverted:
		stack = s.cutStack(row)
	default:
		stack, from = stack[:from], 0
	}
	if next := s.read(stack, from, skip, codes, int(s.count)); s.places != nil {
		s.places[i] = next
	}
}
