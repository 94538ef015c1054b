package report

import (
	"sync"

	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
	"github.com/hone-go/hone/profile/internal/prefix"
)

// Cache holds what reports of one profile have in common, for programs that repeatedly show it with
// other filters: the order of its stacks, its frames and their sums. It takes 5 bytes per row and
// direction of flame graphs. It is safe for concurrent use, but only one report uses it at a time.
type Cache struct {
	p      *profile.Profile
	mu     sync.Mutex // held by the report that uses it
	orders map[bool]*prefix.Order
	tables map[frameTable]*frames.Table
	sums   map[tableSums][]frames.Sum
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
	return &Cache{p: p, orders: map[bool]*prefix.Order{}, tables: map[frameTable]*frames.Table{}, sums: map[tableSums][]frames.Sum{}}
}

// of returns c if it is for p, else an empty one. c may be nil.
func (c *Cache) of(p *profile.Profile) *Cache {
	if c != nil && c.p == p {
		return c
	}
	return NewCache(p)
}

func (c *Cache) order(inverted bool) *prefix.Order {
	if c.orders[inverted] == nil {
		c.orders[inverted] = prefix.New(c.p, inverted)
	}
	return c.orders[inverted]
}

func (c *Cache) table(t frameTable) *frames.Table {
	if c.tables[t] == nil {
		c.tables[t] = frames.By(c.p, t.granularity, t.columns)
	}
	return c.tables[t]
}

func (c *Cache) sum(t frameTable, sampleIndex int) []frames.Sum {
	at := tableSums{t, sampleIndex}
	if c.sums[at] == nil {
		c.sums[at] = c.table(t).Sum(c.p, c.p.Values(sampleIndex))
	}
	return c.sums[at]
}
