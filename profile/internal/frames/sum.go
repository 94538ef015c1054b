package frames

import "github.com/hone-go/hone/profile"

// Sum is the flat and cum of one key.
type Sum struct{ Flat, Cum int64 }

// cumSum is the cum of one key. row is the last row (plus one) that was added, so that recursion
// counts once. It is stored with cum so that both are in one cache line.
type cumSum struct {
	cum int64
	row int32
}

// Sum sums values, one per row of p, by key.
//
// Most of a report's time is spent here, frame by frame. The loop over a stack therefore has no
// branch that is mispredicted: a location's first key is added immediately, and the few locations
// that have more keys are collected without a branch and added after the stack.
func (f *Table) Sum(p *profile.Profile, values []int64) []Sum {
	a := f.newAdder()
	for row, v := range values {
		if v != 0 {
			a.add(p.Stack(row), int32(row), v)
		}
	}
	return a.sums()
}

// adder adds the values of stacks to their keys.
type adder struct {
	table          *Table
	flat           []int64  // by key
	cums           []cumSum // by key
	heads, seconds []uint32
	more           []int32 // locations of the stack with more than one frame
}

func (f *Table) newAdder() *adder {
	n := len(f.Keys) + 1 // one for locations without frames
	return &adder{table: f, flat: make([]int64, n), cums: make([]cumSum, n), heads: f.KeysAt(0), seconds: f.KeysAt(1)}
}

// add adds v to each key of a stack once.
func (a *adder) add(stack []int32, row int32, v int64) {
	if len(stack) == 0 {
		return
	}
	if len(a.more) < len(stack) {
		a.more = make([]int32, max(256, 2*len(stack)))
	}
	a.flat[a.heads[stack[0]]>>1] += v
	mark := row + 1
	n := addKeys(a.cums, a.heads, stack, a.more, mark, v)
	n = addKeys(a.cums, a.seconds, a.more[:n], a.more, mark, v)
	for _, l := range a.more[:n] { // three frames and more are rare
		for _, k := range a.table.List[a.table.Start[l]+2 : a.table.Start[l+1]] {
			if s := &a.cums[k]; s.row != mark {
				s.row = mark
				s.cum += v
			}
		}
	}
}

// sums returns the sums by key.
func (a *adder) sums() []Sum {
	sums := make([]Sum, len(a.table.Keys))
	for i := range sums {
		sums[i] = Sum{a.flat[i], a.cums[i].cum}
	}
	return sums
}

// addKeys adds v to the key of each location of a stack in keys. It puts the locations with more
// frames into more, which may be stack itself, and returns their number. It is separate from Sum so
// that all its variables stay in registers.
//
//go:noinline
func addKeys(cums []cumSum, keys []uint32, stack, more []int32, mark int32, v int64) (n int) {
	for _, l := range stack {
		k := keys[l]
		more[n] = l
		n += int(k & 1)
		if s := &cums[k>>1]; s.row != mark {
			s.row = mark
			s.cum += v
		}
	}
	return n
}
