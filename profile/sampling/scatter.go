package sampling

import (
	"github.com/hone-go/hone/profile"
	"math"
)

// Kind is how a column's values were sampled. It decides how much their sums vary by chance.
type Kind int

const (
	// Unknown: the profile does not say how its values were sampled.
	Unknown Kind = iota
	// Events: events were sampled at a rate, and all have the same weight, as in CPU profiles. The
	// variance of n events of weight w is n·w².
	Events
	// Bytes: allocations were sampled by size. An object of z bytes is sampled with probability p =
	// 1 − exp(−z/rate), and the profile holds counts and bytes divided by p
	// (runtime/pprof/protomem.go, scaleHeapSample). The variance of n objects is n·z²·(1−p)/p =
	// n·z²/(exp(z/rate)−1) bytes². All objects of a row are assumed to have the same size.
	Bytes
	// Delays: waits of different lengths, of which only the sum and the number are known. The
	// lengths are assumed to be exponential, so the variance of n waits of mean w is 2·n·w².
	Delays
	// Counted: every event was counted. The number of events itself is assumed to vary as a Poisson
	// count does.
	Counted
)

// Of returns how a column was sampled, judged by the sample types that the Go runtime writes, and a
// function that returns the variance of a row's value. The function is nil for Unknown.
func Of(p *profile.Profile, sampleIndex int) (Kind, func(row int) float64) {
	t, values := p.SampleTypes[sampleIndex], p.Values(sampleIndex)
	column := func(name string) []int64 {
		if i := p.TypeIndex(name); i >= 0 {
			return p.Values(i)
		}
		return nil
	}
	switch t.Type {
	case "alloc_space", "alloc_objects", "inuse_space", "inuse_objects":
		use := t.Type[:len(t.Type)-len("_space")]
		if t.Type[len(t.Type)-1] == 's' {
			use = t.Type[:len(t.Type)-len("_objects")]
		}
		bytes, objects := column(use+"_space"), column(use+"_objects")
		if bytes == nil || objects == nil || p.Period <= 0 || p.PeriodType.Unit != "bytes" {
			return Unknown, nil
		}
		return Bytes, bytesScatter(values, bytes, objects, float64(p.Period))
	case "delay":
		if counts := column("contentions"); counts != nil {
			return Delays, perEvent(values, counts, 2)
		}
		return Unknown, nil
	}
	if t.Unit == "count" {
		s := Counted
		if t.Type == "samples" {
			s = Events
		}
		return s, perEvent(values, values, 1)
	}
	if counts := column("samples"); counts != nil {
		return Events, perEvent(values, counts, 1)
	}
	if p.Period > 0 && p.PeriodType.Unit == t.Unit {
		period := float64(p.Period)
		return Events, func(row int) float64 { return period * math.Abs(float64(values[row])) }
	}
	return Unknown, nil
}

// perEvent returns the variance of a sum of counts events; a row without a count is one event.
func perEvent(values, counts []int64, factor float64) func(int) float64 {
	return func(row int) float64 {
		v := float64(values[row])
		return factor * v * v / math.Max(1, math.Abs(float64(counts[row])))
	}
}

func bytesScatter(values, bytes, objects []int64, rate float64) func(int) float64 {
	return func(row int) float64 {
		n, size := math.Abs(float64(objects[row])), 0.0
		if n == 0 || rate <= 1 {
			return 0
		}
		size = math.Abs(float64(bytes[row])) / n
		if size == 0 {
			return 0
		}
		each := float64(values[row]) / n // size in bytes, or 1: depends on the column
		return n * each * each / math.Expm1(size/rate)
	}
}
