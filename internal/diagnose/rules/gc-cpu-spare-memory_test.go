package rules_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/internal/diagnose/rule"
	gccpusparememory "github.com/hone-go/hone/internal/diagnose/rules/gc-cpu-spare-memory"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// gcSpareMemoryFind runs the rule, and returns nil if it reports nothing.
func gcSpareMemoryFind(t *testing.T, p *rule.Pass) *rule.Match {
	t.Helper()
	matches := matchesOf(t, gccpusparememory.Rule(), p)
	if len(matches) == 0 {
		return nil
	}
	if len(matches) > 1 || matches[0].Site != nil || matches[0].Saving == nil {
		t.Fatalf("%+v", matches)
	}
	return &matches[0]
}

func TestGCCPUSpareMemoryCaught(t *testing.T) {
	p := ruletest.Record(t, "gc-cpu-spare-memory/testdata/caught.txtar")
	p.Manifest.Machine.MemoryBytes = 8 << 30
	m := gcSpareMemoryFind(t, p)
	if m == nil {
		t.Fatalf("not found: %+v", p.Table.Totals)
	}
	t.Logf("%s %s %+v", m.Cause, m.Fix, *m.Saving)
	work := p.Table.CycleWork()
	worth := stats.Mul(work, stats.Interval{Value: 1.3, Low: 1, High: 1.7}) // with what is saved outside of marking
	if s := m.Saving; math.Abs(s.Seconds-worth.Value*0.75) > 1e-9 || s.Low >= s.Seconds || s.High < s.Seconds || s.High > worth.High {
		t.Errorf("saving %+v of %+v", *s, work)
	}
	if !strings.HasPrefix(m.Fix, "Try GOGC=400 with GOMEMLIMIT=6100MiB") {
		t.Error(m.Fix)
	}

	// A trace in which slowness while marking costs as much CPU time as marking.
	lost := p.Table.GCWork().Scale(1 / p.Table.Totals.TotalSeconds)
	p.Trace = &analysis.Results{Parallelism: &parallelism.Result{Marking: parallelism.Marking{
		Share: 0.2, SlowerByCPU: stats.Interval{Value: 1.5, Low: 1.4, High: 1.6},
		LostCPU: stats.Interval{Value: lost.Value, Low: lost.Value / 2, High: 2 * lost.Value},
	}}}
	slow := gcSpareMemoryFind(t, p)
	if slow == nil || math.Abs(slow.Saving.Seconds-m.Saving.Seconds-0.75*work.Value) > 1e-9 {
		t.Errorf("%+v with a program that marking slows down, %+v without", slow, m.Saving)
	}
	if slow != nil && !slices.ContainsFunc(slow.Evidence, func(e rule.Evidence) bool { return strings.HasPrefix(e.Value, "1.5 times slower") }) {
		t.Errorf("evidence %+v", slow.Evidence)
	}
	p.Trace = nil

	p.Manifest.Runtime.GOGC = 400
	if gcSpareMemoryFind(t, p) != nil {
		t.Error("GOGC is high already")
	}
	p.Manifest.Runtime.GOGC = -1
	if gcSpareMemoryFind(t, p) != nil {
		t.Error("the collector is off")
	}
	p.Manifest.Runtime.GOGC = 100
	p.Manifest.Machine.CgroupBytes = int64(1.2 * float64(p.Manifest.Phases[0].RSSBytes))
	if gcSpareMemoryFind(t, p) != nil {
		t.Error("memory is not idle")
	}
}

func TestGCCPUSpareMemoryNearMiss(t *testing.T) {
	p := ruletest.Record(t, "gc-cpu-spare-memory/testdata/nearmiss.txtar")
	p.Manifest.Machine.MemoryBytes = 8 << 30
	if m := gcSpareMemoryFind(t, p); m != nil {
		t.Errorf("found: %s", m.Cause)
	}
}

