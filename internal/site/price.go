package site

import (
	"math"

	"github.com/hone-go/hone/stats"
)

// tally sums weighted counts: the total and its sampling variance.
type tally struct{ total, variance float64 }

// add adds a row of an allocation profile. The runtime samples an object of z bytes with
// probability p = 1 - exp(-z/rate), and the profile has counts and bytes that are already divided
// by p (runtime/pprof/protomem.go, scaleHeapSample). So of a row's N objects about N×p were
// sampled, each representing z/p bytes, and the variance of the bytes is N z² (1-p)/p. The sizes in
// a row are assumed to be equal, which is nearly true: one line allocates one size class, or
// growing ones.
func (t *tally) add(r *Row, rate int64) {
	t.total += float64(r.Value)
	if rate <= 1 || r.Count <= 0 || r.Value <= 0 {
		return
	}
	n, size := float64(r.Count), float64(r.Value)/float64(r.Count)
	t.variance += n * size * size / math.Expm1(size/float64(rate))
}

// interval returns that of a Poisson count with the same mean and variance; if nothing was sampled,
// that of no event of one sampling period.
func (t tally) interval(rate int64) stats.Interval {
	switch {
	case t.total <= 0 && rate <= 1:
		return stats.Interval{}
	case t.total <= 0:
		return stats.Sum(stats.Count{N: 0, Weight: float64(rate)})
	case t.variance <= 0:
		return stats.Interval{Value: t.total, Low: t.total, High: t.total}
	}
	return stats.Sum(stats.Count{N: t.total * t.total / t.variance, Weight: t.variance / t.total})
}

// pricing is what a table needs to price rows.
type pricing struct {
	collecting float64 // D + A + W + I, seconds
	samples    int64   // of them
	period     float64 // seconds of CPU a sample
	hasCPU     bool
	hasAllocs  bool
	rate       int64 // bytes between sampled allocations
	bytes      tally // of all rows of the allocs profile
}

func newPricing(in *Input, j *joiner) pricing {
	t := &j.totals
	p := pricing{
		collecting: t.Collecting(),
		period:     float64(samplePeriod(in.CPU)) / 1e9,
		hasCPU:     in.CPU != nil,
		hasAllocs:  in.Allocs != nil && j.bytes.total > 0,
		rate:       allocationRate(in.Allocs),
		bytes:      j.bytes,
	}
	if t.CPUSamples > 0 && t.TotalSeconds > 0 {
		p.period = t.TotalSeconds / float64(t.CPUSamples)
	}
	p.samples = int64(math.Round(p.collecting / p.period))
	return p
}

// secondsPerByte is the collector's work that an allocated byte causes.
func (p *pricing) secondsPerByte() float64 {
	if !p.hasAllocs {
		return 0
	}
	return p.collecting / p.bytes.total
}

// work is the interval of D + A + W + I, in seconds.
func (p *pricing) work() stats.Interval {
	if !p.hasCPU {
		return stats.Unknown()
	}
	return stats.Poisson(p.samples).Scale(p.period)
}

// share is the interval of the part of all bytes that some rows allocated.
func (p *pricing) share(part tally) stats.Interval {
	if !p.hasAllocs {
		return stats.Interval{Value: 0, Low: 0, High: 1}
	}
	rest := tally{math.Max(0, p.bytes.total-part.total), math.Max(0, p.bytes.variance-part.variance)}
	return stats.Part(part.interval(p.rate), rest.interval(p.rate))
}

