package stats

import "math"

// exactValues is the largest number of values for which the exact distribution of the rank sum is
// computed.
const exactValues = 60

// mannWhitney returns the two-sided p-value of the Mann-Whitney U test of two
// sorted samples (H. B. Mann and D. R. Whitney, "On a test of whether one of two
// random variables is stochastically larger than the other", Annals of
// Mathematical Statistics 18, 1947): twice the smaller tail, at most 1.
func mannWhitney(x, y []float64) float64 {
	ranks, ties := midranks(x, y)
	n, m := len(x), len(y)
	sum := 0
	for i, j := 0, 0; i < n; i++ {
		for ranks[j].value != x[i] {
			j++
		}
		sum += ranks[j].twice
	}
	if n+m > exactValues {
		return mannWhitneyNormal(float64(n), float64(m), sum, ties)
	}
	counts := rankSums(ranks, n)
	var below, above, all float64
	for s, c := range counts {
		all += c
		if s <= sum {
			below += c
		}
		if s >= sum {
			above += c
		}
	}
	return math.Min(1, 2*math.Min(below, above)/all)
}

// rankGroup is a set of equal values.
type rankGroup struct {
	value float64
	size  int
	twice int // the mean of their ranks, doubled to be whole
}

// midranks merges two sorted samples. ties is Σ t³−t over the groups.
func midranks(x, y []float64) (groups []rankGroup, ties float64) {
	i, j, rank := 0, 0, 0
	for i < len(x) || j < len(y) {
		var v float64
		switch {
		case i == len(x):
			v = y[j]
		case j == len(y):
			v = x[i]
		default:
			v = math.Min(x[i], y[j])
		}
		size := 0
		for ; i < len(x) && x[i] == v; i++ {
			size++
		}
		for ; j < len(y) && y[j] == v; j++ {
			size++
		}
		groups = append(groups, rankGroup{v, size, 2*rank + size + 1})
		rank += size
		t := float64(size)
		ties += t*t*t - t
	}
	return groups, ties
}

// rankSums counts, for every doubled rank sum, the subsets of n values with that sum. With ties
// this is the exact conditional distribution (the permutation test on midranks).
func rankSums(groups []rankGroup, n int) []float64 {
	unit := 2 // of the sums: without ties they are even
	width := 1
	for _, g := range groups {
		width += g.size * g.twice
		unit = min(unit, 2-g.twice%2)
	}
	ways := make([][]float64, n+1) // by number chosen, then by sum in units
	type span struct{ low, end int }
	reach := make([]span, n+1) // the sums that are possible so far
	for k := range ways {
		ways[k] = make([]float64, (width-1)/unit+1)
	}
	ways[0][0] = 1
	reach[0] = span{0, 1}
	items := 0 // values of the groups so far
	for _, g := range groups {
		for k := min(n, items+g.size); k > 0; k-- {
			choices := 1.0
			for c := 1; c <= min(k, g.size); c++ {
				choices *= float64(g.size-c+1) / float64(c)
				less, add := reach[k-c], c*g.twice/unit
				if less.end == 0 {
					continue
				}
				from := ways[k-c][less.low:less.end]
				to := ways[k][less.low+add:][:len(from)]
				for s, w := range from {
					to[s] += choices * w
				}
				if reach[k].end == 0 {
					reach[k].low = less.low + add
				}
				reach[k] = span{min(reach[k].low, less.low+add), max(reach[k].end, less.end+add)}
			}
		}
		items += g.size
	}
	if unit == 1 {
		return ways[n]
	}
	sums := make([]float64, width)
	for s, w := range ways[n] {
		sums[s*unit] = w
	}
	return sums
}

// mannWhitneyNormal is the normal approximation with corrections for ties and
// continuity (Hollander and Wolfe, section 4.1).
func mannWhitneyNormal(n, m float64, twiceSum int, ties float64) float64 {
	all := n + m
	u := float64(twiceSum)/2 - n*(n+1)/2
	variance := n * m / 12 * (all + 1 - ties/(all*(all-1)))
	if variance <= 0 {
		return 1
	}
	away := math.Max(0, math.Abs(u-n*m/2)-0.5)
	return math.Erfc(away / math.Sqrt(2*variance))
}

// rejectedPairs is the rank, from either end, of the pair that bounds the 95 % interval of a shift
// between samples of n and m values; 0 if there are too few values to bound it. It is the largest k
// with P(U < k) ≤ 2.5 % (Hollander and Wolfe, section 4.3).
func rejectedPairs(n, m int) int {
	if n+m > exactValues {
		a, b := float64(n), float64(m)
		return max(0, int(math.Floor(a*b/2-z95*math.Sqrt(a*b*(a+b+1)/12))))
	}
	groups := make([]rankGroup, n+m)
	for i := range groups {
		groups[i] = rankGroup{float64(i), 1, i + 1} // no ties: ranks need no doubling
	}
	counts := rankSums(groups, n)
	var all, below float64
	for _, c := range counts {
		all += c
	}
	k := 0
	for s := n * (n + 1) / 2; s < len(counts); s++ {
		below += counts[s]
		if below > 0.025*all {
			break
		}
		k++
	}
	return k
}
