package capture

import (
	"math"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// sample is what one window (or one run) says about speed and cost.
type sample struct {
	throughput float64 // requests per second, or runs per second
	cpu        float64 // CPU seconds per request, per run, or per second when there is no load
}

// unknown stands for a figure that a window does not have.
var unknown = math.NaN()

// observer compares a phase's windows with the clean ones; nil when neither speed
// nor cost can be compared. The ratio of means is the one that matters here: the
// report speaks of a phase's mean throughput and mean CPU per request.
func observer(clean, phase []sample) *recording.Observer {
	var o recording.Observer
	speed, ok := compare(clean, phase, func(s sample) float64 { return s.throughput })
	if ok {
		o.ThroughputLoss = 1 - speed.Value
		o.ThroughputLow, o.ThroughputHigh = 1-speed.High, 1-speed.Low
	}
	cost, ok2 := compare(clean, phase, func(s sample) float64 { return s.cpu })
	if ok2 {
		o.CPUGrowth = cost.Value - 1
		o.CPUGrowthLow, o.CPUGrowthHigh = cost.Low-1, cost.High-1
	}
	o.NoThroughput, o.NoCPU = !ok, !ok2
	if !ok && !ok2 {
		return nil
	}
	return &o
}

// compare returns phase/clean of one figure, false when it cannot be told.
func compare(clean, phase []sample, figure func(sample) float64) (stats.Interval, bool) {
	ratio, _ := stats.MeanRatio(known(clean, figure), known(phase, figure))
	return ratio, ratio.Known()
}

func known(samples []sample, figure func(sample) float64) []float64 {
	var xs []float64
	for _, s := range samples {
		if x := figure(s); !math.IsNaN(x) && !math.IsInf(x, 0) {
			xs = append(xs, x)
		}
	}
	return xs
}
