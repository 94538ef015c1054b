package frames

import (
	"math/bits"

	"github.com/hone-go/hone/profile"
)

// Costs are the sums of a column, in a form from which those of some of its rows and frames are
// derived with little work.
//
// A key counts once per row, which needs a check of each frame because of recursion. Sums by
// location need no check, and are the same at every granularity. What they count too often is known
// from the frames that repeat in a row.
type Costs struct {
	Table    *Table
	Negative bool // a value is negative

	p         *profile.Profile
	values    []int64
	rows      []uint64 // a bit per row that has frames and a value
	flat, cum []int64  // by location
	repeats   *repeats
	all       []Sum // nil until they are needed
}

// NewCosts sums a column of p, one value per row.
func (f *Table) NewCosts(p *profile.Profile, values []int64) *Costs {
	n := len(f.Start) - 1
	c := &Costs{Table: f, p: p, values: values, rows: make([]uint64, (len(values)+63)/64), flat: make([]int64, n), cum: make([]int64, n)}
	for row, v := range values {
		stack := p.Stack(row)
		c.Negative = c.Negative || v < 0
		if v == 0 || len(stack) == 0 {
			continue
		}
		c.rows[row/64] |= 1 << (row % 64)
		c.flat[stack[0]] += v
		addLocations(c.cum, stack, v)
	}
	c.repeats = f.findRepeats(p, c.rows, func() bool { return true })
	return c
}

// At returns the costs of the same column by the keys of f. finer reports that these are at least
// as fine as those of c: frames with the same key of f have the same key of c. It calls goOn
// between steps of about a millisecond, and returns nil if that reports false. Other methods may
// run at the same time.
func (c *Costs) At(f *Table, finer bool, goOn func() bool) *Costs {
	d := &Costs{Table: f, Negative: c.Negative, p: c.p, values: c.values, rows: c.rows, flat: c.flat, cum: c.cum}
	if finer {
		d.repeats = f.finerRepeats(c.repeats, goOn)
	} else {
		d.repeats = f.findRepeats(c.p, c.rows, goOn)
	}
	if d.repeats == nil {
		return nil
	}
	return d
}

// Sums returns the sums of all rows by key. It is not safe for concurrent use.
func (c *Costs) Sums() []Sum {
	if c.all == nil {
		extras := c.newExtras(c.Table)
		for i := range c.repeats.rows {
			extras.addRepeats(i, ^uint64(0))
		}
		c.all = extras.subtractFrom(c.Table.byKey(c.flat, c.cum))
	}
	return c.all
}

// Of returns the sums of the selected rows by key. shown is the table, perhaps without hidden
// frames; then the flat sums are not valid.
func (c *Costs) Of(shown *Table, sel *profile.Selection) []Sum {
	invert := uint64(0) // all ones to sum the rows that are not selected, if that is less work
	if sel.KeepsMost() {
		invert = ^uint64(0)
	}
	flat, cum, extras := make([]int64, len(c.flat)), make([]int64, len(c.cum)), c.newExtras(shown)
	sel.Visit(func(i int, word uint64) {
		c.addRows(flat, cum, i, word^invert)
		extras.addRepeats(i, word)
	})
	if invert != 0 {
		for l := range cum {
			flat[l], cum[l] = c.flat[l]-flat[l], c.cum[l]-cum[l]
		}
	}
	return extras.subtractFrom(shown.byKey(flat, cum))
}

// addRows adds those of the rows from 64i to 64i+63 that are in a set to their locations.
func (c *Costs) addRows(flat, cum []int64, i int, rows uint64) {
	for left := rows & c.rows[i]; left != 0; left &= left - 1 {
		row := 64*i + bits.TrailingZeros64(left)
		stack, v := c.p.Stack(row), c.values[row]
		flat[stack[0]] += v
		addLocations(cum, stack, v)
	}
}

// Inlined returns by key what the frames cost at most that were inlined into another, in all rows
// or in some of them. It returns nil if values are negative.
func (c *Costs) Inlined() []int64 {
	if c.Negative {
		return nil
	}
	f, most := c.Table, make([]int64, len(c.Table.Keys))
	for l, v := range c.cum {
		for at := f.Start[l]; at < f.Start[l+1]-1; at++ {
			most[f.List[at]] += v
		}
	}
	return most
}

// byKey returns the sums by key from those by location. A key counts as often as a row has it.
func (f *Table) byKey(flat, cum []int64) []Sum {
	sums := make([]Sum, len(f.Keys))
	for l := range flat {
		keys := f.List[f.Start[l]:f.Start[l+1]]
		if len(keys) > 0 {
			sums[keys[0]].Flat += flat[l]
		}
		for _, k := range keys {
			sums[k].Cum += cum[l]
		}
	}
	return sums
}

// addLocations adds v to each location of a stack. It is separate so that its variables stay in
// registers.
//
//go:noinline
func addLocations(sums []int64, stack []int32, v int64) {
	for _, l := range stack {
		sums[l] += v
	}
}
