package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/exectrace/analysis"
	"github.com/hone-go/hone/exectrace/parallelism"
	"github.com/hone-go/hone/exectrace/requests"
	"github.com/hone-go/hone/exectrace/wall"
	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	schedlatency "github.com/hone-go/hone/internal/diagnose/rules/sched-latency"
	"github.com/hone-go/hone/internal/recording"
)

func schedLatencyFind(t *testing.T, p *rule.Pass) []rule.Match {
	t.Helper()
	matches := matchesOf(t, schedlatency.Rule(), p)
	for _, m := range matches {
		t.Log(m.Confidence, m.Cause, m.Fix)
		if s := m.Saving; s == nil || s.Low > s.Seconds || s.Seconds > s.High || s.High > s.Latency {
			t.Errorf("saving %+v", s)
		}
	}
	return matches
}

func TestSchedLatencyCaught(t *testing.T) {
	p := ruletest.RecordTraced(t, "sched-latency/testdata/caught.txtar")
	matches := schedLatencyFind(t, p)
	if len(matches) != 1 || matches[0].Confidence != rule.Likely || !strings.Contains(matches[0].Cause, "overloaded") {
		t.Fatalf("not found; requests %+v, busy %g", p.Trace.Requests.All, p.Trace.Parallelism.MeanBusy)
	}
	p.Manifest.Load = &recording.Load{Rate: 500}
	if len(schedLatencyFind(t, p)) != 1 {
		t.Error("not found under a load with a rate")
	}
	p.Manifest.Load.Rate = 0
	if len(schedLatencyFind(t, p)) != 0 {
		t.Error("accused although the load is a closed loop")
	}
}

func TestSchedLatencyNearMiss(t *testing.T) {
	for _, m := range schedLatencyFind(t, ruletest.RecordTraced(t, "sched-latency/testdata/nearmiss.txtar")) {
		if m.Confidence != rule.Hint {
			t.Error(m.Cause)
		}
	}
}

// TestSchedLatencyBehind has made-up figures, because how long the kernel delays threads depends on
// the machine.
func TestSchedLatencyBehind(t *testing.T) {
	served := histogram.New()
	served.RecordN(8e6, 400)
	for _, c := range []struct {
		name             string
		asked, busy, p50 float64
		answered         int64
		want             bool
	}{
		{"a third answered", 600, 1.98, 2.5, 1000, true},
		{"all answered", 200, 1.98, 2.5, 1000, false},
		{"cores idle: something else is slow", 600, 1.2, 2.5, 1000, false},
		{"quick for those who wait", 600, 1.98, 0.009, 1000, false},
		{"closed loop", 0, 1.98, 2.5, 1000, false},
	} {
		p := &rule.Pass{
			Manifest: &recording.Manifest{
				Load:   &recording.Load{Rate: c.asked},
				Phases: []recording.Phase{{Name: recording.PhaseClean, Seconds: 5, Requests: c.answered, Latency: &recording.Quantiles{P50: c.p50}}},
			},
			Trace: &analysis.Results{
				Parallelism: &parallelism.Result{Length: 3, Procs: 2, MeanBusy: c.busy},
				Blocking:    &wall.Blocking{}, Sched: &wall.Sched{},
				Requests: &requests.Result{Length: 3e9, Count: 400, All: &requests.Route{
					Count: 400, Time: 400 * 8e6, Served: served.Summary(), Parts: []requests.PartTime{{Part: requests.Running, Time: 400 * 8e6}},
				}},
			},
		}
		matches := schedLatencyFind(t, p)
		if (len(matches) > 0) != c.want {
			t.Errorf("%s: %d matches", c.name, len(matches))
		}
		if c.want && len(matches) > 0 && !strings.Contains(matches[0].Cause, "gets 600 requests per second and answers 200") {
			t.Errorf("%s: %s", c.name, matches[0].Cause)
		}
	}
}
