package frames

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

// Sums returns the sums by key.
func (x *Part) Sums() []Sum {
	sums := x.shown.byKey(x.flat, x.cum)
	for k, s := range x.repeats.sums() {
		sums[k].Flat += s.Flat
		sums[k].Cum += s.Cum
	}
	return sums
}
