package report

import (
	"cmp"
	"math/bits"
	"slices"
)

// walker lays out without an order of the stacks. It is for filters that keep many rows, but drop
// the outer frames of most stacks.
//
// The frames of some of the rows predict which nodes are wide. All rows walk through a trie of
// these nodes, each until its next frame has no node. Only then are they added up where they left
// it, because the processor's caches do not hold the sums beside the trie. How much of them left
// with which frame is added up, too, by a hash: where that could be a wide node, these rows are
// read again, and the trie gets the node. The sample decides how long that takes, but not the
// result.
type walker struct {
	*source
	coder
	nodes    []trieNode // the root first, parents before their children
	table    []uint64   // hash table with open addressing: keyOf a node and a number, and the child
	shift    int        // of hashes, for an index in table
	at       []leavers  // by node
	leftBits int        // of hashes, for an index in left
	left     []int64    // by hash of a node and the next frame: the width of the rows that left with it

	block  [walkers]walking
	n      int     // rows in block
	picks  []int32 // their stacks, if those of the source are not valid for long
	inline []int64 // by node: width of the rows whose call was inlined
	exits  sums    // by row: the node where it left, and the next code
}

// trieNode is a node of the trie.
type trieNode struct {
	number         uint32 // of its key
	parent, depth  int32
	first, sibling int32 // its children, as a list; 0 ends it
}

// leavers is the sums of the rows that left the trie at a node; in the end, of all rows that
// reached it. ends and self are of those whose stacks end there.
type leavers struct{ width, value, ends, self int64 }

const (
	childBits  = 20                // of a node in table
	numberBits = 22                // of a number in keyOf
	codeMask   = 2<<numberBits - 1 // of a code after a node
	hashBits   = 17                // of a hash of sampled rows
	mostLeft   = 18                // bits of a hash of rows that left

	sampleStep = 16 // one of so many rows predicts the nodes
	// likely is the share of the least width of a node that its part of the sample must have. It
	// allows for chance.
	likely = 0.5
)

// newWalker returns nil if too many rows would have to be read again, or if there are too many
// keys.
func newWalker(src *source, inverted bool, o FlameOptions) *walker {
	w := &walker{source: src, coder: newCoder(src.frames, inverted), nodes: []trieNode{{parent: -1}}, exits: src.cache.memory(0)}
	if len(w.keys) >= 1<<numberBits || o.MaxBoxes <= 0 {
		return nil
	}
	w.resize(1 << 10)
	src.finish() // for the same reason in a pass of its own
	w.predict(o)
	w.inline = make([]int64, len(w.nodes))
	src.each(w.walk)
	w.step()
	w.addExits()
	if !w.readAgain(w.least(o)) {
		return nil
	}
	w.addUp()
	return w
}

// hashOf returns the hash of a key, whose highest bits are the best ones.
func hashOf(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 } // 2⁶⁴ divided by the golden ratio

// keyOf returns the key of a node and a number.
func keyOf(node uint64, number uint32) uint64 { return node<<numberBits | uint64(number) }

// add adds a child to a node. It returns 0 if there are too many nodes.
func (w *walker) add(parent int32, number uint32) int32 {
	n := int32(len(w.nodes))
	if n >= 1<<childBits {
		return 0
	}
	if 2*len(w.nodes) > len(w.table) {
		w.resize(2 * len(w.table))
	}
	p := &w.nodes[parent]
	w.nodes = append(w.nodes, trieNode{number: number, parent: parent, depth: p.depth + 1, sibling: p.first})
	w.nodes[parent].first = n
	w.insert(n)
	return n
}

func (w *walker) insert(n int32) {
	key := keyOf(uint64(w.nodes[n].parent), w.nodes[n].number)
	at := hashOf(key) >> w.shift
	for w.table[at] != 0 {
		at = (at + 1) & uint64(len(w.table)-1)
	}
	w.table[at] = key<<childBits | uint64(n)
}

func (w *walker) resize(size int) {
	w.table, w.shift = make([]uint64, size), 64
	for ; size > 1; size /= 2 {
		w.shift--
	}
	for n := 1; n < len(w.nodes); n++ {
		w.insert(int32(n))
	}
}

