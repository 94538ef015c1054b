package evidence

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
)

// TestUnitsOfWork: the operations of a benchmark count where the profile has no other benchmark's.
func TestUnitsOfWork(t *testing.T) {
	one := recording.Benchmark{Samples: []recording.BenchSample{{Iterations: 60}, {Iterations: 40}}}
	for _, c := range []struct {
		what  string
		phase recording.Phase
		bench string
		want  float64
	}{
		{"requests", recording.Phase{Requests: 70, Runs: 2}, "", 70},
		{"runs", recording.Phase{Runs: 2}, "", 2},
		{"one benchmark", recording.Phase{Runs: 2, Benchmarks: []recording.Benchmark{one}}, ".", 100},
		{"two benchmarks", recording.Phase{Runs: 2, Benchmarks: []recording.Benchmark{one, one}}, ".", 0},
	} {
		c.phase.Name = recording.PhaseCPU
		m := &recording.Manifest{Target: recording.Target{Bench: c.bench}, Phases: []recording.Phase{c.phase}}
		if got := unitsOfWork(&rule.Pass{Manifest: m}); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