// TestGCCPUSpareMemoryTrial: a trial has more weight than the prediction.
func TestGCCPUSpareMemoryTrial(t *testing.T) {
	pass := ruletest.Record(t, "gc-cpu-spare-memory/testdata/caught.txtar")
	pass.Manifest.Machine.MemoryBytes = 8 << 30
	pass.Metrics = map[string]float64{recording.MetricLive: 100 << 20, recording.MetricTotal: 250 << 20}
	turns := func(costs ...float64) *recording.Trial {
		trial := &recording.Trial{GOGC: 400}
		for i, c := range costs {
			trial.Turns = append(trial.Turns, recording.Turn{GOGC: []int{100, 400}[(i+1)/2%2], Requests: 100, CPUSeconds: c})
		}
		return trial
	}
	for _, c := range []struct {
		name       string
		trial      *recording.Trial
		confidence rule.Confidence // "" for none
		fix        string          // a part of it
	}{
		{"saves a quarter", turns(1, 0.74, 0.76, 1, 1, 0.75, 0.75, 1), rule.Proved, "a request took 25 % less CPU, for about 300 MiB more"},
		{"saves nothing", turns(1, 1.002, 0.998, 1, 1, 1, 1, 1), "", ""},
		{"costs more", turns(1, 1.1, 1.1, 1, 1, 1.1, 1.1, 1), "", ""},
		{"costs a little, or nothing", turns(1, 1.008, 1.004, 1, 1, 0.99, 1.004, 1), "", ""},
		{"saves, perhaps little", turns(1, 0.98, 0.951, 1, 1, 0.932, 0.9, 1), rule.Likely, "Try GOGC=400"},
		{"inconclusive", turns(1, 0.5, 1.3, 1, 1, 0.7, 1.1, 1), "", ""},
		{"too few turns", turns(1, 0.75), "", ""},
	} {
		pass.Manifest.Trial = nil
		foreseen := gcSpareMemoryFind(t, pass)
		pass.Manifest.Trial = c.trial
		m := gcSpareMemoryFind(t, pass)
		if m == nil || c.confidence == "" {
			if (m == nil) != (c.confidence == "") {
				t.Errorf("%s: found %t", c.name, m != nil)
			}
			continue
		}
		if m.Confidence != c.confidence || !strings.Contains(m.Fix, c.fix) {
			t.Errorf("%s: %s, %q", c.name, m.Confidence, m.Fix)
		}
		// The more precise figure has more weight, and both together are more precise than each.
		got, was, tried := *m.Saving, *foreseen.Saving, c.trial.Saved().Scale(pass.Table.Totals.TotalSeconds)
		if got.Seconds < min(was.Seconds, tried.Value) || got.Seconds > max(was.Seconds, tried.Value) {
			t.Errorf("%s: %+v, foreseen %+v, tried %v", c.name, got, was, tried)
		}
		if nearer := math.Abs(got.Seconds-tried.Value) < math.Abs(got.Seconds-was.Seconds); nearer != (tried.High-tried.Low < was.High-was.Low) {
			t.Errorf("%s: %+v, foreseen %+v, tried %v", c.name, got, was, tried)
		}
	}
}

// TestGCCPUSpareMemoryChoice: the setting that memory allows, with made-up figures.
func TestGCCPUSpareMemoryChoice(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name                    string
		live, used, cgroup, max float64
		gogc                    int
		limit                   int64
		want                    string
	}{
		{name: "plenty", live: 100 * mib, used: 250 * mib, max: 36 << 30, gogc: 100, want: "Try GOGC=400 with GOMEMLIMIT=27000MiB as a guard against bursts: about 300 MiB more"},
		{name: "some", live: 100 * mib, used: 250 * mib, max: 1000 * mib, gogc: 100, want: "Try GOGC=300"},
		{name: "little", live: 100 * mib, used: 250 * mib, max: 800 * mib, gogc: 100, want: "Try GOGC=200"},
		{name: "none", live: 100 * mib, used: 250 * mib, max: 600 * mib, gogc: 100},
		{name: "a cgroup", live: 100 * mib, used: 250 * mib, max: 36 << 30, cgroup: 800 * mib, gogc: 100, want: "Try GOGC=200"},
		{name: "a limit as guard", live: 100 * mib, used: 250 * mib, max: 36 << 30, gogc: 100, limit: 4 << 30, want: "Try GOGC=400, keeping GOMEMLIMIT"},
		{name: "a tiny heap", live: 1 * mib, used: 20 * mib, max: 8 << 30, gogc: 100, want: "about 12 MiB more"},
		{name: "low GOGC", live: 100 * mib, used: 150 * mib, max: 36 << 30, gogc: 50, want: "88 % of the collector's work"},
		{name: "unknown GOGC", live: 100 * mib, used: 250 * mib, max: 36 << 30},
		{name: "unknown memory", live: 100 * mib, used: 250 * mib, gogc: 100},
		{name: "unknown live heap", used: 250 * mib, max: 36 << 30, gogc: 100},
	} {
		table := &site.Table{}
		table.Totals.TotalSeconds, table.Totals.D, table.Totals.A = 10, 2, 0.9
		p := &rule.Pass{
			Table: table,
			Manifest: &recording.Manifest{
				Runtime: recording.Runtime{GOGC: c.gogc, GOMEMLIMIT: c.limit},
				Machine: recording.Machine{MemoryBytes: int64(c.max), CgroupBytes: int64(c.cgroup)},
			},
			Metrics: map[string]float64{"/gc/heap/live:bytes": c.live, "/memory/classes/total:bytes": c.used},
		}
		m := gcSpareMemoryFind(t, p)
		switch {
		case m == nil && c.want != "":
			t.Errorf("%s: silent", c.name)
		case m != nil && (c.want == "" || !strings.Contains(m.Fix, c.want)):
			t.Errorf("%s: %q, want %q", c.name, m.Fix, c.want)
		}
	}
}
