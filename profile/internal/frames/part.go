package frames

import "github.com/hone-go/hone/profile/internal/columns"

// Part sums parts of the stacks of a column. Like Costs.Of, it adds the rows that contain each key
// once by location.
type Part struct {
	c         *Costs
	shown     *Table
	flat, cum []int64 // by location
	repeats   *adder
}

// Part returns an empty sum of stacks of which only the frames of shown remain: the table of c, or
// that table without hidden frames.
func (c *Costs) Part(shown *Table) *Part {
	n := len(c.Table.Start) - 1
	return &Part{c, shown, make([]int64, n), make([]int64, n), shown.newAdder()}
}

// Add adds a row, which has a part of its stack: some locations, leaf first. A location has a frame
// in shown.
func (x *Part) Add(row int, stack []int32) {
	v := x.c.values[row]
	switch bit := uint64(1) << (row % 64); {
	case x.c.plain[row/64]&bit != 0:
		x.flat[stack[0]] += v
		addLocations(x.cum, stack, v)
	case x.c.repeats[row/64]&bit != 0:
		x.repeats.add(stack, int32(row), v)
	}
}

// Rest is Part for stacks of which all rows are passed to Cut: it starts with whole stacks.
func (c *Costs) Rest(shown *Table) *Part {
	x := c.Part(shown)
	copy(x.flat, c.flat)
	copy(x.cum, c.cum)
	return x
}

// Cut drops the callers of the outermost location of a row's stack that is in a set: those whose
// byte is not 0. It returns the number of locations left, which is 0 if there is no such location.
func (x *Part) Cut(row int, stack []int32, from []byte) (n int) {
	v, bit := x.c.values[row], uint64(1)<<(row%64)
	if x.c.plain[row/64]&bit == 0 {
		if n = columns.LastOf(stack, from) + 1; n > 0 && x.c.repeats[row/64]&bit != 0 {
			x.repeats.add(stack[:n], int32(row), v)
		}
		return n
	}
	if n = subtractCallers(x.cum, stack, from, v); n == 0 {
		x.flat[stack[0]] -= v
	}
	return n
}

// subtractCallers subtracts v from the locations of a stack, from the outermost to the first that
// is in a set. It returns the number of locations left.
//
//go:noinline
func subtractCallers(sums []int64, stack []int32, from []byte, v int64) (n int) {
	for n = len(stack); n > 0; n-- {
		l := stack[n-1]
		if from[l] != 0 {
			break
		}
		sums[l] -= v
	}
	return n
}

// Sums returns the sums by key.
func (x *Part) Sums() []Sum {
	return x.repeats.addTo(x.shown.byKey(x.flat, x.cum))
}
