package recording

import (
	"math"
	"slices"
	"testing"
)

// phaseOf returns a phase of some windows.
func phaseOf(name string, windows ...Window) Phase { return Phase{Name: name, Windows: windows} }

// window is one of a service that takes p50 seconds for a request.
func window(requests int64, cpu float64, bytes int64, p50 float64) Window {
	return Window{Seconds: 1, Requests: requests, CPUSeconds: cpu, AllocBytes: bytes, AllocObjects: bytes / 100, Quantiles: &Quantiles{P50: p50}}
}

func service(phases ...Phase) *Manifest {
	return &Manifest{Target: Target{Kind: "service"}, Load: &Load{}, Phases: phases}
}

func exits(phases ...Phase) *Manifest {
	return &Manifest{Target: Target{Kind: "program"}, Phases: phases}
}

func benchmarks(phases ...Phase) *Manifest {
	return &Manifest{Target: Target{Kind: "bench", Bench: "."}, Phases: phases}
}

// benchmark has one line for each run.
func benchmark(name string, bytes float64, seconds ...float64) Benchmark {
	b := Benchmark{Name: name}
	for i, s := range seconds {
		x, n := bytes, bytes/10
		b.Samples = append(b.Samples, BenchSample{Run: i + 1, Iterations: 10, SecondsPerOp: s, BytesPerOp: &x, AllocsPerOp: &n})
	}
	return b
}

func benchPhase(list ...Benchmark) Phase {
	return Phase{Name: PhaseClean, Benchmarks: list, Windows: []Window{{Seconds: 2, CPUSeconds: 3}, {Seconds: 2, CPUSeconds: 4}}}
}

// closed is a service under as many requests as connections.
func closed(connections int, phases ...Phase) *Manifest {
	m := service(phases...)
	m.Load.Connections = connections
	return m
}

