package schedlatency_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	schedlatency "github.com/hone-go/hone/internal/diagnose/rules/sched-latency"
	"github.com/hone-go/hone/internal/recording"
)

func find(t *testing.T, p *rule.Pass) []rule.Match {
	t.Helper()
	matches, err := schedlatency.Rule().Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		t.Log(m.Confidence, m.Cause, m.Fix)
		if s := m.Saving; s == nil || s.Low > s.Seconds || s.Seconds > s.High || s.High > s.Latency {
			t.Errorf("saving %+v", s)
		}
	}
	return matches
}

func TestCaught(t *testing.T) {
	p := ruletest.RecordTraced(t, "testdata/caught.txtar")
	matches := find(t, p)
	if len(matches) != 1 || matches[0].Confidence != rule.Likely || !strings.Contains(matches[0].Cause, "overloaded") {
		t.Fatalf("not found; requests %+v, busy %g", p.Trace.Requests.All, p.Trace.Parallelism.MeanBusy)
	}
	p.Manifest.Load = &recording.Load{Rate: 500}
	if len(find(t, p)) != 1 {
		t.Error("not found under a load with a rate")
	}
	p.Manifest.Load.Rate = 0
	if len(find(t, p)) != 0 {
		t.Error("accused although the load goes flat out")
	}
}

func TestNearMiss(t *testing.T) {
	for _, m := range find(t, ruletest.RecordTraced(t, "testdata/nearmiss.txtar")) {
		if m.Confidence != rule.Hint {
			t.Error(m.Cause)
		}
	}
}
