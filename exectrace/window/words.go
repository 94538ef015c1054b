package window

import (
	"cmp"
	"math"
	"slices"
)

// round keeps three decimals: more are not visible, and would be most of the bytes of an answer.
func round(v float64) float64 { return math.Round(v*1e3) / 1e3 }

func sortGroups(g []Group) {
	slices.SortStableFunc(g, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Name, b.Name))
	})
}
