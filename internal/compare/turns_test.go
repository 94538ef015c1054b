package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hone-go/hone/internal/recording"
)

// inTurns draws the CPU figures of two sides whose runs are interleaved, on a machine that drifts.
func inTurns(rng *rand.Rand, runs int, factor float64) pair {
	var p pair
	drift := 0.0
	for range runs {
		for side, f := range []float64{1, factor} {
			drift += 0.02 * rng.NormFloat64()
			v := 70e-6 * f * math.Exp(drift+0.05*rng.NormFloat64())
			p.figures[side] = append(p.figures[side], figure{name: cleanPhase, metric: "cpu", unit: "s/request", kind: cpuTime, value: v})
		}
	}
	return p
}

// TestByRanks: of equal sides at most one in forty may get a verdict; a change of 20 % gets one.
func TestByRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		factor      float64
		least, most float64
	}{{1, 0, 0.03}, {0.8, 0.9, 1}} {
		const tries = 500
		called := 0
		for range tries {
			c := Comparison{Rows: []Row{{N: [2]int{6, 6}, kind: cpuTime, Old: 1, New: tt.factor, P: new(float64)}}}
			inTurns(rng, 6, tt.factor).byRanks(&c.Rows[0])
			c.decide()
			if v := c.Rows[0].Verdict; v == Better || v == Worse {
				called++
			}
		}
		share := float64(called) / tries
		t.Logf("factor %v: %.1f %% called changed", tt.factor, 100*share)
		if share < tt.least || share > tt.most {
			t.Errorf("factor %v: %.1f %% called changed, want %.0f to %.0f %%", tt.factor, 100*share, 100*tt.least, 100*tt.most)
		}
	}
}

// TestTrialFigures: interleaved recordings are also compared by metrics that have one value per
// recording; changes too small to matter get no verdict, however significant they are.
func TestTrialFigures(t *testing.T) {
	service := func(gc, wait float64, i int) recording.Manifest {
		m := manifest(1, 0)
		m.ID = fmt.Sprint(gc, wait, i)
		p := &m.Phases[0]
		gc, wait = gc*(1+0.01*float64(i)), wait*(1+0.01*float64(i))
		busy := 5.0 // the runtime's clock stopped earlier, and the share of the process's own time is smaller
		p.GCSeconds, p.BusySeconds, p.LockSeconds, p.PeakRSSBytes = &gc, &busy, &wait, 100<<20
		return m
	}
	ofBench := func(gc, wait float64, i int) recording.Manifest {
		m := bench(map[string][3]float64{"A": {1e-6, 100, 2}}, "A")
		m.ID = fmt.Sprint(gc, wait, i)
		gc, wait = gc*(1+0.01*float64(i)), wait*(1+0.01*float64(i))
		busy := 6.0 // other processes used its CPUs
		m.Phases[0].GCSeconds, m.Phases[0].BusySeconds, m.Phases[0].LockSeconds = &gc, &busy, &wait
		return m
	}
	several := func(gc, wait float64, make func(gc, wait float64, i int) recording.Manifest) (list []Source) {
		for i := range 6 {
			list = append(list, Source{Name: fmt.Sprint(i), Manifest: make(gc, wait, i)})
		}
		return list
	}
	for _, tt := range []struct {
		what             string
		of               func(gc, wait float64, i int) recording.Manifest
		oldGC, newGC     float64 // seconds, of 10 of CPU; of benchmarks, of 3
		oldWait, newWait float64
		gc, wait         Verdict
		share, each      float64 // of the old side
	}{
		{"less of both", service, 2, 1, 8, 1, Better, Better, 0.205, 8.2e-4},
		{"more of both", service, 1, 2, 1, 8, Worse, Worse, 0.1025, 1.025e-4},
		{"little of both", service, 0.02, 0.001, 0.1, 0.001, Unknown, Unknown, 0.00205, 1.025e-5},
		{"a benchmark", ofBench, 0.9, 0.3, 3, 0.1, Better, Better, 0.15375, 0.5125e-6},
	} {
		c := compared(t, several(tt.oldGC, tt.oldWait, tt.of), several(tt.newGC, tt.newWait, tt.of), Options{InTurns: true})
		for metric, want := range map[string]struct {
			verdict Verdict
			old     float64
		}{GCShare: {tt.gc, tt.share}, LockWait: {tt.wait, tt.each}} {
			if r := row(t, c, metric); r.Verdict != want.verdict || math.Abs(r.Old/want.old-1) > 1e-6 {
				t.Errorf("%s: %s is %v, %v, want %v, %v", tt.what, metric, r.Old, r.Verdict, want.old, want.verdict)
			}
		}
	}
	idle := func(gc, wait float64, i int) recording.Manifest {
		m := service(0, 0, i)
		m.ID = ""
		return m
	}
	none := compared(t, several(0, 0, idle), several(0, 0, idle), Options{InTurns: true})
	for _, r := range none.Rows {
		if r.Metric == GCShare || r.Metric == LockWait {
			t.Errorf("a row of nothing: %+v", r)
		}
	}
	alone := compared(t, single("a", service(2, 8, 1)), single("b", service(1, 1, 2)), Options{})
	for _, r := range alone.Rows {
		if r.Metric == GCShare || r.Metric == PeakMemory {
			t.Errorf("%s has one value a recording, and these were not interleaved", r.Metric)
		}
	}
}

// TestPeakOfBenchmarks: interleaved recordings of benchmarks are compared by the peak memory of
// each, and small differences between processes of a few MiB get no verdict.
func TestPeakOfBenchmarks(t *testing.T) {
	side := func(peaks map[string]int64, id string) (list []Source) {
		for i := range 6 {
			m := bench(map[string][3]float64{"A": {1e-6, 100, 2}, "B": {1e-6, 100, 2}}, "A", "B")
			m.ID = fmt.Sprint(id, i)
			for j := range m.Phases[0].Benchmarks {
				b := &m.Phases[0].Benchmarks[j]
				b.PeakRSSBytes, b.PeakOperations = peaks[b.Name]+int64(i)<<10, 1000
			}
			list = append(list, Source{Name: fmt.Sprint(id, i), Manifest: m})
		}
		return list
	}
	c := compared(t, side(map[string]int64{"A": 40 << 20, "B": 8 << 20}, "old"), side(map[string]int64{"A": 20 << 20, "B": 8<<20 + 300<<10}, "new"), Options{InTurns: true})
	got := map[string]Verdict{}
	for i, r := range c.Rows {
		if i > 0 && r.Name == "A" && c.Rows[i-1].Name == "B" {
			t.Error("the rows of A are not together")
		}
		if r.Metric == PeakMemory {
			got[r.Name] = r.Verdict
			if r.Low == nil || r.High == nil {
				t.Errorf("%s has no interval", r.Name)
			}
		}
	}
	if got["A"] != Better || got["B"] != Unknown || len(got) != 2 {
		t.Errorf("%v, want A better and B unknown", got)
	}
}
