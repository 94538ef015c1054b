package report

import (
	"cmp"
	"slices"
)

// flameNode is a node of the flame graph while it is built.
type flameNode struct {
	parent, function, depth    int32
	seq                        int // order among siblings of equal width
	width, value, self, inline int64
	ends                       int64 // width of the samples that end here

	// Its samples, for a spanSplitter:
	spans []span
	runs  int // number of spans, until they are stored
	// Its samples, for a rowSplitter: entries from lo to hi in one of its two buffers.
	lo, hi int32
	buffer int8
}

// splitter divides nodes by their next frame.
type splitter interface {
	// root returns the node of all samples.
	root() flameNode
	// split divides a node's samples among its children, and returns those that are at least as
	// wide as least. index is the node's number, which becomes their parent. The result is valid
	// until the next call.
	split(n *flameNode, index int32, least int64) []flameNode
	// key returns the names that siblings of equal width are sorted by.
	key(function int32) (name, file string, line int64)
}

// grow returns the nodes to keep, widest first: every node comes after its parent, and siblings are
// in their order.
func grow(s splitter, o FlameOptions) []flameNode {
	root := s.root()
	least := max(1, int64(o.MinShare*float64(root.width)))
	waiting := nodeHeap{root}
	var widest widths
	var kept []flameNode
	for seq := 0; len(waiting) > 0 && (o.MaxBoxes <= 0 || len(kept) < o.MaxBoxes); {
		n := waiting.pop()
		index := int32(len(kept))
		children := s.split(&n, index, least)
		sortChildren(s, children)
		for _, c := range children {
			seq++
			c.seq = seq
			waiting.push(c)
			if o.MaxBoxes > 1 { // the root is one
				least = max(least, widest.add(c.width, o.MaxBoxes-1))
			}
		}
		n.spans = nil
		kept = append(kept, n)
	}
	return kept
}

// sortChildren sorts siblings, widest first.
func sortChildren(s splitter, children []flameNode) {
	slices.SortFunc(children, func(a, b flameNode) int {
		if a.width != b.width {
			return cmp.Compare(b.width, a.width)
		}
		name, file, line := s.key(a.function)
		otherName, otherFile, otherLine := s.key(b.function)
		return cmp.Or(cmp.Compare(name, otherName), cmp.Compare(file, otherFile), cmp.Compare(line, otherLine), cmp.Compare(a.function, b.function))
	})
}

// widths is a heap of the largest widths of nodes, with the smallest at the top.
type widths []int64

// add adds a width. It returns the least width with which a later node is among the most widest
// ones: of nodes with equal widths, earlier ones are kept.
func (h *widths) add(width int64, most int) (least int64) {
	if len(*h) < most {
		*h = append(*h, width)
		a := *h
		for i := len(a) - 1; i > 0 && a[i] < a[(i-1)/2]; i = (i - 1) / 2 {
			a[i], a[(i-1)/2] = a[(i-1)/2], a[i]
		}
	} else if a := *h; width > a[0] {
		a[0] = width
		for i := 0; ; {
			c := 2*i + 1
			if c >= len(a) {
				break
			}
			if c+1 < len(a) && a[c+1] < a[c] {
				c++
			}
			if a[i] <= a[c] {
				break
			}
			a[i], a[c] = a[c], a[i]
			i = c
		}
	}
	if len(*h) < most {
		return 0
	}
	return (*h)[0] + 1
}

// nodeHeap is a heap with the widest node at the top.
type nodeHeap []flameNode

func (h nodeHeap) less(i, j int) bool {
	return h[i].width > h[j].width || h[i].width == h[j].width && h[i].seq < h[j].seq
}

func (h *nodeHeap) push(n flameNode) {
	*h = append(*h, n)
	a := *h
	for i := len(a) - 1; i > 0 && a.less(i, (i-1)/2); i = (i - 1) / 2 {
		a[i], a[(i-1)/2] = a[(i-1)/2], a[i]
	}
}

func (h *nodeHeap) pop() flameNode {
	a := *h
	top, last := a[0], len(a)-1
	a[0] = a[last]
	a[last] = flameNode{} // so that its spans can be freed
	a = a[:last]
	*h = a
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return top
		}
		if c+1 < last && a.less(c+1, c) {
			c++
		}
		if !a.less(c, i) {
			return top
		}
		a[i], a[c] = a[c], a[i]
		i = c
	}
}
