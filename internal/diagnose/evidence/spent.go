package evidence

import (
	"cmp"
	"slices"

	"github.com/hone-go/hone/internal/diagnose/funcname"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/site"
)

// LineCost is the cost of a source line and everything below it.
type LineCost struct {
	Line    int
	Seconds float64 // of CPU
	Samples int64
}

// Spent returns the CPU of the rows that pass through lines of a file, most expensive line first.
// Calls of skip, by their names in profiles, do not count.
func Spent(p *rule.Pass, file string, from, to int, skip ...string) (lines []LineCost, all LineCost) {
	at := map[int]*LineCost{}
	p.EachRow(func(r *site.Row) {
		for i, f := range r.Stack {
			if f.File != file || f.Line < from || f.Line > to {
				continue
			}
			if i > 0 && funcname.Match(r.Stack[i-1].Function, skip...) {
				return
			}
			if at[f.Line] == nil {
				at[f.Line] = &LineCost{Line: f.Line}
			}
			for _, sum := range []*LineCost{at[f.Line], &all} {
				sum.Seconds += float64(r.Value) / 1e9
				sum.Samples += r.Count
			}
			return
		}
	})
	for _, l := range at {
		lines = append(lines, *l)
	}
	slices.SortFunc(lines, func(a, b LineCost) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Line, b.Line))
	})
	return lines, all
}