// predict builds the trie from a sample of the rows, level by level.
func (w *walker) predict(o FlameOptions) {
	type sampled struct {
		node     int32
		from, to int32 // of its codes that are left
		width    int64
	}
	rows := make([]sampled, 0, len(w.values)/sampleStep+1)
	codes := make([]uint32, 0, 16*cap(rows))
	total := int64(0)
	w.sample(sampleStep, func(row int) {
		v := w.values[row]
		if v == 0 || w.rows != nil && !w.rows.Has(row) {
			return
		}
		from := int32(len(codes))
		if codes = w.appendCodes(codes, w.rest(row)); int(from) < len(codes) {
			rows = append(rows, sampled{0, from, int32(len(codes)), abs(v)})
			total += abs(v)
		}
	})
	least := max(1, int64(likely*o.MinShare*float64(total)))
	var widest widths
	width := []int64{total} // by node
	hashed := make([]int64, 1<<hashBits)
	for len(rows) > 0 {
		hash := func(r *sampled) *int64 {
			return &hashed[hashOf(keyOf(uint64(r.node), codes[r.from]>>1))>>(64-hashBits)]
		}
		for i := range rows {
			*hash(&rows[i]) += rows[i].width
		}
		level := len(w.nodes)
		kept := rows[:0]
		for _, r := range rows {
			if *hash(&r) < least {
				continue
			}
			number := codes[r.from] >> 1
			next := int32(w.probe(keyOf(uint64(r.node), number)) & (1<<childBits - 1))
			if next == 0 {
				if next = w.add(r.node, number); next == 0 {
					continue
				}
				width = append(width, 0)
			}
			width[next] += r.width
			if r.node, r.from = next, r.from+1; r.from < r.to {
				kept = append(kept, r)
			}
		}
		for _, width := range width[level:] {
			if width >= least {
				least = max(least, int64(likely*float64(widest.add(width, o.MaxBoxes))))
			}
		}
		rows = slices.DeleteFunc(kept, func(r sampled) bool { return width[r.node] < least })
		clear(hashed)
	}
	w.keepWide(width, least)
	// The rows that left with all but a few hashes should be narrow.
	w.leftBits = min(mostLeft, bits.Len64(uint64(8*likely*float64(total)/float64(least))))
}

// keepWide keeps the nodes of the sample that are at least as wide as least.
func (w *walker) keepWide(width []int64, least int64) {
	all := w.nodes
	w.nodes = []trieNode{{parent: -1}}
	w.resize(1 << 10)
	to := make([]int32, len(all))
	for n := 1; n < len(all); n++ {
		if width[n] >= least {
			to[n] = w.add(to[all[n].parent], all[n].number)
		}
	}
}

// walkers is the number of rows that walk at a time. Most steps wait for memory: the processor
// overlaps those of different rows, but not those of one.
const walkers = 128

// walking is a row on its way through the trie.
type walking struct {
	stack []int32
	at    int32 // in stack; the frames of the location there that were taken
	taken int32
	row   int32
	node  uint32
	v     int64
}

// walk adds a row to those that walk.
func (w *walker) walk(row int, stack []int32) {
	v := w.values[row]
	if v == 0 {
		w.exits[row] = 0
		return
	}
	if w.shown != nil { // the stack is valid until walk returns
		from := len(w.picks)
		w.picks = append(w.picks, stack...)
		stack = w.picks[from:]
	}
	w.block[w.n] = walking{stack: stack, row: int32(row), v: v}
	if w.n++; w.n == walkers {
		w.step()
	}
}

// step moves the rows that walk through the trie, all at the same time, and adds them to the nodes
// where they leave it.
func (w *walker) step() {
	var live [walkers]uint8
	var keys, slots [walkers]uint64
	n := w.n
	for i := range n {
		live[i] = uint8(i)
	}
	table, shift, codes := w.table, w.shift&63, w.codes
	mask := uint64(len(table) - 1)
	for n > 0 {
		for i, k := range live[:n] {
			r := &w.block[k%walkers]
			code := uint32(0)
			if int(r.at) < len(r.stack) {
				at := r.at
				if !w.inverted {
					at = int32(len(r.stack)) - 1 - at
				}
				if code = codes[r.stack[at]]; code < someFrames {
					r.at++
				} else {
					code = w.nextOf(r, code)
				}
			}
			key := uint64(r.node)<<(numberBits+1) | uint64(code)
			keys[i] = key
			slots[i] = table[hashOf(key>>1)>>shift&mask]
		}
		left := 0
		for i, k := range live[:n] {
			slot, key := slots[i], keys[i]
			if slot>>childBits != key>>1 && slot != 0 {
				slot = w.probe(key >> 1)
			}
			r := &w.block[k%walkers]
			if slot == 0 {
				w.exits[r.row] = int64(key)
				continue
			}
			r.node = uint32(slot & (1<<childBits - 1))
			if key&1 != 0 {
				w.inline[r.node] += abs(r.v)
			}
			live[left] = k
			left++
		}
		n = left
	}
	w.n, w.picks = 0, w.picks[:0]
}

// nextOf returns the next code of a row at a location with several frames.
func (w *walker) nextOf(r *walking, location uint32) (code uint32) {
	list := w.list(location)
	code = list[r.taken]
	if r.taken++; int(r.taken) == len(list) {
		r.taken = 0
		r.at++
	}
	return code
}

// probe returns the slot of a key, or 0.
func (w *walker) probe(key uint64) uint64 {
	for at := hashOf(key) >> w.shift; ; at = (at + 1) & uint64(len(w.table)-1) {
		if slot := w.table[at]; slot>>childBits == key || slot == 0 {
			return slot
		}
	}
}

