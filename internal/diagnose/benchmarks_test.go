package diagnose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/recording"
)

func benchSample(run int, seconds, bytes, allocs float64) recording.BenchSample {
	return recording.BenchSample{Run: run, Iterations: 100, SecondsPerOp: seconds, BytesPerOp: &bytes, AllocsPerOp: &allocs}
}

// Each of several benchmarks has its own figures, and figures that cannot be divided among them are
// absent; several lines of one process count once.
func TestBenchmarksHaveARowEach(t *testing.T) {
	ph := recording.Phase{
		Name: recording.PhaseClean, Seconds: 3, Runs: 3, CPUSeconds: 6,
		Windows: []recording.Window{{Seconds: 1, CPUSeconds: 2}, {Seconds: 1, CPUSeconds: 2}, {Seconds: 1, CPUSeconds: 2}},
		Benchmarks: []recording.Benchmark{
			{Name: "Short-2", Samples: []recording.BenchSample{
				benchSample(1, 1, 16, 1), benchSample(1, 3, 16, 1), benchSample(2, 4, 16, 1), benchSample(3, 9, 16, 1)}},
			{Name: "Long-2", Samples: []recording.BenchSample{benchSample(1, 100, 0, 0), benchSample(2, 300, 0, 0)}},
		},
	}
	got := benchmarks(ph)
	b, o, zero := 16.0, 1.0, 0.0
	want := []Benchmark{
		{Name: "Short-2", Runs: 3, Seconds: 4, Shortest: 2, Longest: 9, Bytes: &b, Objects: &o},
		{Name: "Long-2", Runs: 2, Seconds: 200, Shortest: 100, Longest: 300, Bytes: &zero, Objects: &zero},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}

	// A process with a single benchmark spends its CPU on it: with two busy cores, twice the wall
	// time.
	ph.Benchmarks = ph.Benchmarks[:1]
	one := benchmarks(ph)[0]
	if one.CPUSeconds == nil || *one.CPUSeconds != 8 {
		t.Errorf("CPU of an operation: %v, want 8", one.CPUSeconds)
	}
}

// Iterations of several benchmarks are not requests: there is no figure per request.
func TestSeveralBenchmarksHaveNoCommonFigure(t *testing.T) {
	ph := recording.Phase{Name: recording.PhaseClean, Seconds: 1, Runs: 1, CPUSeconds: 1,
		Benchmarks: []recording.Benchmark{
			{Name: "A-2", Samples: []recording.BenchSample{benchSample(1, 1e-6, 1, 1)}},
			{Name: "B-2", Samples: []recording.BenchSample{benchSample(1, 1e-3, 1, 1)}},
		}}
	e := &engine{manifest: recording.Manifest{Phases: []recording.Phase{ph}, Target: recording.Target{Kind: "bench", Bench: "."}}}
	var r Resources
	r.addBenchmarks(e)
	if r.CPUPerRequest != 0 || r.BytesPerRequest != 0 || len(r.Benchmarks) != 2 {
		t.Errorf("%+v", r)
	}
}
