package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/rule"
	gccpusparememory "github.com/hone-go/hone/internal/diagnose/rules/gc-cpu-spare-memory"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	tinyheap "github.com/hone-go/hone/internal/diagnose/rules/tiny-heap"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// TestTinyHeapPrograms: one program makes garbage, the other none. The metrics are given by hand.
func TestTinyHeapPrograms(t *testing.T) {
	for _, name := range []string{"caught", "nearmiss"} {
		p := ruletest.Record(t, "tiny-heap/testdata/"+name+".txtar")
		p.Manifest.Machine.MemoryBytes = 8 << 30
		p.Manifest.Phases[0].GCCycles = int64(100 * p.Manifest.Phases[0].Seconds)
		p.Metrics = map[string]float64{recording.MetricGoal: 4 << 20, recording.MetricLive: 1 << 20}
		matches := matchesOf(t, tinyheap.Rule(), p)
		if caught := name == "caught"; (len(matches) == 1) != caught {
			t.Fatalf("%s: %d matches; the collector takes %g", name, len(matches), collector.Share(p))
		}
		for _, m := range matches {
			work := p.Table.GCWork()
			if s := m.Saving; m.Confidence != rule.Likely || s.Low >= s.Seconds || s.High < s.Seconds || s.High > work.High {
				t.Errorf("%s: %+v of %+v", m.Confidence, *s, work)
			}
		}
		if more := matchesOf(t, gccpusparememory.Rule(), p); len(more) > 0 {
			t.Errorf("%s: said twice: %s", name, more[0].Cause)
		}
	}
}

// trial is of GOGC=400, with its cost relative to that of the program's own setting.
func trial(cost float64) *recording.Trial {
	t := &recording.Trial{GOGC: 400}
	for i, c := range []float64{1, cost - 0.01, cost + 0.01, 1, 1, cost + 0.01, cost - 0.01, 1} {
		t.Turns = append(t.Turns, recording.Turn{GOGC: []int{100, 400}[(i+1)/2%2], Requests: 100, CPUSeconds: c})
	}
	return t
}

func TestTinyHeapSettings(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name         string
		gogc         int
		goal, memory float64
		cycles       int64
		want         string
		trial        *recording.Trial
	}{
		{"plenty", 100, 4 * mib, 8 << 30, 1000, "Try GOGC=1600 with GOMEMLIMIT=256MiB: a heap of 64 MiB saves 75 %", nil},
		{"little", 100, 4 * mib, 90 * mib, 1000, "Try GOGC=800", nil},
		{"none", 100, 4 * mib, 30 * mib, 1000, "", nil},
		{"raised before", 400, 16 * mib, 8 << 30, 1000, "Try GOGC=1600", nil},
		{"a heap of some size", 100, 20 * mib, 8 << 30, 1000, "", nil},
		{"rarely", 100, 4 * mib, 8 << 30, 100, "", nil},
		{"off", -1, 4 * mib, 8 << 30, 1000, "", nil},
		{"unknown goal", 100, 0, 8 << 30, 1000, "", nil},
		{"unknown memory", 100, 4 * mib, 0, 1000, "", nil},
		{"a larger GOGC was tried and saved", 100, 4 * mib, 8 << 30, 1000, "Try GOGC=1600", trial(0.8)},
		{"a larger GOGC was tried for nothing", 100, 4 * mib, 8 << 30, 1000, "", trial(1.01)},
	} {
		table := &site.Table{}
		table.Totals.TotalSeconds, table.Totals.D = 10, 2
		p := &rule.Pass{
			Table: table,
			Manifest: &recording.Manifest{
				Runtime: recording.Runtime{GOGC: c.gogc},
				Machine: recording.Machine{MemoryBytes: int64(c.memory)},
				Trial:   c.trial,
				Phases:  []recording.Phase{{Name: recording.PhaseClean, Seconds: 10, GCCycles: c.cycles, RSSBytes: 10 * mib}},
			},
			Metrics: map[string]float64{recording.MetricGoal: c.goal},
		}
		matches := matchesOf(t, tinyheap.Rule(), p)
		switch {
		case len(matches) == 0 && c.want != "":
			t.Errorf("%s: silent", c.name)
		case len(matches) > 0 && (c.want == "" || !strings.Contains(matches[0].Fix, c.want)):
			t.Errorf("%s: %q, want %q", c.name, matches[0].Fix, c.want)
		}
	}
}