func TestUpgradeFigures(t *testing.T) {
	for name, c := range map[string]struct {
		old, upgraded *Manifest
		want          []UpgradeFigure
	}{
		"service": {
			service(phaseOf(PhaseClean, window(100, 1, 10_000, 0.5), window(200, 4, 20_000, 0.25)), phaseOf(PhaseCPU, window(10, 2, 3000, 0.5)),
				phaseOf(PhaseTrace, window(10, 9, 9999, 9))),
			service(phaseOf(PhaseClean, window(400, 1, 10_000, 0.125)), phaseOf(PhaseCPU, window(0, 1, 500, 0), window(50, 1, 500, 0.125))),
			[]UpgradeFigure{
				{UpgradeCPU, []float64{0.01, 0.02, 0.2}, []float64{0.0025, 0.02}},
				{UpgradeTime, []float64{0.5, 0.25, 0.5}, []float64{0.125, 0.125}},
				{UpgradeBytes, []float64{100, 100, 300}, []float64{25, 10}},
				{UpgradeObjects, []float64{1, 1, 3}, []float64{0.25, 0.1}},
			},
		},
		"service in a closed loop": { // whose mean time is known: most requests are fast
			closed(4, phaseOf(PhaseClean, Window{Seconds: 2, Requests: 10, Quantiles: &Quantiles{P50: 0.01}})),
			closed(4, phaseOf(PhaseClean, Window{Seconds: 2, Requests: 80, Quantiles: &Quantiles{P50: 0.01}})),
			[]UpgradeFigure{{UpgradeTime, []float64{0.8}, []float64{0.1}}},
		},
		"service without quantiles": {
			service(phaseOf(PhaseClean, Window{Seconds: 1, Requests: 10, CPUSeconds: 1})),
			service(phaseOf(PhaseClean, Window{Seconds: 1, Requests: 10, CPUSeconds: 0.5})),
			[]UpgradeFigure{{UpgradeCPU, []float64{0.1}, []float64{0.05}}},
		},
		"program": {
			exits(phaseOf(PhaseClean, Window{Seconds: 4, CPUSeconds: 2, AllocBytes: 800, AllocObjects: 8}, Window{Seconds: 5, CPUSeconds: 3}),
				phaseOf(PhaseCPU, Window{Seconds: 6, CPUSeconds: 4, AllocBytes: 900, AllocObjects: 9})),
			exits(phaseOf(PhaseClean, Window{Seconds: 2, CPUSeconds: 1, AllocBytes: 400, AllocObjects: 4})),
			[]UpgradeFigure{
				{UpgradeCPU, []float64{2, 3, 4}, []float64{1}},
				{UpgradeTime, []float64{4, 5, 6}, []float64{2}},
				{UpgradeBytes, []float64{800, 900}, []float64{400}},
				{UpgradeObjects, []float64{8, 9}, []float64{4}},
			},
		},
		"program whose CPU is not known": {
			exits(phaseOf(PhaseClean, Window{Seconds: 4})), exits(phaseOf(PhaseClean, Window{Seconds: 2, CPUSeconds: 1})),
			[]UpgradeFigure{{UpgradeTime, []float64{4}, []float64{2}}},
		},
		"one benchmark": {
			benchmarks(benchPhase(benchmark("A", 100, 0.5, 0.25)), phaseOf(PhaseCPU, Window{Seconds: 9, CPUSeconds: 9})),
			benchmarks(benchPhase(benchmark("A", 50, 0.125, 0.125))),
			[]UpgradeFigure{
				{UpgradeCPU, []float64{0.75, 0.5}, []float64{0.1875, 0.25}},
				{UpgradeTime, []float64{0.5, 0.25}, []float64{0.125, 0.125}},
				{UpgradeBytes, []float64{100, 100}, []float64{50, 50}},
				{UpgradeObjects, []float64{10, 10}, []float64{5, 5}},
			},
		},
		// Parts of the median, so that the slower one does not hide the faster one.
		"several benchmarks": {
			benchmarks(benchPhase(benchmark("A", 100, 10, 10, 10), benchmark("B", 8, 0.5, 0.25, 0.75))),
			benchmarks(benchPhase(benchmark("B", 4, 0.25, 0.25), benchmark("A", 100, 5, 10))),
			[]UpgradeFigure{
				{UpgradeTime, []float64{1, 0.75, 1.25}, []float64{0.5, 0.75}},
				{UpgradeBytes, []float64{1, 1, 1}, []float64{0.75, 0.75}},
				{UpgradeObjects, []float64{1, 1, 1}, []float64{0.75, 0.75}},
			},
		},
		"several benchmarks that allocate nothing": {
			benchmarks(benchPhase(benchmark("A", 0, 1, 1), benchmark("B", 0, 2, 2))),
			benchmarks(benchPhase(benchmark("A", 0, 1, 1), benchmark("B", 0, 1, 1))),
			[]UpgradeFigure{{UpgradeTime, []float64{1, 1}, []float64{0.75, 0.75}}},
		},
		"nothing upgraded": {service(phaseOf(PhaseClean, window(100, 1, 10_000, 0.5))), service(), nil},
		"only a trace": {
			service(phaseOf(PhaseTrace, window(1, 1, 1, 1))), service(phaseOf(PhaseClean, window(100, 1, 10_000, 0.5))), nil,
		},
		"benchmarks of which none is left": {
			benchmarks(benchPhase(benchmark("A", 1, 1), benchmark("B", 1, 2))), benchmarks(benchPhase(benchmark("C", 1, 1), benchmark("D", 1, 2))), nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := UpgradeFigures(c.upgraded, c.old)
			same := slices.EqualFunc(got, c.want, func(a, b UpgradeFigure) bool {
				return a.Name == b.Name && slices.EqualFunc(a.Old, b.Old, near) && slices.EqualFunc(a.New, b.New, near)
			})
			if !same {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12*max(1, math.Abs(b)) }

func TestUpgradeSaved(t *testing.T) {
	u := &Upgrade{Figures: []UpgradeFigure{
		{UpgradeCPU, []float64{4, 4.1, 3.9, 4}, []float64{2, 2.1, 1.9, 2}},
		{UpgradeTime, []float64{1, 2, 3, 4}, []float64{2, 1, 4, 3}},
		{UpgradeBytes, []float64{100, 100}, []float64{125, 125}},
		{UpgradeObjects, []float64{100}, []float64{50}},
	}}
	if s := u.Saved(UpgradeCPU); !near(s.Value, 0.5) || s.Low < 0.45 || s.Low >= 0.5 || s.High <= 0.5 || s.High > 0.55 {
		t.Errorf("half of the CPU: %v", s)
	}
	if s := u.Saved(UpgradeTime); !near(s.Value, 0) || s.Low >= 0 || s.High <= 0 {
		t.Errorf("the same time, scattered: %v", s)
	}
	if s := u.Saved(UpgradeBytes); !near(s.Value, -0.25) || !near(s.Low, -0.25) || !near(s.High, -0.25) {
		t.Errorf("a quarter more bytes, always: %v", s)
	}
	if s := u.Saved(UpgradeObjects); s.Known() {
		t.Errorf("one value: %v", s)
	}
	if s := (&Upgrade{}).Saved(UpgradeCPU); s.Known() {
		t.Errorf("no figures: %v", s)
	}
}

func TestUpgradeTried(t *testing.T) {
	u := &Upgrade{
		Modules: []ModuleUpgrade{{Path: "example.com/a", From: "v1.0.0", To: "v1.1.0"}, {Path: "example.com/b", From: "v1.0.0", To: "v1.1.0", Failed: "does not build"}},
		Figures: []UpgradeFigure{{UpgradeCPU, []float64{1}, []float64{1}}},
	}
	if m, ok := u.Tried("example.com/a"); !ok || m.To != "v1.1.0" {
		t.Errorf("%+v, %v", m, ok)
	}
	if m, ok := u.Tried("example.com/b"); !ok || m.Failed == "" {
		t.Errorf("one that failed: %+v, %v", m, ok)
	}
	if m, ok := u.Tried("example.com/c"); ok || m != (ModuleUpgrade{}) {
		t.Errorf("another: %+v, %v", m, ok)
	}
	if _, ok := (*Upgrade)(nil).Tried("example.com/a"); ok {
		t.Error("tried without an upgrade")
	}
	u.Figures = nil
	if _, ok := u.Tried("example.com/a"); ok {
		t.Error("measured without figures")
	}
}

func TestUpgradeGrew(t *testing.T) {
	u := &Upgrade{Figures: []UpgradeFigure{{UpgradeGoroutines, []float64{1.1, 0.9}, []float64{-0.1}}, {UpgradeLive, []float64{0, 5}, []float64{7}}}}
	if old, now, ok := u.Grew(UpgradeGoroutines); !ok || old != 0.9 || now != 0 {
		t.Errorf("goroutines: %g, %g, %v", old, now, ok)
	}
	if _, _, ok := u.Grew(UpgradeLive); ok {
		t.Error("memory that grew in one of two runs")
	}
	if _, _, ok := u.Grew(UpgradeCPU); ok {
		t.Error("a figure that was not measured")
	}
}

// TestUpgradeRepairs: what stays counts as repaired when a fifth of it is left, a peak when it is
// half as high.
func TestUpgradeRepairs(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name           string
		old, now       []float64
		repairs, peaks bool
	}{
		{UpgradeLive, []float64{300, 320}, []float64{50}, true, false},
		{UpgradeLive, []float64{300, 320}, []float64{70}, false, false},
		{UpgradeLive, []float64{-1, 320}, []float64{0}, false, false},
		{UpgradeGoroutines, []float64{1}, []float64{0}, true, false},
		{UpgradePeak, []float64{445 * mib, 450 * mib}, []float64{16 * mib, 20 * mib}, false, true},
		{UpgradePeak, []float64{445 * mib}, []float64{230 * mib}, false, false},
		{UpgradePeak, []float64{30 * mib}, []float64{2 * mib}, false, false},
	} {
		u := &Upgrade{Figures: []UpgradeFigure{{Name: c.name, Old: c.old, New: c.now}}}
		_, _, repairs := u.Repairs(UpgradeLive)
		_, _, ends := u.Repairs(UpgradeGoroutines)
		if _, _, peaks := u.Peaks(); (repairs || ends) != c.repairs || peaks != c.peaks {
			t.Errorf("%s %v to %v: repairs %t, peaks %t", c.name, c.old, c.now, repairs || ends, peaks)
		}
	}
}