// addExits adds the rows to the nodes where they left the trie.
func (w *walker) addExits() {
	w.left, w.at = make([]int64, 1<<w.leftBits), make([]leavers, len(w.nodes))
	for row, v := range w.values {
		v = w.rows.Select(row, v)
		exit := w.rows.Select(row, w.exits[row]) // of other rows, it is old
		w.exits[row] = exit
		goesOn := -(exit & codeMask) >> 63 // all ones unless the stack ends
		s := &w.at[exit>>(numberBits+1)]
		s.width += abs(v)
		s.value += v
		s.ends += abs(v) &^ goesOn
		s.self += v &^ goesOn
		w.left[w.leftAt(exit)] += abs(v) & goesOn
	}
}

// leftAt returns the index in left of a row that left.
func (w *walker) leftAt(exit int64) uint64 { return hashOf(uint64(exit)>>1) >> (64 - w.leftBits) }

// end adds a row to the node where its stack ends.
func (w *walker) end(node int32, v int64) {
	s := &w.at[node]
	s.width += abs(v)
	s.value += v
	s.ends += abs(v)
	s.self += v
}

// least returns a width that each of the widest nodes has, as far as they are known.
func (w *walker) least(o FlameOptions) int64 {
	all := make([]int64, len(w.nodes))
	for n := len(w.nodes) - 1; n > 0; n-- {
		all[n] += w.at[n].width
		all[w.nodes[n].parent] += all[n]
	}
	all[0] += w.at[0].width
	least := max(1, int64(o.MinShare*float64(all[0])))
	var widest widths
	for _, width := range all[1:] {
		if o.MaxBoxes > 1 {
			least = max(least, widest.add(width, o.MaxBoxes-1)-1)
		}
	}
	return least
}

// again is a row that left the trie at a node, with its next frame.
type again struct {
	key    uint64 // of the node and the frame
	row    int32
	inline bool
}

// readAgain adds the nodes that are at least as wide as least, and not in the trie. It reports
// whether they are few enough.
func (w *walker) readAgain(least int64) bool {
	wide := make([]bool, len(w.left))
	for at, width := range w.left {
		wide[at] = width >= least
	}
	if !slices.Contains(wide, true) {
		return true
	}
	var rows []again
	for row, exit := range w.exits[:len(w.values)] {
		if exit&codeMask != 0 && wide[w.leftAt(exit)] { // its stack goes on
			rows = append(rows, again{uint64(exit) >> 1, int32(row), exit&1 != 0})
		}
	}
	if len(rows) > max(1<<12, len(w.values)/4) {
		return false
	}
	for len(rows) > 0 {
		slices.SortFunc(rows, func(a, b again) int { return cmp.Compare(a.key, b.key) })
		var deeper []again
		for len(rows) > 0 {
			n, width := 0, int64(0)
			for n < len(rows) && rows[n].key == rows[0].key {
				width += abs(w.values[rows[n].row])
				n++
			}
			if width >= least {
				node := w.add(int32(rows[0].key>>numberBits), uint32(rows[0].key&(1<<numberBits-1)))
				if node == 0 {
					return false
				}
				w.at, w.inline = append(w.at, leavers{}), append(w.inline, 0)
				for _, r := range rows[:n] {
					deeper = w.move(deeper, r, node)
				}
			}
			rows = rows[n:]
		}
		rows = deeper
	}
	return true
}

// next appends a row that left the trie at a node.
func (w *walker) next(to []again, row int, stack []int32, node int32) []again {
	code := w.codeAt(stack, w.nodes[node].depth)
	return append(to, again{keyOf(uint64(node), code>>1), int32(row), code&1 != 0})
}

// move moves a row to a new child of the node where it left, and appends it to rows if it goes on.
func (w *walker) move(rows []again, r again, node int32) []again {
	v, s := w.values[r.row], &w.at[w.nodes[node].parent]
	s.width -= abs(v)
	s.value -= v
	if r.inline {
		w.inline[node] += abs(v)
	}
	stack := w.rest(int(r.row))
	if w.codeAt(stack, w.nodes[node].depth) == 0 {
		w.end(node, v)
		return rows
	}
	w.at[node].width += abs(v)
	w.at[node].value += v
	return w.next(rows, int(r.row), stack, node)
}

// addUp adds the sums of nodes to their parents.
func (w *walker) addUp() {
	for n := len(w.nodes) - 1; n > 0; n-- {
		s, p := &w.at[n], &w.at[w.nodes[n].parent]
		p.width += s.width
		p.value += s.value
	}
}

func (w *walker) root() flameNode {
	return flameNode{parent: -1, function: -1, width: w.at[0].width, value: w.at[0].value}
}

func (w *walker) split(n *flameNode, index int32, least int64) (children []flameNode) {
	here := &w.at[n.lo]
	n.ends, n.self = here.ends, here.self
	for c := w.nodes[n.lo].first; c != 0; c = w.nodes[c].sibling {
		if t, s := &w.nodes[c], &w.at[c]; s.width >= least {
			children = append(children, flameNode{
				parent: index, function: w.keys[t.number], depth: t.depth, width: s.width, value: s.value, inline: w.inline[c], lo: c,
			})
		}
	}
	return children
}
