package diagnose

import (
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/gocode"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// What stays in memory keeps what it refers to: the entries of a map that only grows were made on
// one line, and what is in them on others. A heap profile does not say which objects refer to
// which. If memory of another line grows as well, and no other finding explains it, the same fix
// may release it. In pairs of tools/field, what a fix of a leak released was up to four times as
// much as the lines of the finding had.

// grownRows returns the live memory of lines whose live memory grew, without what claims of known
// mistakes have.
func (e *engine) grownRows(claims []*claim) (rows []*site.Row) {
	if e.pass.Table == nil || len(e.pass.Growth) == 0 {
		return nil
	}
	taken := map[*site.Row]bool{}
	for _, c := range claims {
		for _, r := range c.charged.live {
			taken[r] = taken[r] || !c.rule.Generic && c.rule.OfMemory()
		}
	}
	grew := map[gocode.Pos]bool{}
	for _, g := range e.pass.Growth {
		grew[gocode.Pos{File: g.File, Line: g.Line}] = true
	}
	for _, s := range e.pass.Table.Sites {
		if grew[gocode.Pos{File: s.File, Line: s.Line}] {
			rows = append(rows, stacks.Select(s.Live, func(r *site.Row) bool { return !taken[r] })...)
		}
	}
	return rows
}

// keptBy returns the share of the live memory at other lines that a draft about a leak may keep.
func (e *engine) keptBy(d *draft) stats.Interval {
	if !d.rule.Claims().Keeps || e.totals.LiveBytes <= 0 {
		return stats.Interval{}
	}
	bytes, _ := stacks.Sum(e.grown)
	share := float64(bytes) / float64(e.totals.LiveBytes)
	return stats.Interval{Value: share, Low: share, High: share}
}
