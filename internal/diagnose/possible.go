package diagnose

import (
	"slices"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// possibleGone is the part of a possible saving that is expected. Of the receiver of messages the
// rest is what it does for each item in them; of code around a line, what the fix still needs. No
// profile separates the two, so nothing may go, or all.
const possibleGone = 0.5

// uncertainOf returns the cost of the rows that a draft's fix may save too, as a share of CPU. What
// other findings have, unless they are hints, is theirs.
func (e *engine) uncertainOf(d *draft) stats.Interval {
	own := map[*site.Row]bool{}
	for _, r := range slices.Concat(d.rows.cpu, d.rows.allocs) {
		own[r] = true
	}
	var cpu, allocs []*site.Row
	for _, c := range d.claims {
		free := func(r *site.Row) bool {
			owner := e.owners[r]
			if own[r] || owner != nil && owner != c && owner.match.Confidence != rule.Hint {
				return false
			}
			own[r] = true
			return true
		}
		cpu = append(cpu, stacks.Select(c.match.Uncertain.CPU, free)...)
		allocs = append(allocs, stacks.Select(c.match.Uncertain.Allocs, free)...)
	}
	if len(cpu)+len(allocs) == 0 || !(e.totals.TotalSeconds > 0) {
		return stats.Interval{}
	}
	return e.table.Share(cpu, allocs)
}

// withPossible adds to what a draft's fix saves what it may save elsewhere: from nothing to the
// same part of it as of the line.
func withPossible(saved, possible, fraction stats.Interval) stats.Interval {
	if possible.Value <= 0 {
		return saved
	}
	most := stats.Mul(possible, fraction)
	return stats.Interval{Value: saved.Value + possibleGone*most.Value, Low: saved.Low, High: saved.High + most.High}
}
