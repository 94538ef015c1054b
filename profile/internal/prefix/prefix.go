package prefix

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/hone-go/hone/profile"
)

// Order is the rows of a profile, sorted by the locations of their stacks: from the outermost
// caller or, inverted, from the leaf. Rows that share their first locations are sorted further when
// a node below those locations is first divided. An Order is therefore not safe for concurrent use.
type Order struct {
	rows   []int32  // by position
	shared []uint8  // by position: number of locations that it shares with the position before
	next   []uint64 // by row: the key of the locations after those that all rows are sorted by; nil after Trim
	first  int      // number of locations in a key
	sort   sorter

	nodes []Child // that were divided, and their children; at most mostNodes. The first is the root
	ends  []int   // scratch of Divide
	found []Child // scratch of Divide

	keys    []uint64 // scratch of sortGroup
	scratch []int32  // scratch of sortGroup
}

// Node is a node of the tree: positions Lo to Hi, whose stacks share Depth locations.
type Node struct {
	Lo, Hi int32
	Depth  uint32
	at     int32 // its index in Order.nodes, −1 for none
}

// Child is a child of a node. It starts where the child before it ends.
type Child struct {
	Hi       int32
	Location int32 // the next location of its stacks, −1 if they end here
	first, n int32 // its children in Order.nodes; 0 if it was not divided yet
}

// Children are the children of a node.
type Children struct {
	List  []Child
	node  Node
	first int32 // index of the first in Order.nodes, −1 for none
}

// Node returns a child as a node, without its location. lo is where it starts.
func (c Children) Node(i int, lo int32) Node {
	n := Node{Lo: lo, Hi: c.List[i].Hi, Depth: c.node.Depth, at: -1}
	if c.first >= 0 {
		n.at = c.first + int32(i)
	}
	return n
}

// Bits of Order.shared.
const (
	mostShared = 0x7f // the largest number that is stored: from that depth on, locations are compared
	unsorted   = 0x80 // the position shares at least the other bits, and is not sorted by what follows
)

// few is the number of rows up to which sorting takes longer than to treat each as a node.
const few = 32

// New sorts the rows of p by their first locations. scratch is memory for as many numbers as there
// are rows. A small Order takes less memory until Trim, and more time.
func New(p *profile.Profile, inverted, small bool, scratch []int64) *Order {
	n := p.NumSamples()
	o := &Order{rows: make([]int32, n), shared: make([]uint8, n)}
	if !small {
		o.next = make([]uint64, n)
	}
	o.sort = sorter{p: p, pages: p.StackPages(), inverted: inverted, width: bits.Len(uint(len(p.Locations)))}
	o.first = 3
	if o.first*o.sort.width > 64 {
		o.first = 64 / o.sort.width
	}
	o.sortFirst(scratch[:n])
	o.nodes = make([]Child, 1)
	return o
}

// Root returns the node with all positions.
func (o *Order) Root() Node { return Node{Hi: int32(len(o.rows))} }

// Rows returns the row at each position. It must not be changed; Divide changes it.
func (o *Order) Rows() []int32 { return o.rows }

// Trim frees memory that only makes sorting faster. The first graph sorts most of what later ones
// need.
func (o *Order) Trim() { o.next = nil }

// mostNodes returns the number of nodes that are stored: those that are divided first, which most
// graphs need.
func (o *Order) mostNodes() int { return 1<<10 + len(o.rows)/6 }

// Divide returns the children of a node, until the next call. The stacks of a child share the next
// location, too; a stack that ends here is a child of its own, and so may be each of a few stacks.
// Divide calls sorted with positions that it sorted.
func (o *Order) Divide(n Node, sorted func(lo, hi int)) Children {
	if n.at >= 0 {
		if at := o.nodes[n.at]; at.n > 0 {
			return Children{o.nodes[at.first : at.first+at.n], n, at.first}
		}
	}
	o.ends = o.divide(int(n.Lo), int(n.Hi), n.Depth, o.ends[:0], sorted)
	o.found = o.found[:0]
	lo := int(n.Lo)
	for _, end := range o.ends {
		o.found = append(o.found, Child{Hi: int32(end), Location: o.Location(lo, n.Depth)})
		lo = end
	}
	if n.at < 0 || len(o.nodes)+len(o.found) > o.mostNodes() {
		return Children{o.found, n, -1}
	}
	first := int32(len(o.nodes))
	o.nodes = append(o.nodes, o.found...)
	o.nodes[n.at].first, o.nodes[n.at].n = first, int32(len(o.found))
	return Children{o.nodes[first:], n, first}
}

