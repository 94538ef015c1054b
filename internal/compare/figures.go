package compare

import (
	"math"
	"slices"
	"strings"

	"github.com/hone-go/hone/internal/recording"
)

// kind is what a figure measures, which determines how much it varies from run to run.
type kind int

const (
	cpuTime   kind = iota // of the process
	wallTime              // run time, time of an operation, throughput, median latency
	tail                  // of the latency
	allocated             // bytes and objects
	memory                // that the process holds
	collector             // its share of the CPU time
	lockWait              // of all goroutines
)

// figure is one metric of one recording.
type figure struct {
	name, metric, unit string
	higherBetter       bool
	kind               kind
	bench              bool // name is a benchmark's

	value  float64
	values []float64 // one per window or process
	// processes says that each value comes from a process of its own. If all are equal, the figure
	// is exact.
	processes bool
	// floor is the smallest change that gets a verdict, in the figure's unit; 0 for none.
	floor float64
	// background is what the runtime may allocate apart from the program, as a share of the figure,
	// in each of values.
	background float64
}

// The runtime allocates for itself, and for each new goroutine that cannot reuse a finished one;
// how often depends on the scheduler. These are the resulting variations, per process or per second
// of a service.
const (
	backgroundBytes   = 64 << 10
	backgroundObjects = 300
)

// figures returns the metrics of a clean phase.
func figures(m recording.Manifest, p recording.Phase) []figure {
	switch {
	case len(p.Benchmarks) > 0:
		return benchFigures(p)
	case p.Requests > 0:
		return requestFigures(m.Unit(), p)
	case p.Runs > 0:
		return perUnit("run", p, float64(p.Runs), func(recording.Window) float64 { return 1 }, true)
	case p.Seconds > 0 && m.Target.Bench == "":
		return perUnit("second", p, p.Seconds, func(w recording.Window) float64 { return w.Seconds }, false)
	}
	return nil
}

// perUnit divides the costs of a phase by a number of units.
func perUnit(per string, p recording.Phase, n float64, count func(recording.Window) float64, processes bool) []figure {
	var list []figure
	over := func(metric, unit string, k kind, total, background float64, w func(recording.Window) float64) {
		if total <= 0 || n <= 0 {
			return
		}
		f := figure{name: cleanPhase, metric: metric, unit: unit + "/" + per, kind: k, value: total / n, processes: processes}
		for _, x := range p.Windows {
			if a, b := w(x), count(x); a > 0 && b > 0 {
				f.values = append(f.values, a/b)
			}
		}
		if background > 0 {
			f.background = background / total * float64(max(1, len(p.Windows)))
		}
		list = append(list, f)
	}
	over("cpu", "s", cpuTime, p.CPUSeconds, 0, func(w recording.Window) float64 { return w.CPUSeconds })
	over("allocated", "B", allocated, float64(p.AllocBytes), backgroundBytes, func(w recording.Window) float64 { return float64(w.AllocBytes) })
	over("allocations", "objects", allocated, float64(p.AllocObjects), backgroundObjects, func(w recording.Window) float64 { return float64(w.AllocObjects) })
	if processes {
		over("wall", "s", wallTime, p.Seconds, 0, func(w recording.Window) float64 { return w.Seconds })
	}
	return list
}

const cleanPhase = "clean phase"

// requestFigures returns the metrics of a service under load.
func requestFigures(unit string, p recording.Phase) []figure {
	list := perUnit(unit, p, float64(p.Requests), func(w recording.Window) float64 { return float64(w.Requests) }, false)
	if p.Seconds > 0 {
		f := figure{name: cleanPhase, metric: "throughput", unit: unit + "s/s", kind: wallTime, higherBetter: true, value: float64(p.Requests) / p.Seconds}
		for _, w := range p.Windows {
			if w.Requests > 0 && w.Seconds > 0 {
				f.values = append(f.values, float64(w.Requests)/w.Seconds)
			}
		}
		list = append(list, f)
	}
	of := p.Latency
	if of == nil {
		of = p.Service
	}
	if of == nil {
		return list
	}
	for _, q := range []struct {
		name string
		kind kind
		of   func(recording.Quantiles) float64
	}{
		{"p50", wallTime, func(q recording.Quantiles) float64 { return q.P50 }},
		{"p99", tail, func(q recording.Quantiles) float64 { return q.P99 }},
	} {
		f := figure{name: cleanPhase, metric: "latency " + q.name, unit: "s", kind: q.kind, value: q.of(*of)}
		for _, w := range p.Windows {
			if w.Quantiles != nil && q.of(*w.Quantiles) > 0 {
				f.values = append(f.values, q.of(*w.Quantiles))
			}
		}
		if f.value > 0 {
			list = append(list, f)
		}
	}
	return list
}

