package columns

import (
	"slices"
)

// Pages of the stack column, in ids. The first large ones have PageLen (256 KiB), and every fourth
// page doubles the size, up to maxPage (16 MiB), so that little memory is unused. Because of the
// pages, growth does not copy: a column of 38 million frames is never moved.
const (
	PageLen = 1 << 16
	maxPage = 1 << 22
)

// Span is the position of a row's stack in the column.
type Span struct{ Page, Off, N uint32 }

// Stacks holds the stacks of all rows, leaf first: one run of int32 per row. A stack never crosses
// a page; one longer than a page has its own page.
type Stacks struct {
	pages [][]int32
	Spans []Span // one per row; rows may share a stack
}

// Row returns the stack of a row. It must not be changed.
func (c *Stacks) Row(i int) []int32 {
	s := c.Spans[i]
	return c.pages[s.Page][s.Off : s.Off+s.N]
}

// Pages returns the pages that spans refer to. They must not be changed.
func (c *Stacks) Pages() [][]int32 { return c.pages }

// Extensible returns a column that can grow by rows rows without writing to the pages of c.
func (c *Stacks) Extensible(rows int) Stacks {
	out := Stacks{pages: slices.Clone(c.pages), Spans: append(make([]Span, 0, len(c.Spans)+rows), c.Spans...)}
	if last := len(out.pages) - 1; last >= 0 {
		out.pages[last] = slices.Clip(out.pages[last])
	}
	return out
}

// Reserve returns memory for n ids after the last stack. Only Commit makes use of it permanent.
func (c *Stacks) Reserve(n int) []int32 {
	last := len(c.pages) - 1
	if last < 0 || cap(c.pages[last])-len(c.pages[last]) < n {
		size := 1 << 10 // small profiles are the most frequent ones
		if last >= 0 {
			size = min(PageLen<<min(len(c.pages)/4, 6), maxPage)
		}
		page := make([]int32, 0, max(n, size))
		if len(c.pages) >= 16 { // many more will follow
			preferHuge(page)
		}
		c.pages = append(c.pages, page)
		last++
	}
	page := c.pages[last]
	return page[len(page) : len(page)+n]
}

// Commit makes the first n ids of the memory last reserved the stack of a new row.
func (c *Stacks) Commit(n int) { c.Spans = AppendDoubling(c.Spans, c.take(n)) }

// Move makes the first n ids of the memory last reserved the stack of an existing row.
func (c *Stacks) Move(row, n int) { c.Spans[row] = c.take(n) }

func (c *Stacks) take(n int) Span {
	if len(c.pages) == 0 {
		c.pages = append(c.pages, nil)
	}
	last := len(c.pages) - 1
	off := len(c.pages[last])
	c.pages[last] = c.pages[last][:off+n]
	return Span{uint32(last), uint32(off), uint32(n)}
}

// manyRows is the number of rows from which huge pages are worthwhile.
const manyRows = 1 << 18

// AppendDoubling appends as the builtin does but doubles large slices too: the
// builtin's factor of 1.25 leaves four times the final size as garbage.
func AppendDoubling[T any](s []T, v T) []T {
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

// ContainsAny reports whether a stack contains a location of a set: those whose byte is not 0. It
// looks at four locations before it branches: a branch for each costs more.
func ContainsAny(stack []int32, set []byte) bool {
	for len(stack) >= 4 {
		if set[stack[0]]|set[stack[1]]|set[stack[2]]|set[stack[3]] != 0 {
			return true
		}
		stack = stack[4:]
	}
	for _, l := range stack {
		if set[l] != 0 {
			return true
		}
	}
	return false
}

// LastOf returns the index of the last location of a stack that is in a set, −1 for none.
func LastOf(stack []int32, set []byte) int {
	i := len(stack)
	for i >= 4 && set[stack[i-1]]|set[stack[i-2]]|set[stack[i-3]]|set[stack[i-4]] == 0 {
		i -= 4
	}
	for i > 0 && set[stack[i-1]] == 0 {
		i--
	}
	return i - 1
}

// PickIndices is Pick for the indices of these locations in the stack, and for a set with a byte
// per location, 0 or 1.
func PickIndices(room, stack []int32, set []byte) (n int) {
	for i, l := range stack {
		room[n] = int32(i)
		n += int(set[l])
	}
	return n
}
