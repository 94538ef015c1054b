package requests

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/hone-go/hone/histogram"
)

// minForWhy is how many requests a route needs before its slow ones are compared with the rest.
const minForWhy = 20

// Why says what slow requests spend time on that median ones do not.
type Why struct {
	Quantile float64 `json:"quantile"`  // 0.99
	Slow     int64   `json:"slow_ns"`   // latency at the quantile
	Median   int64   `json:"median_ns"` // latency at 0.5
	// SlowMean is the mean latency of the requests at or above the quantile, MedianMean that of
	// those around the median. The causes explain their difference, and sum to it.
	SlowMean   float64 `json:"slow_mean_ns"`
	MedianMean float64 `json:"median_mean_ns"`
	// SlowSample and MedianSample are how many requests were kept to compare.
	SlowSample   int     `json:"slow_sample"`
	MedianSample int     `json:"median_sample"`
	Causes       []Cause `json:"causes"` // most of the difference first
}

// Cause is one thing that requests spend time on.
type Cause struct {
	Place
	Slow   float64 `json:"slow_ns"`   // mean of the slow requests
	Median float64 `json:"median_ns"` // mean of the median ones
	// Share is the part of the difference that this cause explains; negative if slow requests spend
	// less. Its wakers are those of the slow requests.
	Share float64 `json:"share"`
}

// difference is what the slow requests spend more than the median ones, in nanoseconds.
func (c *Cause) difference() float64 { return c.Slow - c.Median }

// weighed is a kept request and the number of requests that it represents.
type weighed struct {
	*kept
	weight float64
}

// between returns the kept requests of a group with latencies from low to high.
func (g group) between(low, high int64) (out []weighed) {
	for _, r := range g.routes {
		for _, s := range r.strata {
			if s == nil {
				continue
			}
			for i := range s.kept {
				if k := &s.kept[i]; k.latency >= low && k.latency <= high {
					out = append(out, weighed{k, float64(s.n) / float64(len(s.kept))})
				}
			}
		}
	}
	return out
}

// why compares the slow requests of a group with its median ones; nil when there are too few.
func (f *Fold) why(g group, h *histogram.Histogram) *Why {
	const q = 0.99
	if h.Count() < minForWhy {
		return nil
	}
	w := &Why{Quantile: q, Slow: h.Quantile(q), Median: h.Quantile(0.5)}
	slow := g.between(within(w.Slow, -1), math.MaxInt64)
	for d := 0.0; len(slow) == 0 && d < q; d += 0.01 {
		slow = g.between(within(h.Quantile(q-d), -1), math.MaxInt64)
	}
	var median []weighed
	for d := 0.1; len(median) < minForWhy/2 && d <= 0.4; d += 0.1 {
		median = g.between(within(h.Quantile(0.5-d), -1), within(h.Quantile(0.5+d), 1))
	}
	if len(slow) == 0 || len(median) == 0 {
		return nil
	}
	w.SlowSample, w.MedianSample = len(slow), len(median)
	s, m := f.spent(slow), f.spent(median)
	w.SlowMean, w.MedianMean = s.latency, m.latency
	w.Causes = causes(s, m)
	return w
}

// within moves a latency by the error of the histogram's quantiles.
func within(latency int64, sign int64) int64 { return latency + sign*(latency/128+1) }

func (f *Fold) spent(ks []weighed) spending {
	s := newSpending()
	var total float64
	for _, k := range ks {
		total += k.weight
	}
	for _, k := range ks {
		share := k.weight / total
		s.latency += share * float64(k.latency)
		s.run(&k.parts, share)
		for i := range k.waits {
			f.spend(&s, &k.waits[i], share)
		}
	}
	return s
}

func causes(slow, median spending) []Cause {
	keys := maps.Clone(slow.by)
	maps.Copy(keys, median.by)
	difference := slow.latency - median.latency
	var out []Cause
	for k := range keys {
		c := Cause{Place: slow.place(k), Slow: slow.by[k], Median: median.by[k]}
		if difference > 0 {
			c.Share = c.difference() / difference
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.difference(), a.difference()), a.Place.compare(&b.Place))
	})
	return out
}
