package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/rule"
	limitthrash "github.com/hone-go/hone/internal/diagnose/rules/limit-thrash"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/internal/units"
)

const mib = 1 << 20

// TestLimitThrashPrograms: the profiles show live memory; the test computes the goal from it as the
// runtime does.
func TestLimitThrashPrograms(t *testing.T) {
	for _, name := range []string{"caught", "nearmiss"} {
		p := ruletest.Record(t, "limit-thrash/testdata/"+name+".txtar")
		live := float64(p.Table.Totals.LiveBytes)
		p.Manifest.Machine.MemoryBytes = 8 << 30
		p.Manifest.Runtime.GOMEMLIMIT = 48 * mib
		p.Metrics = map[string]float64{recording.MetricLive: live, recording.MetricGoal: min(2*live, 1.3*live+2*mib)}
		m := firstOf(t, limitthrash.Rule(), p)
		if caught := name == "caught"; (m != nil) != caught {
			t.Fatalf("%s: %v; %s live, %s held, collecting %s", name, m, units.Bytes(live), units.Bytes(collector.Held(p)), units.Percent(collector.Share(p)))
		}
		if m == nil {
			continue
		}
		t.Log(m.Cause, m.Fix)
		if !strings.Contains(m.Fix, "Raise GOMEMLIMIT to") || !strings.Contains(m.Fix, "main.main") {
			t.Error(m.Fix)
		}
		if !m.InCode || m.Site == nil || m.Site.Function != "main.main" || !strings.Contains(m.Cause, "This call of debug.SetMemoryLimit overrides") {
			t.Errorf("not at the call that sets the limit: %v %s", m.Site, m.Cause)
		}
		p.Manifest.Runtime.GOMEMLIMIT = 47 * mib
		if m := firstOf(t, limitthrash.Rule(), p); m == nil || m.InCode || m.Site != nil {
			t.Error("the limit is not the one that the call sets, and the finding is at the call")
		}
		p.Manifest.Runtime.GOMEMLIMIT = 0
		if firstOf(t, limitthrash.Rule(), p) != nil {
			t.Error("there is no limit")
		}
	}
}

func TestLimitThrashStates(t *testing.T) {
	for _, c := range []struct {
		name                       string
		gogc                       int
		limit, live, goal, held    float64
		collecting, memory, cgroup float64
		want                       string
	}{
		{"thrashing", 100, 1000 * mib, 800 * mib, 950 * mib, 990 * mib, 3, 64 << 30, 0, "Raise GOMEMLIMIT to 1856MiB"},
		{"no memory", 100, 1000 * mib, 800 * mib, 950 * mib, 990 * mib, 3, 64 << 30, 1100 * mib, "Hold less"},
		{"collection off but for the limit", -1, 1000 * mib, 800 * mib, 950 * mib, 990 * mib, 3, 64 << 30, 0, "Raise"},
		{"off and far below", -1, 1000 * mib, 100 * mib, 950 * mib, 990 * mib, 3, 64 << 30, 0, ""},
		{"a guard", 100, 1000 * mib, 200 * mib, 400 * mib, 450 * mib, 3, 64 << 30, 0, ""},
		{"cheap", 100, 1000 * mib, 800 * mib, 950 * mib, 990 * mib, 0.2, 64 << 30, 0, ""},
		{"unknown live heap", 100, 1000 * mib, 0, 950 * mib, 990 * mib, 3, 64 << 30, 0, ""},
	} {
		table := &site.Table{}
		table.Totals.TotalSeconds, table.Totals.D = 10, c.collecting
		p := &rule.Pass{
			Table: table,
			Manifest: &recording.Manifest{
				Runtime: recording.Runtime{GOGC: c.gogc, GOMEMLIMIT: int64(c.limit)},
				Machine: recording.Machine{MemoryBytes: int64(c.memory), CgroupBytes: int64(c.cgroup)},
				Phases:  []recording.Phase{{Name: recording.PhaseClean, Seconds: 10, GCCycles: 100, RSSBytes: int64(c.held)}},
			},
			Metrics: map[string]float64{
				recording.MetricLive: c.live, recording.MetricGoal: c.goal, recording.MetricCycles: 500, "/gc/limiter/last-enabled:gc-cycle": 450,
			},
		}
		m := firstOf(t, limitthrash.Rule(), p)
		switch {
		case m == nil && c.want != "":
			t.Errorf("%s: silent", c.name)
		case m != nil && (c.want == "" || !strings.Contains(m.Fix, c.want)):
			t.Errorf("%s: %q, want %q", c.name, m.Fix, c.want)
		case m != nil && len(m.Evidence) != 3:
			t.Errorf("%s: that the runtime gave up is not reported: %v", c.name, m.Evidence)
		}
	}
}