// divide appends to ends the ends of the children of a node.
func (o *Order) divide(lo, hi int, depth uint32, ends []int, sorted func(lo, hi int)) []int {
	if lo == hi {
		return ends
	}
	for i := lo + 1; i < hi; i++ {
		switch s := o.shared[i]; {
		case s >= unsorted:
			if depth < uint32(s-unsorted) {
				continue
			}
			end := i + 1 // of the positions that it is not sorted with
			for end < hi && o.shared[end] == s {
				end++
			}
			if end-i < few {
				for ; i < end; i++ {
					ends = append(ends, i)
				}
			} else {
				o.sortGroup(i-1, end, depth)
				sorted(i-1, end)
			}
			i-- // after those that are nodes now, or the first again, now that it is sorted
		case s < mostShared:
			if uint32(s) <= depth {
				ends = append(ends, i)
			}
		case depth >= mostShared:
			if a, b := o.Location(i-1, depth), o.Location(i, depth); a != b || a < 0 {
				ends = append(ends, i)
			}
		}
	}
	return append(ends, hi)
}

// Location returns the location at a depth of the stack at a position, −1 beyond its end.
func (o *Order) Location(i int, depth uint32) int32 {
	page, off, n := o.sort.p.StackPlace(int(o.rows[i]))
	switch {
	case depth >= n:
		return -1
	case o.sort.inverted:
		return o.sort.pages[page][off+depth]
	}
	return o.sort.pages[page][off+n-1-depth]
}

// keyed is a row with a key of its stack.
type keyed struct {
	key uint64
	row int32
}

// digit is the number of bits that a pass of sorting looks at.
const digit = 11

// sortFirst sorts all rows by the key of their first locations: first by its highest digit, so that
// the rest of the work needs little memory, which the processor's caches hold. keys has space for a
// key per row.
func (o *Order) sortFirst(keys []int64) {
	all := uint64(0)
	for row := range o.rows {
		key := o.sort.key(int32(row), 0, o.first)
		keys[row] = int64(key)
		all |= key
	}
	low := max(0, bits.Len64(all)-digit) // few locations are the first of a stack
	var start [1<<digit + 1]int
	for _, key := range keys {
		start[uint64(key)>>low+1]++
	}
	for d := range 1 << digit {
		start[d+1] += start[d]
	}
	at := start
	for row, key := range keys {
		next := &at[uint64(key)>>low]
		o.rows[*next] = int32(row)
		*next++
		if o.next != nil {
			o.next[row] = o.sort.key(int32(row), uint32(o.first), o.first)
		}
	}
	var part, scratch []keyed
	last := uint64(0)
	for d := range 1 << digit {
		rows := o.rows[start[d]:start[d+1]]
		part = part[:0]
		for _, row := range rows {
			part = append(part, keyed{uint64(keys[row]), row})
		}
		scratch = sortKeyed(part, scratch, low)
		for i, k := range part {
			rows[i] = k.row
			if at := start[d] + i; at > 0 {
				o.share(at, last, k.key, 0, o.first)
			}
			last = k.key
		}
	}
}

