package capture

import (
	"fmt"
	"math"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// sample is the speed and the cost of one window (or one run).
type sample struct {
	throughput float64 // requests per second, or runs per second
	cpu        float64 // CPU seconds per request, per run, or per second when there is no load
}

// unknown is the value of a figure that a window does not have.
var unknown = math.NaN()

// drift is how much better than the clean phase, beyond the interval, a phase may look before the
// machine is blamed.
const drift = 0.03

// observer compares a phase's windows with the clean ones; nil when neither speed nor cost can be
// compared. It compares means, since the report states a phase's mean throughput and mean CPU per
// request.
//
// No observation makes a program faster. When a phase is faster or cheaper than the clean one,
// beyond its interval and drift, the machine changed in between: the figure is then withheld, and
// why states the reason.
func observer(clean, phase []sample) (o *recording.Observer, why string) {
	o = &recording.Observer{NoThroughput: true, NoCPU: true}
	if r, ok := compare(clean, phase, func(s sample) float64 { return s.throughput }); ok {
		if r.Low > 1+drift {
			why = fmt.Sprintf("cannot tell, the throughput was %.0f %% higher than in phase clean: the machine's speed changed meanwhile", 100*(r.Value-1))
		} else {
			o.NoThroughput = false
			o.ThroughputLoss, o.ThroughputLow, o.ThroughputHigh = 1-r.Value, 1-r.High, 1-r.Low
		}
	}
	if r, ok := compare(clean, phase, func(s sample) float64 { return s.cpu }); ok {
		if r.High < 1-drift {
			why = fmt.Sprintf("cannot tell, the CPU time of the same work was %.0f %% lower than in phase clean: the machine's speed changed meanwhile", 100*(1-r.Value))
		} else {
			o.NoCPU = false
			o.CPUGrowth, o.CPUGrowthLow, o.CPUGrowthHigh = r.Value-1, r.Low-1, r.High-1
		}
	}
	if o.NoThroughput && o.NoCPU {
		return nil, why
	}
	return o, why
}

// compare returns phase/clean of one figure, false when it is unknown.
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
