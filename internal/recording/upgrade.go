package recording

import (
	"slices"

	"github.com/hone-go/hone/stats"
)

// Upgrade is what the target cost with newer releases of its expensive dependencies. It was built
// with all of them at once, and ran under the same load; the unchanged target ran before and, if
// that cost more, again after it.
type Upgrade struct {
	Modules []ModuleUpgrade `json:"modules"`
	Figures []UpgradeFigure `json:"figures,omitempty"`
}

// ModuleUpgrade is one module in an upgrade.
type ModuleUpgrade struct {
	Path string `json:"path"`
	From string `json:"from"` // the version that the target is built with
	To   string `json:"to"`
	// Failed says why a newer release was not measured; To is then the newest one.
	Failed string `json:"failed,omitempty"`
}

// Names of the figures of an upgrade, all per request, run or operation.
const (
	UpgradeCPU = "cpu_seconds"
	// The time of a request, a run, an operation. For requests it is the mean in a closed loop,
	// else the median latency.
	UpgradeTime    = "seconds"
	UpgradeBytes   = "alloc_bytes"
	UpgradeObjects = "alloc_objects"
	// What is added during the recording and stays; a value for each recording.
	UpgradeGoroutines = "goroutines_left"
	UpgradeLive       = "live_bytes_left"
	// The most memory that a program which exits took, by the operating system; a value for each
	// recording.
	UpgradePeak = "peak_rss_bytes"
)

// UpgradeFigure is a cost of the unchanged target and of the upgraded one, a value for each window
// or run.
type UpgradeFigure struct {
	Name string    `json:"name"`
	Old  []float64 `json:"old"`
	New  []float64 `json:"new"`
}

// Saved returns the share of a cost that the upgrade saves, with the interval that the scatter of
// the windows gives; below 0 when it costs more. It is unknown if that was not measured.
func (u *Upgrade) Saved(name string) stats.Interval {
	i := slices.IndexFunc(u.Figures, func(f UpgradeFigure) bool { return f.Name == name })
	if i < 0 {
		return stats.Unknown()
	}
	ratio, _ := stats.MeanRatio(u.Figures[i].Old, u.Figures[i].New)
	if !ratio.Known() {
		return stats.Unknown()
	}
	return stats.Minus(stats.Interval{Value: 1, Low: 1, High: 1}, ratio)
}

// Tried returns the upgrade of a module if it was measured, or failed; u may be nil.
func (u *Upgrade) Tried(path string) (ModuleUpgrade, bool) {
	if u != nil {
		for _, m := range u.Modules {
			if m.Path == path && (m.Failed != "" || len(u.Figures) > 0) {
				return m, true
			}
		}
	}
	return ModuleUpgrade{}, false
}

// Grew returns by how much a figure that should not grow did: the least of the unchanged target,
// and that of the upgraded one. It is false if the unchanged target's did not grow noticeably.
func (u *Upgrade) Grew(name string) (old, upgraded float64, ok bool) {
	i := slices.IndexFunc(u.Figures, func(f UpgradeFigure) bool { return f.Name == name })
	if i < 0 {
		return 0, 0, false
	}
	old, upgraded = slices.Min(u.Figures[i].Old), max(0, slices.Max(u.Figures[i].New))
	return old, upgraded, old > 0
}

// leastLeft is the part of what stays up to which an upgrade counts as one that repairs it.
const leastLeft = 0.2

// Repairs reports whether a figure that should not grow does so only without the upgrade, and
// returns what [Upgrade.Grew] does.
func (u *Upgrade) Repairs(name string) (old, upgraded float64, ok bool) {
	old, upgraded, ok = u.Grew(name)
	return old, upgraded, ok && upgraded < leastLeft*old
}

// leastPeak is how many bytes a peak must be lower by to be more than noise.
const leastPeak = 32 << 20

