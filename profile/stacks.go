package profile

import (
	"math/bits"
	"slices"
)

// Pages of the stack column, in ids: the first large ones have pageLen (256 KiB), and every fourth
// is twice as long, up to maxPage (16 MiB), so that little is left empty. Pages keep growth from copying: a column of 38 million frames is never moved.
const (
	pageLen = 1 << 16
	maxPage = 1 << 22
)

// span is where a row's stack stands in the stack column.
type span struct{ page, off, n uint32 }

// stackColumn holds the location indices of all rows' stacks, leaf first.
// A stack never crosses a page; one longer than a page has a page of its own.
type stackColumn struct {
	pages [][]int32
	spans []span
}

// row returns the stack of a row, not to be changed.
func (c *stackColumn) row(i int) []int32 {
	s := c.spans[i]
	return c.pages[s.page][s.off : s.off+s.n]
}

// extensible returns a column that may grow by rows rows without writing to
// pages that c has.
func (c *stackColumn) extensible(rows int) stackColumn {
	out := stackColumn{pages: slices.Clone(c.pages), spans: append(make([]span, 0, len(c.spans)+rows), c.spans...)}
	if last := len(out.pages) - 1; last >= 0 {
		out.pages[last] = slices.Clip(out.pages[last])
	}
	return out
}

// reserve returns room for n ids behind the last stack. The room is only
// taken by commit.
func (c *stackColumn) reserve(n int) []int32 {
	last := len(c.pages) - 1
	if last < 0 || cap(c.pages[last])-len(c.pages[last]) < n {
		size := 1 << 10 // small profiles are the most frequent ones
		if last >= 0 {
			size = min(pageLen<<min(len(c.pages)/4, 6), maxPage)
		}
		page := make([]int32, 0, max(n, size))
		if len(c.pages) >= 16 { // there will be many more
			preferHuge(page)
		}
		c.pages = append(c.pages, page)
		last++
	}
	page := c.pages[last]
	return page[len(page) : len(page)+n]
}

// commit makes the first n ids of the room last reserved the stack of a new row.
func (c *stackColumn) commit(n int) {
	if len(c.pages) == 0 {
		c.pages = append(c.pages, nil)
	}
	last := len(c.pages) - 1
	off := len(c.pages[last])
	c.pages[last] = c.pages[last][:off+n]
	c.spans = appendDoubling(c.spans, span{uint32(last), uint32(off), uint32(n)})
}

// manyRows are so many that a column of them is worth huge pages.
const manyRows = 1 << 18

// appendDoubling appends as the builtin does but doubles large slices too: the
// builtin's factor of 1.25 leaves four times the final size as garbage.
func appendDoubling[T any](s []T, v T) []T {
	if len(s) == cap(s) {
		grown := make([]T, len(s), max(64, 2*cap(s)))
		if cap(grown) >= manyRows {
			preferHuge(grown)
		}
		copy(grown, s)
		s = grown
	}
	return append(s, v)
}

// hashStack mixes a stack and its label set into a hash: a folded 64×64 bit
// multiplication for every two ids, as wyhash does it. The seed is random for
// each table, so that no input can be made to collide.
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
