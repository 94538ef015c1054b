package report

import (
	"sync"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
	"github.com/hone-go/hone/profile/internal/prefix"
)

// Cache holds what reports of one profile have in common, for programs that repeatedly show it with
// other filters: the order of its stacks, its frames and their sums. It takes up to 17 bytes per
// row and direction of flame graphs, and 8 bytes per row as working memory. It is safe for
// concurrent use, but only one report uses it at a time.
type Cache struct {
	p      *profile.Profile
	once   bool       // for one report
	mu     sync.Mutex // held by the report that uses it
	orders map[bool]*prefix.Order
	tables map[frameTable]*frames.Table
	costs  map[tableSums]*frames.Costs
	values map[bool]column // by direction
	sums   [2]sums         // memory of the last flame graphs
}

// column is the values of a sample type by position in an order.
type column struct {
	sampleIndex int
	values      []int64
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
	if c != nil {
		own.sums = c.sums // the same report holds c
	}
	return own
}

func (c *Cache) order(inverted bool) *prefix.Order {
	if c.orders[inverted] == nil {
		c.orders[inverted] = prefix.New(c.p, inverted, c.memory(0))
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
	if c.costs[at] == nil {
		c.costs[at] = c.table(t).NewCosts(c.p, c.p.Values(sampleIndex))
	}
	return c.costs[at]
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
// kept. For a single report it returns nil.
func (c *Cache) column(inverted bool, sampleIndex int) []int64 {
	if c.once {
		return nil
	}
	if at, ok := c.values[inverted]; ok && at.sampleIndex == sampleIndex {
		return at.values
	}
	all := c.p.Values(sampleIndex)
	values := c.values[inverted].values
	if values == nil {
		values = make([]int64, len(all))
	}
	for i, row := range c.order(inverted).Rows() {
		values[i] = all[row]
	}
	c.values[inverted] = column{sampleIndex, values}
	return values
}