// Peaks returns the largest memory of a program with the upgrade, and the least of those without;
// false unless it is at most half.
func (u *Upgrade) Peaks() (old, upgraded float64, ok bool) {
	old, upgraded, ok = u.Grew(UpgradePeak)
	return old, upgraded, ok && upgraded <= old/2 && old-upgraded >= leastPeak
}

// UpgradeFigures returns what recordings of the same target show: one that was built with the
// upgrade, and some that were not.
func UpgradeFigures(upgraded *Manifest, unchanged ...*Manifest) []UpgradeFigure {
	var list []UpgradeFigure
	for _, name := range []string{UpgradeCPU, UpgradeTime, UpgradeBytes, UpgradeObjects} {
		f := UpgradeFigure{Name: name, New: perUnit(upgraded, unchanged[0], name)}
		for _, m := range unchanged {
			f.Old = append(f.Old, perUnit(m, unchanged[0], name)...)
		}
		if len(f.Old) > 0 && len(f.New) > 0 {
			list = append(list, f)
		}
	}
	return list
}

// perUnit returns a cost per request, run or operation, a value for each window of the phases clean
// and cpu. Figures of several benchmarks are parts of their median in the reference, because they
// do not add up.
func perUnit(m, reference *Manifest, name string) []float64 {
	var values []float64
	for _, phase := range []string{PhaseClean, PhaseCPU} {
		ph, ok := m.Phase(phase)
		if !ok {
			continue
		}
		if m.Target.Bench != "" {
			if phase == PhaseClean {
				values = append(values, benchFigure(&ph, reference, name)...)
			}
			continue
		}
		for _, w := range ph.Windows {
			units := w.Requests
			if m.Load == nil {
				units = 1
			} else if name == UpgradeTime && m.Load.Rate == 0 && m.Load.Connections > 0 && units > 0 && w.Seconds > 0 {
				values = append(values, w.Seconds*float64(m.Load.Connections)/float64(units))
				continue
			}
			if x, ok := windowFigure(w, name); ok && units > 0 {
				if name != UpgradeTime {
					x /= float64(units)
				}
				values = append(values, x)
			}
		}
	}
	return values
}

func windowFigure(w Window, name string) (float64, bool) {
	switch name {
	case UpgradeCPU:
		return w.CPUSeconds, w.CPUSeconds > 0
	case UpgradeBytes:
		return float64(w.AllocBytes), w.AllocBytes > 0
	case UpgradeObjects:
		return float64(w.AllocObjects), w.AllocObjects > 0
	}
	if w.Quantiles != nil {
		return w.Quantiles.P50, w.Quantiles.P50 > 0
	}
	return w.Seconds, w.Requests == 0 && w.Seconds > 0
}

// benchFigure returns a figure of benchmarks, a value per run. CPU time is known of one benchmark
// alone: see Phase.BenchCPU.
func benchFigure(ph *Phase, reference *Manifest, name string) []float64 {
	read := BenchSample.Seconds
	switch name {
	case UpgradeCPU:
		return ph.BenchCPU()
	case UpgradeBytes:
		read = BenchSample.Bytes
	case UpgradeObjects:
		read = BenchSample.Allocs
	}
	if len(ph.Benchmarks) == 1 {
		return ph.Benchmarks[0].PerRun(read)
	}
	base, _ := reference.Phase(PhaseClean)
	var sums []float64
	n := 0.0
	for _, b := range base.Benchmarks {
		i := slices.IndexFunc(ph.Benchmarks, func(o Benchmark) bool { return o.Name == b.Name })
		one := stats.Median(b.PerRun(read))
		if i < 0 || !(one > 0) {
			continue
		}
		runs := ph.Benchmarks[i].PerRun(read)
		if n == 0 {
			sums = make([]float64, len(runs))
		}
		sums = sums[:min(len(sums), len(runs))]
		for k := range sums {
			sums[k] += runs[k] / one
		}
		n++
	}
	for k := range sums {
		sums[k] /= n
	}
	return sums
}
