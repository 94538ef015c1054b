package compare

import (
	"math"

	"github.com/hone-go/hone/profile/pairing"
	"github.com/hone-go/hone/stats"
)

// sets reports whether both sides have at least two profiles, which are needed to see a spread.
func (d *Differ) sets() bool { return len(d.sides[0]) > 1 && len(d.sides[1]) > 1 }

// spread is what two sets of profiles show about a row, in the Diff's unit.
type spread struct {
	value    float64 // difference of the means
	seen     float64 // variance of the difference, from the scatter between profiles
	sampling float64 // its variance from sampling alone
	size     float64 // Σ mean² ÷ profiles, of both sides: the factor of the excess
	df       float64
}

func (j *rowJudge) spread(r *pairing.Row) spread {
	var s spread
	var rates [2][]float64
	var sampling [2]float64
	for i, side := range j.d.order {
		perUnit := j.scale / j.exposures[i]
		rates[side] = append(rates[side], float64(r.Costs[i].Value)*perUnit)
		sampling[side] += r.Costs[i].Variance * perUnit * perUnit
	}
	var mean [2]float64
	for side, xs := range rates {
		n := float64(len(xs))
		for _, x := range xs {
			mean[side] += x / n
		}
		for _, x := range xs {
			s.seen += (x - mean[side]) * (x - mean[side]) / (n - 1) / n
		}
		s.sampling += sampling[side] / n / n
		s.size += mean[side] * mean[side] / n
		s.df += n - 1
	}
	s.value = mean[1] - mean[0]
	return s
}

// difference returns the difference of a row. Its variance is the known sampling variance plus the
// larger of two excesses: the row's own, and the excess of all rows together (a squared share of
// the cost). Three profiles per side show little about the scatter of one row, but hundreds of rows
// show how much runs differ, and a row that differs by more than the others counts with its own
// excess.
func (s spread) difference(excess float64) (stats.Interval, float64) {
	return stats.PartlyKnownDifference(s.value, s.sampling, math.Max(s.seen-s.sampling, excess*s.size), s.df)
}

// learn estimates, from all rows, how much runs differ beyond sampling.
func (j *rowJudge) learn(rows []pairing.Row) {
	if !j.d.sets() {
		return
	}
	var beyond, size float64
	for i := range rows {
		s := j.spread(&rows[i])
		beyond += s.seen - s.sampling
		size += s.size
	}
	if size > 0 {
		j.excess = math.Max(0, beyond/size)
	}
}
