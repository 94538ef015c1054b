package frames

import (
	"math/bits"

	"github.com/hone-go/hone/profile/internal/columns"
)

// partly sums the keys of which some frames are hidden. A row with repeats counts for such a key
// only if one of its other frames is in the stack; hidden frames change no other key. So only the
// locations with such keys are added, frame by frame, and these are few in most stacks.
type partly struct {
	*adder
	c       *Costs
	changed []bool  // by key: some of its frames are hidden, or all
	has     []byte  // by location: 1 if it has a frame left with such a key
	picked  []int32 // scratch
}

func (c *Costs) partly(shown *Table) *partly {
	p := &partly{adder: shown.newAdder(), c: c, changed: make([]bool, len(shown.Keys)), has: make([]byte, len(shown.Start)-1)}
	hidden := make([]int, len(shown.Keys))
	for _, k := range c.Table.List {
		hidden[k]++
	}
	for _, k := range shown.List {
		hidden[k]--
	}
	for k, n := range hidden {
		p.changed[k] = n > 0
	}
	for l := range p.has {
		for _, k := range shown.List[shown.Start[l]:shown.Start[l+1]] {
			if p.changed[k] {
				p.has[l] = 1
			}
		}
	}
	return p
}

// addRepeats adds those of the rows from 64i to 64i+63 that are in a set and have repeats.
func (p *partly) addRepeats(i int, rows uint64) {
	for left := rows & p.c.repeats[i]; left != 0; left &= left - 1 {
		row := 64*i + bits.TrailingZeros64(left)
		stack := p.c.p.Stack(row)
		if len(p.picked) < len(stack) {
			p.picked = make([]int32, max(256, 2*len(stack)))
		}
		p.add(p.picked[:columns.Pick(p.picked, stack, p.has)], int32(row), p.c.values[row])
	}
}

// replace replaces the sums of the keys that hidden frames change. flat and cum are those of the
// plain rows, by location.
func (p *partly) replace(sums []Sum, flat, cum []int64) {
	for k, s := range p.addTo(p.table.byKey(flat, cum)) {
		if p.changed[k] {
			sums[k] = s
		}
	}
}
