package requests

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/hone-go/hone/exectrace"
	"github.com/hone-go/hone/histogram"
)

// minForWhy is how many requests a route needs for its slow ones to be told from the rest.
const minForWhy = 20

// Why says what slow requests spend that the median ones do not.
type Why struct {
	Quantile float64 `json:"quantile"`  // 0.99
	Slow     int64   `json:"slow_ns"`   // latency at the quantile
	Median   int64   `json:"median_ns"` // latency at 0.5
	// SlowMean is the mean latency of the requests at or above the quantile, MedianMean that of those
	// around the median. Causes explain their difference: their differences sum to it.
	SlowMean   float64 `json:"slow_mean_ns"`
	MedianMean float64 `json:"median_mean_ns"`
	// SlowSample and MedianSample are how many requests were kept to tell from.
	SlowSample   int     `json:"slow_sample"`
	MedianSample int     `json:"median_sample"`
	Causes       []Cause `json:"causes"` // most of the difference first
}

// Cause is one thing that requests spend time on.
type Cause struct {
	Part   Part            `json:"part"`
	NoIdle bool            `json:"no_idle_processor,omitempty"`
	Object string          `json:"object,omitempty"`
	Waiter *exectrace.Line `json:"waiter,omitempty"`
	Slow   float64         `json:"slow_ns"`   // mean of the slow requests
	Median float64         `json:"median_ns"` // mean of the median ones
	// Share is the part of the difference that this explains; negative when slow requests spend less.
	Share float64 `json:"share"`
	// Wakers are the lines that ended the waits of the slow requests, most time first.
	Wakers []WakerShare `json:"wakers,omitempty"`
}

// WakerShare is a line that ended waits.
type WakerShare struct {
	Line  *exectrace.Line `json:"line,omitempty"` // nil: nobody known: network, timer
	Share float64         `json:"share"`          // of the slow requests' time of the cause
}

// Difference is what the slow requests spend more than the median ones, in nanoseconds.
func (c *Cause) Difference() float64 { return c.Slow - c.Median }

// weighed is a kept request and how many it stands for.
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

// why compares the slow requests of a group with its median ones. It returns nil when there are too few.
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

// causeKey is what causes are told apart by.
type causeKey struct {
	part   Part
	noIdle bool
	object string
	line   exectrace.Line
}

// spending is the mean time of some requests by cause.
type spending struct {
	latency float64
	by      map[causeKey]float64
	wakers  map[causeKey]map[exectrace.Line]float64
}

func (f *Fold) spent(ks []weighed) spending {
	s := spending{by: map[causeKey]float64{}, wakers: map[causeKey]map[exectrace.Line]float64{}}
	var total float64
	for _, k := range ks {
		total += k.weight
	}
	for _, k := range ks {
		share := k.weight / total
		s.latency += share * float64(k.latency)
		for p, ns := range k.parts {
			if p := Part(p); !p.placed() && ns > 0 {
				s.by[causeKey{part: p}] += share * float64(ns)
			}
		}
		for i := range k.waits {
			f.spend(&s, &k.waits[i], share)
		}
	}
	return s
}

// spend adds a wait. Waiting for a processor has one cause, wherever it began.
func (f *Fold) spend(s *spending, w *wait, share float64) {
	k := causeKey{part: w.part, noIdle: w.busy, object: f.object(w.waiter, w.part)}
	if !w.part.ready() {
		k.line = f.src.Blame(w.waiter)
	}
	ns := share * float64(w.ns)
	s.by[k] += ns
	if !w.part.waiting() {
		return
	}
	if s.wakers[k] == nil {
		s.wakers[k] = map[exectrace.Line]float64{}
	}
	var by exectrace.Line
	if w.waker != 0 {
		by = f.src.Blame(w.waker)
	}
	s.wakers[k][by] += ns
}

func causes(slow, median spending) []Cause {
	keys := maps.Clone(slow.by)
	maps.Copy(keys, median.by)
	difference := slow.latency - median.latency
	var out []Cause
	for k := range keys {
		c := Cause{Part: k.part, NoIdle: k.noIdle, Object: k.object, Slow: slow.by[k], Median: median.by[k]}
		if k.line != (exectrace.Line{}) {
			c.Waiter = &k.line
		}
		if difference > 0 {
			c.Share = c.Difference() / difference
		}
		c.Wakers = wakers(slow.wakers[k], c.Slow)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Difference(), a.Difference()), cmp.Compare(a.Part, b.Part), compareBool(a.NoIdle, b.NoIdle),
			compareLines(a.Waiter, b.Waiter), cmp.Compare(a.Object, b.Object))
	})
	return out
}

func wakers(by map[exectrace.Line]float64, total float64) []WakerShare {
	var out []WakerShare
	for line, ns := range by {
		w := WakerShare{Share: ns / total}
		if line != (exectrace.Line{}) {
			w.Line = &line
		}
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b WakerShare) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), compareLines(a.Line, b.Line))
	})
	return out
}

// compareLines orders lines, none first.
func compareLines(a, b *exectrace.Line) int {
	var none exectrace.Line
	if a == nil {
		a = &none
	}
	if b == nil {
		b = &none
	}
	return a.Compare(*b)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