// Price returns the cost of rows of the CPU and allocs profiles (any subset of the rows of sites
// and buckets): CPUSeconds without the collector's own time, GCSeconds by the rows' share of bytes.
// The interval is of CPUSeconds + GCSeconds, in seconds. Samples, the collector's samples and
// sampled objects are treated as independent counts whose variances add up (package stats). The
// interval covers sampling alone, not the error of the model.
//
// Without a CPU profile nothing is known. Without an allocs profile GCSeconds is 0 and the upper
// bound includes all of the collector's work, since these rows may have caused it.
func (t *Table) Price(cpuRows, allocRows []*Row) (Cost, stats.Interval) {
	var c Cost
	for _, r := range cpuRows {
		c.add(cpu, r)
	}
	var bytes tally
	for _, r := range allocRows {
		c.add(allocs, r)
		bytes.add(r, t.pricing.rate)
	}
	p := &t.pricing
	c.GCSeconds = float64(c.AllocBytes) * p.secondsPerByte()
	if !p.hasCPU {
		return c, stats.Unknown()
	}
	own := ownCPU(c, p.period)
	gc := stats.Mul(p.share(bytes), p.work())
	return c, stats.Add(own, gc)
}

// Share returns the result of Price as a share of all CPU, with the sampling interval.
//
// The total counts the same samples, so it varies with its part: the share of a line that takes two
// thirds of a program is more precise than its count of samples alone suggests. With X the rows'
// own seconds, G the collector's work, b the rows' share of bytes and R everything else, the share
// is
//
//	s = (X + b×G) / (X + G + R)
//
// and its bounds are those of X, G, R and b, each by the slope of s in it, which add like standard
// deviations (package stats, Add).
func (t *Table) Share(cpuRows, allocRows []*Row) stats.Interval {
	cost, spread := t.Price(cpuRows, allocRows)
	p, total := &t.pricing, t.Totals.TotalSeconds
	if !p.hasCPU || total <= 0 {
		return stats.Interval{Value: math.NaN(), Low: 0, High: 1}
	}
	var bytes tally
	for _, r := range allocRows {
		bytes.add(r, p.rate)
	}
	own, work, part := ownCPU(cost, p.period), p.work(), p.share(bytes)
	rest := stats.Poisson(max(0, t.Totals.CPUSamples-cost.Samples-p.samples)).Scale(p.period)
	s := spread.Value / total
	share := stats.Add(
		stats.Interval{Value: s, Low: s, High: s},
		slope(own, (1-s)/total),
		slope(work, (part.Value-s)/total),
		slope(rest, -s/total),
		slope(part, p.collecting/total))
	return stats.Interval{Value: s, Low: math.Max(0, share.Low), High: math.Min(1, share.High)}
}

// slope is how far the given quantity's interval moves another quantity that depends on it
// linearly.
func slope(x stats.Interval, k float64) stats.Interval {
	down, up := k*(x.Low-x.Value), k*(x.High-x.Value)
	return stats.Interval{Low: math.Min(down, up), High: math.Max(down, up)}
}

// ownCPU is the interval of CPUSeconds. The count of samples is Poisson; a profile from elsewhere
// may give samples other weights.
func ownCPU(c Cost, period float64) stats.Interval {
	if c.Samples == 0 {
		return stats.Poisson(0).Scale(period)
	}
	return stats.Poisson(c.Samples).Scale(c.CPUSeconds / float64(c.Samples))
}

// GCWork is D + A + W + I with its interval, in seconds; without a CPU profile it is unknown.
func (t *Table) GCWork() stats.Interval { return t.pricing.work() }

// CycleWork is the part of GCWork that is proportional to the number of cycles, in seconds: without
// the sweeper's yields. The sweeper yields once per number of spans, and as many spans are swept as
// are allocated, however many cycles there are.
func (t *Table) CycleWork() stats.Interval {
	work := t.GCWork()
	if all := t.Totals.Collecting(); all > 0 {
		work = work.Scale(1 - t.Totals.Yields/all)
	}
	return work
}

// CycleSeconds is the CPU time of the collector without sweeping and scavenging, in seconds: what
// GODEBUG=gctrace=1 prints about cycles, but without the time for which other processes used the
// collector's CPUs. Sweeping depends on how many spans are allocated, not on how many cycles run.
func (t *Table) CycleSeconds() float64 {
	seconds := t.Totals.Collecting()
	for i := range t.Buckets {
		if t.Buckets[i].Name == bucketSweep {
			seconds -= t.Buckets[i].Seconds
		}
	}
	return max(0, seconds)
}
