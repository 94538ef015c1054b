package report

import (
	"math"
	"slices"
	"sync"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
	"github.com/hone-go/hone/profile/internal/prefix"
)

// Cache holds what reports of one profile have in common, for programs that repeatedly show it with
// other filters: the order of its stacks, its frames and their sums. It takes up to 13 bytes per
// row and direction of flame graphs, and 8 bytes per row as working memory. It is safe for
// concurrent use, but only one report uses it at a time.
type Cache struct {
	p      *profile.Profile
	once   bool       // for one report
	small  bool       // while another one is in memory
	mu     sync.Mutex // held by the report that uses it
	orders map[bool]*prefix.Order
	tables map[frameTable]*frames.Table
	costs  map[tableSums]*frames.Costs
	last   int             // sample index of the last costs
	values map[bool]column // by direction
	sums   [2]sums         // memory of the last flame graphs
}

// column is the values of a sample type by position in an order, divided by a unit. If they do not
// fit, values is nil.
type column struct {
	sampleIndex int
	values      []int32
	unit        int64
}

type frameTable struct {
	granularity profile.Granularity
	columns     bool
}

type tableSums struct {
	frameTable
	sampleIndex int
}

// NewCache returns an empty Cache for p.
func NewCache(p *profile.Profile) *Cache {
	return &Cache{p: p, orders: map[bool]*prefix.Order{}, tables: map[frameTable]*frames.Table{}, costs: map[tableSums]*frames.Costs{}, values: map[bool]column{}}
}

// of returns c if it is for p, else an empty one. c may be nil.
func (c *Cache) of(p *profile.Profile) *Cache {
	if c != nil && c.p == p {
		return c
	}
	own := NewCache(p)
	own.once = true
	if c != nil { // which stays in memory: the same report holds it
		own.sums, own.small = c.sums, true
	}
	return own
}

func (c *Cache) order(inverted bool) *prefix.Order {
	if c.orders[inverted] == nil {
		c.orders[inverted] = prefix.New(c.p, inverted, c.small, c.memory(0))
	}
	return c.orders[inverted]
}

func (c *Cache) table(t frameTable) *frames.Table {
	if c.tables[t] == nil {
		c.tables[t] = frames.By(c.p, t.granularity, t.columns)
	}
	return c.tables[t]
}

func (c *Cache) cost(t frameTable, sampleIndex int) *frames.Costs {
	at := tableSums{t, sampleIndex}
	c.last = sampleIndex
	if c.costs[at] != nil {
		return c.costs[at]
	}
	if known := c.costs[tableSums{sampleIndex: sampleIndex}]; known != nil {
		c.costs[at] = known.At(c.table(t), finer(c.p, t.granularity), func() bool { return true }) // less work
	} else {
		c.costs[at] = c.table(t).NewCosts(c.p, c.p.Values(sampleIndex))
	}
	return c.costs[at]
}

// finer reports whether frames that are equal at a granularity are of the same function. Those
// without a name may not be.
func finer(p *profile.Profile, g profile.Granularity) bool {
	return g != profile.ByFile && !slices.ContainsFunc(p.Functions, func(f profile.Function) bool { return f.Name == "" })
}

// memory returns one of two slices for the sums of a flame graph. A server that allocates tens of
// megabytes for each graph is slower, and its heap grows until the next collection.
func (c *Cache) memory(which int) sums {
	n := c.p.NumSamples() + 1
	if len(c.sums[which]) < n {
		c.sums[which] = make(sums, n)
	}
	return c.sums[which][:n]
}

// column returns the values of a sample type by position in an order. Looking up each row's value
// would take more time than all other work of a flame graph. Those of the last sample type are
// kept. It has no values for a single report.
func (c *Cache) column(inverted bool, sampleIndex int) column {
	if c.once {
		return column{}
	}
	if at, ok := c.values[inverted]; ok && at.sampleIndex == sampleIndex {
		return at
	}
	all := c.p.Values(sampleIndex)
	at := column{sampleIndex: sampleIndex, unit: commonUnit(all)}
	most := int64(math.MaxInt64)
	if at.unit < 1<<32 { // otherwise all values fit
		most = at.unit * math.MaxInt32
	}
	if !slices.ContainsFunc(all, func(v int64) bool { return v > most || v < -most }) {
		at.values = make([]int32, len(all))
		for i, row := range c.order(inverted).Rows() {
			at.values[i] = int32(all[row] / at.unit)
		}
	}
	c.values[inverted] = at
	return at
}

// commonUnit returns the largest number that divides all values, at least 1: CPU profiles have
// multiples of their period.
func commonUnit(values []int64) int64 {
	unit := int64(0)
	for _, v := range values {
		if unit != 0 && v%unit == 0 {
			continue
		}
		for v != 0 {
			unit, v = v, unit%v
		}
		if unit == 1 || unit == -1 {
			break
		}
	}
	return max(unit, -unit, 1)
}
