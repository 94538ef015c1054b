package columns

import "slices"

// Runs examines several stacks in one loop. A loop over each stack ends with a branch that the
// processor mispredicts, which takes as long as several locations.
type Runs struct{ counts [runLength + 1]uint16 }

// runLength is the largest number of locations in a run.
const runLength = 1 << 11

// With returns which of the n rows from a row on, at most 64, contain a location of a set. Bit j is
// for row first+j. It reads each location once.
func (r *Runs) With(c *Stacks, set Set, first, n int) (rows uint64) {
	for j := 0; j < n; {
		run, k := c.run(first+j, n-j)
		if k == 0 {
			if slices.ContainsFunc(c.Row(first+j), func(l int32) bool { return set.Bit(l) != 0 }) {
				rows |= 1 << j
			}
			j++
			continue
		}
		count(r.counts[:], run, set)
		at := uint32(0)
		for _, s := range c.Spans[first+j : first+j+k] {
			end := min(at+s.N, runLength)
			rows |= uint64(min(1, r.counts[end]-r.counts[at])) << j
			at = end
			j++
		}
	}
	return rows
}

// run returns the locations of the first of the n rows from a row on that lie one after the other,
// and how many rows these are. It returns none if the stack of the first row is too long for a run.
func (c *Stacks) run(first, n int) (locations []int32, rows int) {
	spans := c.Spans[first : first+n]
	from := spans[0]
	length := uint32(0)
	for _, s := range spans {
		if s.Page != from.Page || s.Off != from.Off+length || s.N > runLength-length {
			break
		}
		length += s.N
		rows++
	}
	return c.pages[from.Page][from.Off : from.Off+length], rows
}

// count stores, for each position and for the end, how many locations before it are in a set. It is
// separate so that its variables stay in registers.
//
//go:noinline
func count(counts []uint16, locations []int32, set Set) {
	n := uint64(0)
	counts[0] = 0
	counts = counts[1 : len(locations)+1]
	for i, l := range locations {
		n += set.Bit(l)
		counts[i] = uint16(n)
	}
}