// Metrics that are compared only between interleaved recordings: each recording has one value,
// which ranks can judge.
const (
	PeakMemory = "peak memory" // the most that a process held
	// GCShare is the garbage collector's share of the CPU time. It is not a cost of its own: it
	// also grows where the rest of a program costs less.
	GCShare  = "GC share"
	LockWait = "lock wait" // total time for which goroutines waited for mutexes
)

// trialFigures returns these metrics of a recording.
func trialFigures(m recording.Manifest, p recording.Phase) []figure {
	var list []figure
	name := cleanPhase
	bench := len(p.Benchmarks) > 0
	if bench {
		name = p.Benchmarks[0].Name
	}
	add := func(metric, unit string, k kind, value, floor float64) {
		list = append(list, figure{name: name, metric: metric, unit: unit, kind: k, value: value, floor: floor, bench: bench})
	}
	for _, b := range p.Benchmarks {
		if b.PeakRSSBytes > 0 {
			list = append(list, figure{name: b.Name, metric: PeakMemory, unit: "B", kind: memory, value: float64(b.PeakRSSBytes), floor: leastPeak, bench: true})
		}
	}
	// Peak memory of benchmarks that run for a given time depends on their number of iterations.
	if peak := max(p.PeakRSSBytes, p.RSSBytes); peak > 0 && !bench {
		add(PeakMemory, "B", memory, float64(peak), leastPeak)
	}
	if len(p.Benchmarks) > 1 || p.CPUSeconds <= 0 {
		return list // the process's figures cover all benchmarks
	}
	if p.GCSeconds != nil {
		// Both ratios can only be too large: GCSeconds is at least what the garbage collector used,
		// and BusySeconds is counted up to the last collection. The smaller ratio is closer.
		share := math.Min(1, *p.GCSeconds/p.CPUSeconds)
		if p.BusySeconds != nil && *p.BusySeconds > 0 {
			share = math.Min(share, *p.GCSeconds / *p.BusySeconds)
		}
		add(GCShare, "share", collector, share, leastGCShare)
	}
	// Values of the whole process are divided among operations, runs or requests by the CPU time
	// that these use.
	cpu := slices.IndexFunc(figures(m, p), func(f figure) bool { return f.metric == "cpu" })
	if cpu >= 0 && p.LockSeconds != nil {
		f := figures(m, p)[cpu]
		add(LockWait, f.unit, lockWait, *p.LockSeconds/p.CPUSeconds*f.value, leastLockWait*f.value)
	}
	return list
}

// Smaller changes get no verdict, however certain they are.
const (
	leastGCShare  = 0.01    // of the CPU time
	leastLockWait = 0.05    // of the CPU that a request, run or operation takes
	leastPeak     = 1 << 20 // bytes: another version's code and data differ by as much, and a heap of 4 MiB overshoots by as much
)

// benchFigures returns the metrics per operation of each benchmark, with one value per process.
func benchFigures(p recording.Phase) []figure {
	var list []figure
	for _, b := range p.Benchmarks {
		add := func(metric, unit string, k kind, values []float64) {
			if len(values) == 0 {
				return
			}
			f := figure{name: b.Name, metric: metric, unit: unit + "/operation", kind: k, bench: true, processes: true, values: values}
			for _, x := range values {
				f.value += x / float64(len(values))
			}
			list = append(list, f)
		}
		add("time", "s", wallTime, b.PerRun(recording.BenchSample.Seconds))
		add("cpu", "s", cpuTime, p.BenchCPU())
		add("allocated", "B", allocated, b.PerRun(recording.BenchSample.Bytes))
		add("allocations", "objects", allocated, b.PerRun(recording.BenchSample.Allocs))
		for _, unit := range reported(b) {
			add(unit, unit, tail, b.PerRun(func(s recording.BenchSample) (float64, bool) { v, ok := s.Metrics[unit]; return v, ok }))
			list[len(list)-1].unit = unit
		}
	}
	return list
}

// reported lists the units of b.ReportMetric that are a cost per operation, such as "conns/op":
// less is better. For other units, hone does not know which direction is better.
func reported(b recording.Benchmark) (units []string) {
	for _, s := range b.Samples {
		for unit := range s.Metrics {
			if strings.HasSuffix(unit, "/op") && !slices.Contains(units, unit) {
				units = append(units, unit)
			}
		}
	}
	slices.Sort(units)
	return units
}
