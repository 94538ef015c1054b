package bench

import (
	"math"
	"slices"

	"github.com/hone-go/hone/stats"
)

// ratioOf compares a metric of both sides. It returns the Hodges-Lehmann ratio and the p-value of
// the Mann-Whitney test, both adjusted for the scatter between link layouts, and the share of the
// variance that is due to layouts, 0 to 1.
//
// Runs of one binary share the addresses of its functions. A change elsewhere in the package moves
// functions that did not change, and their loops may then cost a few percent more or less in every
// run, which the Mann-Whitney test takes for a change. So the layouts are a sample, too: the ratio
// must also pass Student's t-test over layouts, with one degree of freedom for each layout of a
// side beyond the first, and the interval is the wider one of the two. The sum of both variances
// would give a narrower interval, but with so few layouts it is too often too narrow: at p < 0.005
// it was wrong in 11 of 1,000 simulated comparisons with eight layouts that differ by as much as
// the runs do, and Student's test in 7.
func ratioOf(old, new []Sample, unit string) (ratio stats.Interval, p, placement float64) {
	ratio, p = stats.MedianRatio(values(old, unit), values(new, unit))
	if !ratio.Known() || ratio.Low <= 0 {
		return ratio, p, 0
	}
	layouts, df := layoutVariance(old, new, unit)
	if df == 0 || !(layouts > 0) {
		return ratio, p, 0
	}
	wide, q := stats.PartlyKnownDifference(math.Log(ratio.Value), 0, layouts, df)
	runs := math.Log(ratio.High/ratio.Low) / (2 * z95)
	ratio.Low, ratio.High = math.Min(ratio.Low, math.Exp(wide.Low)), math.Max(ratio.High, math.Exp(wide.High))
	return ratio, math.Max(p, q), math.Max(0, 1-runs*runs/layouts)
}

// z95 is the normal distribution's quantile at 97.5 %.
const z95 = 1.959963984540054

// layoutVariance estimates the variance of the logarithm of the sides' ratio from the scatter
// between layouts, and returns its degrees of freedom; 0 if a side has a single layout.
func layoutVariance(old, new []Sample, unit string) (variance, df float64) {
	sides := [2][]Sample{old, new}
	for side, samples := range sides {
		others := values(sides[1-side], unit)
		var ratios []float64
		for _, l := range layoutsOf(samples) {
			own := values(slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return s.Layout != l }), unit)
			if r := medianLogRatio(others, own); len(own) > 0 && !math.IsInf(r, 0) && !math.IsNaN(r) {
				ratios = append(ratios, r)
			}
		}
		k := float64(len(ratios))
		if k < 2 {
			return 0, 0
		}
		var mean, squares float64
		for _, r := range ratios {
			mean += r / k
		}
		for _, r := range ratios {
			squares += (r - mean) * (r - mean)
		}
		variance += squares / (k - 1) / k
		df += k - 1
	}
	return variance, df
}

// medianLogRatio is the median of log(y / x) over all pairs: the log of their Hodges-Lehmann ratio.
func medianLogRatio(x, y []float64) float64 {
	pairs := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			pairs = append(pairs, math.Log(b/a))
		}
	}
	return stats.Median(pairs)
}

// layoutsOf lists the layouts of samples.
func layoutsOf(samples []Sample) (layouts []int) {
	for _, s := range samples {
		if !slices.Contains(layouts, s.Layout) {
			layouts = append(layouts, s.Layout)
		}
	}
	return layouts
}
