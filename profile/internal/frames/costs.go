package frames

import (
	"math/bits"

	"github.com/hone-go/hone/profile"
)

// Costs are the sums of a column, in a form from which those of some of its rows and frames are
// derived with little work.
//
// A key counts once per row, which needs a check of each frame because of recursion. But few rows
// contain a key twice. They are found once; the others are summed by location, without checks.
type Costs struct {
	Table    *Table
	Negative bool  // a value is negative
	Sums     []Sum // by key, of all rows

	p         *profile.Profile
	values    []int64
	plain     []uint64 // a bit per row that contains each key once, and has frames and a value
	repeats   []uint64 // a bit per other row that has frames and a value
	flat, cum []int64  // by location, of the plain rows
}

// NewCosts sums a column of p, one value per row.
func (f *Table) NewCosts(p *profile.Profile, values []int64) *Costs {
	words, n := (len(values)+63)/64, len(f.Start)-1
	c := &Costs{Table: f, p: p, values: values, plain: make([]uint64, words), repeats: make([]uint64, words), flat: make([]int64, n), cum: make([]int64, n)}
	a := f.newAdder()
	for row, v := range values {
		stack := p.Stack(row)
		c.Negative = c.Negative || v < 0
		if v == 0 || len(stack) == 0 {
			continue
		}
		if a.add(stack, int32(row), v) {
			c.repeats[row/64] |= 1 << (row % 64)
		} else {
			c.plain[row/64] |= 1 << (row % 64)
			c.flat[stack[0]] += v
			addLocations(c.cum, stack, v)
		}
	}
	c.Sums = a.sums()
	return c
}

// At returns the costs of the same column by the keys of f. These must be at least as fine as those
// of c: a row that contains no key of c twice contains no key of f twice.
func (c *Costs) At(f *Table) *Costs {
	d := &Costs{Table: f, Negative: c.Negative, p: c.p, values: c.values, plain: c.plain, repeats: c.repeats, flat: c.flat, cum: c.cum}
	repeats := f.newAdder()
	for i := range c.repeats {
		c.addRepeats(repeats, i, ^uint64(0))
	}
	d.Sums = repeats.addTo(f.byKey(c.flat, c.cum))
	return d
}

// Of returns the sums of the selected rows by key. shown is the table, perhaps without hidden
// frames; then the flat sums are not valid.
func (c *Costs) Of(shown *Table, sel *profile.Selection) []Sum {
	invert := uint64(0) // all ones to sum the rows that are not selected, if that is less work
	var hides *partly
	by := shown
	if sel.KeepsMost() {
		invert = ^uint64(0)
		if shown != c.Table {
			hides, by = c.partly(shown), c.Table
		}
	}
	n := len(c.Table.Start) - 1
	flat, cum, repeats := make([]int64, n), make([]int64, n), by.newAdder()
	sel.Visit(func(i int, word uint64) {
		c.addPlain(flat, cum, i, word^invert)
		c.addRepeats(repeats, i, word^invert)
		if hides != nil {
			hides.addRepeats(i, word)
		}
	})
	sums := repeats.addTo(by.byKey(flat, cum))
	if invert == 0 {
		return sums
	}
	for k, all := range c.Sums {
		sums[k] = Sum{all.Flat - sums[k].Flat, all.Cum - sums[k].Cum}
	}
	if hides != nil {
		for l := range flat {
			flat[l], cum[l] = c.flat[l]-flat[l], c.cum[l]-cum[l]
		}
		hides.replace(sums, flat, cum)
	}
	return sums
}

// addPlain adds those of the rows from 64i to 64i+63 that are in a set and plain to their
// locations.
func (c *Costs) addPlain(flat, cum []int64, i int, rows uint64) {
	for left := rows & c.plain[i]; left != 0; left &= left - 1 {
		row := 64*i + bits.TrailingZeros64(left)
		stack, v := c.p.Stack(row), c.values[row]
		flat[stack[0]] += v
		addLocations(cum, stack, v)
	}
}

// addRepeats adds those of the rows from 64i to 64i+63 that are in a set and have repeats to their
// keys.
func (c *Costs) addRepeats(a *adder, i int, rows uint64) {
	for left := rows & c.repeats[i]; left != 0; left &= left - 1 {
		row := 64*i + bits.TrailingZeros64(left)
		a.add(c.p.Stack(row), int32(row), c.values[row])
	}
}

// byKey returns the sums of rows without repeats by key, from those by location.
func (f *Table) byKey(flat, cum []int64) []Sum {
	sums := make([]Sum, len(f.Keys))
	for l := range flat {
		keys := f.List[f.Start[l]:f.Start[l+1]]
		if len(keys) > 0 {
			sums[keys[0]].Flat += flat[l]
		}
		for _, k := range keys { // they differ, otherwise each row with this location has repeats
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
