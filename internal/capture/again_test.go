package capture

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/target"
	"github.com/hone-go/hone/profile"
)

// TestSlowCounting: a program that would run for hours with counters is stopped, then counted again
// in its own packages only; the recording is complete without counts. The fake program that counts
// never exits on its own.
func TestSlowCounting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := programLab(t, 5*time.Second, func(_ int, s target.RunSpec, p *fakeProgram) {
			if s.Collect.CPU {
				p.parts["cpu"] = twoPackages()
			}
		})
		plain := l.start
		var counted []time.Time
		l.start = func(s target.RunSpec) process {
			if s.Collect.Counters {
				counted = append(counted, time.Now())
				return newFake()
			}
			return plain(s)
		}
		var built [][]string
		build := l.world.build
		l.world.build = func(ctx context.Context, s target.BuildSpec) (*target.Binary, startFunc, error) {
			if s.Counted != nil {
				built = append(built, s.Counted)
			}
			return build(ctx, s)
		}
		l.o.Phases = []string{recording.PhaseCPU, recording.PhaseCounts}
		l.o.Timeout = time.Hour
		partial, err := l.record(t.Context())
		if partial || err != nil {
			t.Fatal(partial, err)
		}
		for _, packages := range built {
			slices.Sort(packages)
		}
		if d := cmp.Diff([][]string{{"example.com/x", "example.org/codec"}, {"example.com/x"}}, built); d != "" {
			t.Errorf("packages with counters (-want +got):\n%s", d)
		}
		if len(counted) != 2 || counted[1].Sub(counted[0]).Round(time.Second) != 50*time.Second || time.Since(counted[1]).Round(time.Second) != 50*time.Second {
			t.Errorf("counted runs began at %v, the recording ended at %v; want ten times 5 s for each", counted, time.Now())
		}
		m := l.open().Manifest
		i := slices.IndexFunc(m.Missing, func(x recording.Missing) bool { return x.Part == recording.PartCounts })
		if i < 0 || !strings.Contains(m.Missing[i].Why, "stopped after 50 s; without counters it takes 5 s") {
			t.Errorf("missing: %+v", m.Missing)
		}
		if notes := strings.Join(m.Notes, "\n"); !strings.Contains(notes, "It ran again with counters in the program's own module only") {
			t.Errorf("notes: %q", notes)
		}
	})
}

// twoPackages is a CPU profile of a program that also spends CPU in a dependency.
func twoPackages() []byte {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
	b.Add([]profile.FrameSpec{{Function: "example.org/codec.Read", File: "codec.go", Line: 9}, {Function: "main.work", File: "main.go", Line: 3}}, 3, 3e7)
	return built(b)
}

// TestOperationsAgain: fewer operations of benchmarks are counted where 200 take long.
func TestOperationsAgain(t *testing.T) {
	bench := func(seconds ...float64) (b recording.Benchmark) {
		for _, s := range seconds {
			b.Samples = append(b.Samples, recording.BenchSample{SecondsPerOp: s})
		}
		return b
	}
	for _, c := range []struct {
		benchmarks []recording.Benchmark
		ops        int
	}{
		{nil, 200},
		{[]recording.Benchmark{bench(1e-6, 2e-6)}, 200},
		{[]recording.Benchmark{bench(0.08, 0.05)}, 20},
		{[]recording.Benchmark{bench(0.05), bench(0.2)}, 4},
		{[]recording.Benchmark{bench(7)}, 3},
	} {
		r := &recorder{stretches: []stretch{{phase: recording.Phase{Name: recording.PhaseClean, Benchmarks: c.benchmarks}}}}
		if ops, _ := r.opsAgain(); ops != c.ops {
			t.Errorf("%v: %d operations, want %d", c.benchmarks, ops, c.ops)
		}
	}
}
