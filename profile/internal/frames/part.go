package frames

// Part sums parts of the stacks of a column. Like Costs.Of, it adds them by location.
type Part struct {
	c         *Costs
	shown     *Table
	flat, cum []int64 // by location
	extras    *extras
}

// Part returns an empty sum of stacks of which only the frames of shown remain: the table of c, or
// that table without hidden frames.
func (c *Costs) Part(shown *Table) *Part {
	return &Part{c, shown, make([]int64, len(c.flat)), make([]int64, len(c.cum)), c.newExtras(shown)}
}

// Add adds a row of whose stack only the first locations, the innermost, are left. A location has a
// frame in shown. Rows must come in their order.
func (x *Part) Add(row int, stack []int32) {
	if v := x.c.values[row]; v != 0 {
		x.flat[stack[0]] += v
		addLocations(x.cum, stack, v)
		x.extras.addPart(row, stack)
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
	v := x.c.values[row]
	if n = subtractCallers(x.cum, stack, from, v); n > 0 {
		x.extras.addPart(row, stack[:n])
	} else if len(stack) > 0 {
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
	return x.extras.subtractFrom(x.shown.byKey(x.flat, x.cum))
}
