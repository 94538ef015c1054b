package report

import (
	"github.com/hone-go/hone/profile"
	"github.com/hone-go/hone/profile/internal/frames"
)

// Prepare computes what the first report by line and the first by file would, for the sample type
// of the last report by function. It takes the memory that these reports would take. It calls goOn
// between steps of a few milliseconds, and returns when that reports false. Reports do not wait for
// it: they run at the same time, unless goOn waits for them.
func (c *Cache) Prepare(goOn func() bool) {
	for _, g := range []profile.Granularity{profile.ByLine, profile.ByFile} {
		if !c.prepare(frameTable{granularity: g}, goOn) {
			return
		}
	}
}

// Prepared reports whether Prepare has nothing to do.
func (c *Cache) Prepared() bool {
	line, _ := c.unprepared(frameTable{granularity: profile.ByLine})
	file, _ := c.unprepared(frameTable{granularity: profile.ByFile})
	return line == nil && file == nil
}

// unprepared returns the costs from which those of a table can be prepared, and their sample index.
// It returns nil if there are none, or if a report has used the table.
func (c *Cache) unprepared(t frameTable) (*frames.Costs, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables[t] != nil {
		return nil, 0
	}
	return c.costs[tableSums{sampleIndex: c.last}], c.last
}

// prepare prepares the costs of a table. It reports whether to go on.
func (c *Cache) prepare(t frameTable, goOn func() bool) bool {
	if !goOn() {
		return false
	}
	known, sampleIndex := c.unprepared(t)
	if known == nil {
		return true
	}
	table := frames.By(c.p, t.granularity, t.columns)
	costs := known.At(table, finer(c.p, t.granularity), goOn)
	if costs == nil {
		return false
	}
	costs.Sums()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables[t] == nil { // otherwise a report was faster
		c.tables[t], c.costs[tableSums{t, sampleIndex}] = table, costs
	}
	return true
}
