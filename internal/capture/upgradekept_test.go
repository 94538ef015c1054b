package capture

import (
	"testing"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/profile"
)

// TestLiveAfter: what stays of a benchmark is counted per operation, of a single benchmark alone.
func TestLiveAfter(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "alloc_space", Unit: "bytes"}, profile.ValueType{Type: "inuse_space", Unit: "bytes"})
	b.Add([]profile.FrameSpec{{Function: "dep.Set", File: "x.go", Line: 3}}, 9000, 5000)
	b.Add([]profile.FrameSpec{{Function: "dep.Get", File: "x.go", Line: 5}}, 700, 1000)
	data := built(b)
	one := recording.Benchmark{Name: "BenchmarkSet", Samples: []recording.BenchSample{{Iterations: 20}, {Iterations: 10}}}
	for name, c := range map[string]struct {
		benchmarks []recording.Benchmark
		data       []byte
		all, each  float64
	}{
		"one":        {[]recording.Benchmark{one}, data, 6000, 200},
		"two":        {[]recording.Benchmark{one, one}, data, 0, 0},
		"no profile": {[]recording.Benchmark{one}, nil, 0, 0},
		"no runs":    {[]recording.Benchmark{{Name: "BenchmarkSet"}}, data, 0, 0},
	} {
		m := &recording.Manifest{Phases: []recording.Phase{{Name: recording.PhaseCPU, Benchmarks: c.benchmarks}}}
		if all, each := liveAfter(m, c.data); all != c.all || each != c.each {
			t.Errorf("%s: %g, %g per operation", name, all, each)
		}
	}
}

// TestLeastLeaked: the goroutines of connections that are open at the end are no leak.
func TestLeastLeaked(t *testing.T) {
	for connections, want := range map[int]float64{0: 50, 8: 50, 64: 256} {
		if got := leastLeaked(&recording.Manifest{Load: &recording.Load{Connections: connections}}); got != want {
			t.Errorf("%d connections: %g, want %g", connections, got, want)
		}
	}
	if got := leastLeaked(&recording.Manifest{}); got != leastGoroutines {
		t.Errorf("no load: %g", got)
	}
}