// sortKeyed sorts rows by the lowest bits of their keys; the others are equal. It returns scratch
// memory for the next call.
func sortKeyed(rows, scratch []keyed, bits int) []keyed {
	const many = 512 // from here on, digit by digit takes less time
	if len(rows) < many {
		slices.SortFunc(rows, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
		return scratch
	}
	if len(scratch) < len(rows) {
		scratch = make([]keyed, len(rows))
	}
	from, to := rows, scratch[:len(rows)]
	for shift := 0; shift < bits; shift += digit {
		var next [1<<digit + 1]int32
		for i := range from {
			next[from[i].key>>shift&(1<<digit-1)+1]++
		}
		for d := range 1 << digit {
			next[d+1] += next[d]
		}
		for i := range from {
			d := from[i].key >> shift & (1<<digit - 1)
			to[next[d]] = from[i]
			next[d]++
		}
		from, to = to, from
	}
	copy(rows, from) // of itself, or of scratch
	return scratch
}

// share stores what a position shares with the one before: depth locations, and those that the keys
// of the count locations that follow have in common.
func (o *Order) share(i int, before, key uint64, depth uint32, count int) {
	same, equal := o.sort.same(before, key, count)
	o.shared[i] = uint8(depth + same)
	if equal {
		o.shared[i] |= unsorted
	}
}

// sortGroup sorts positions whose stacks share depth locations by some of the next locations.
func (o *Order) sortGroup(lo, hi int, depth uint32) {
	n := hi - lo
	index := bits.Len(uint(n - 1)) // bits for a row within the group
	count := min(o.first, (64-index)/o.sort.width)
	if count == 0 || depth+uint32(count) > mostShared {
		o.sortDeep(lo, hi, depth)
		return
	}
	if cap(o.keys) < n {
		o.keys, o.scratch = make([]uint64, n), make([]int32, n)
	}
	keys, rows := o.keys[:n], o.scratch[:n]
	copy(rows, o.rows[lo:hi])
	for i, row := range rows {
		var key uint64
		if o.next != nil && depth == uint32(o.first) {
			key = o.next[row] >> ((o.first - count) * o.sort.width)
		} else {
			key = o.sort.key(row, depth, count)
		}
		keys[i] = key<<index | uint64(i)
	}
	if n < 12 {
		insertionSort(keys)
	} else {
		slices.Sort(keys)
	}
	for i, key := range keys {
		o.rows[lo+i] = rows[key&(1<<index-1)]
		if i > 0 {
			o.share(lo+i, keys[i-1]>>index, key>>index, depth, count)
		}
	}
}

// sortDeep sorts positions whose stacks share depth locations completely.
func (o *Order) sortDeep(lo, hi int, depth uint32) {
	slices.SortFunc(o.rows[lo:hi], func(a, b int32) int {
		order, _ := o.sort.compare(a, b, depth)
		return order
	})
	for i := lo + 1; i < hi; i++ {
		_, same := o.sort.compare(o.rows[i-1], o.rows[i], depth)
		o.shared[i] = uint8(min(same, mostShared))
	}
}

func insertionSort(keys []uint64) {
	for i := 1; i < len(keys); i++ {
		key, j := keys[i], i
		for ; j > 0 && keys[j-1] > key; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = key
	}
}

// sorter reads stacks as numbers that sort as they do.
type sorter struct {
	p        *profile.Profile
	pages    [][]int32
	inverted bool
	width    int // bits for a location and for the end of a stack
}

// key packs count locations of a stack, from a depth on, each plus one. Zero stands for the end of
// the stack, so that a stack comes before those that it is a prefix of.
func (s *sorter) key(row int32, depth uint32, count int) (key uint64) {
	page, off, n := s.p.StackPlace(int(row))
	if depth >= n {
		return 0
	}
	left, at, step := int(n-depth), int(off+n-1-depth), -1
	if s.inverted {
		at, step = int(off+depth), 1
	}
	stack := s.pages[page]
	for range min(count, left) {
		key = key<<s.width | uint64(stack[at]+1)
		at += step
	}
	if count > left {
		key <<= s.width * (count - left)
	}
	return key
}

// same returns how many locations two keys share. equal reports whether their stacks may share
// more: they have all locations in common, and do not end with them.
func (s *sorter) same(a, b uint64, count int) (same uint32, equal bool) {
	last := uint64(1)<<s.width - 1
	if a == b && a&last != 0 {
		return uint32(count), true
	}
	diff := a ^ b
	for at := (count - 1) * s.width; at >= 0 && diff>>at&last == 0 && a>>at&last != 0; at -= s.width {
		same++
	}
	return same, false
}

// compare compares two stacks that share depth locations. same is the number of locations that they
// share.
func (s *sorter) compare(a, b int32, depth uint32) (order int, same uint32) {
	for ; ; depth++ {
		x, y := s.key(a, depth, 1), s.key(b, depth, 1)
		if x != y || x == 0 {
			return cmp.Compare(x, y), depth
		}
	}
}
