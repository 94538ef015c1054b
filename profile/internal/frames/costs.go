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
	repeated  []Sum    // by key, of the other rows
}

// NewCosts sums a column of p, one value per row.
func (f *Table) NewCosts(p *profile.Profile, values []int64) *Costs {
	n, words := len(f.Start)-1, (len(values)+63)/64
	c := &Costs{Table: f, p: p, values: values, flat: make([]int64, n), cum: make([]int64, n)}
	c.plain, c.repeats = make([]uint64, words), make([]uint64, words)
	find, repeated := f.newRepeats(), f.newAdder()
	for row, v := range values {
		stack := p.Stack(row)
		switch {
		case v == 0 || len(stack) == 0:
		case find.in(stack, int32(row)):
			c.repeats[row/64] |= 1 << (row % 64)
			repeated.add(stack, int32(row), v)
		default:
			c.plain[row/64] |= 1 << (row % 64)
			c.flat[stack[0]] += v
			addLocations(c.cum, stack, v)
		}
		c.Negative = c.Negative || v < 0
	}
	c.repeated = repeated.sums()
	c.Sums = f.byKey(c.flat, c.cum)
	for k, s := range c.repeated {
		c.Sums[k].Flat += s.Flat
		c.Sums[k].Cum += s.Cum
	}
	return c
}

// Of returns the sums of rows by key. shown is the table, perhaps without hidden frames; then the
// flat sums are only those of the rows whose leaf location has a frame left.
func (c *Costs) Of(shown *Table, rows profile.Rows) []Sum {
	invert := uint64(0) // all ones to sum the rows that are not kept, if that is less work
	if 2*rows.Len() > len(c.values) {
		invert = ^uint64(0)
	}
	n := len(c.flat)
	flat, cum := make([]int64, n), make([]int64, n)
	var stacks [64][]int32
	var values [64]int64
	for i, plain := range c.plain {
		// Most stacks miss the processor's caches. The first loop reads all of them at a time.
		n := 0
		for left := (rows.Word(i) ^ invert) & plain; left != 0; left &= left - 1 {
			row := 64*i + bits.TrailingZeros64(left)
			stacks[n], values[n] = c.p.Stack(row), c.values[row]
			flat[stacks[n][0]] += values[n]
			n++
		}
		for k := range n {
			addLocations(cum, stacks[k], values[k])
		}
	}
	if invert != 0 {
		for l := range n {
			flat[l], cum[l] = c.flat[l]-flat[l], c.cum[l]-cum[l]
		}
	}
	sums := shown.byKey(flat, cum)
	if shown != c.Table { // hiding may leave a key once
		invert = 0
	}
	a := shown.newAdder()
	for i, repeats := range c.repeats {
		for left := (rows.Word(i) ^ invert) & repeats; left != 0; left &= left - 1 {
			row := 64*i + bits.TrailingZeros64(left)
			a.add(c.p.Stack(row), int32(row), c.values[row])
		}
	}
	for k, s := range a.sums() {
		if invert != 0 {
			s = Sum{c.repeated[k].Flat - s.Flat, c.repeated[k].Cum - s.Cum}
		}
		sums[k].Flat += s.Flat
		sums[k].Cum += s.Cum
	}
	return sums
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

// repeats finds rows that contain a key twice.
type repeats struct {
	table          *Table
	last           []int32 // by key: the last row that contains it, plus one
	heads, seconds []uint32
	more           []int32
}

func (f *Table) newRepeats() *repeats {
	return &repeats{table: f, last: make([]int32, len(f.Keys)+1), heads: f.KeysAt(0), seconds: f.KeysAt(1)}
}

// in reports whether a row contains a key twice.
func (r *repeats) in(stack []int32, row int32) bool {
	if len(r.more) < len(stack) {
		r.more = make([]int32, max(256, 2*len(stack)))
	}
	mark := row + 1
	n, twice := markKeys(r.last, r.heads, stack, r.more, mark)
	n, again := markKeys(r.last, r.seconds, r.more[:n], r.more, mark)
	twice = twice || again
	for _, l := range r.more[:n] { // three frames and more are rare
		for _, k := range r.table.List[r.table.Start[l]+2 : r.table.Start[l+1]] {
			twice = twice || r.last[k] == mark
			r.last[k] = mark
		}
	}
	return twice
}

// markKeys is addKeys without a sum. twice reports whether a key was marked before.
//
//go:noinline
func markKeys(last []int32, keys []uint32, stack, more []int32, mark int32) (n int, twice bool) {
	for _, l := range stack {
		k := keys[l]
		more[n] = l
		n += int(k & 1)
		if last[k>>1] == mark {
			twice = true
		}
		last[k>>1] = mark
	}
	return n, twice
}
