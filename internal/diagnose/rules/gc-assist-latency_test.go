package rules_test

import (
	"strings"
	"testing"

	gcassistlatency "github.com/hone-go/hone/internal/diagnose/rules/gc-assist-latency"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
)

func TestGCAssistLatencyCaught(t *testing.T) {
	matches, p := ruletest.FindTraced(t, gcassistlatency.Rule(), "gc-assist-latency/testdata/caught.txtar")
	if len(matches) != 1 {
		t.Fatalf("not found: %+v", p.Trace.Requests.All)
	}
	m := matches[0]
	t.Log(m.Cause, m.Fix)
	if m.Site == nil || m.Site.Function != "main.tree" {
		t.Errorf("blames %+v", m.Site)
	}
	const larger = "A larger GOGC"
	if !strings.Contains(m.Fix, larger) {
		t.Error(m.Fix)
	}
	trial := &recording.Trial{GOGC: 400}
	for i, cost := range []float64{1, 0.5, 1.3, 1, 1, 0.7, 1.1, 1} {
		trial.Turns = append(trial.Turns, recording.Turn{GOGC: []int{100, 400}[(i+1)/2%2], Requests: 100, CPUSeconds: cost})
	}
	p.Manifest.Trial = trial
	tried, err := gcassistlatency.Rule().Find(t.Context(), p)
	if err != nil || len(tried) != 1 || strings.Contains(tried[0].Fix, larger) {
		t.Errorf("after a trial that showed nothing: %+v %v", tried, err)
	}
	if s := m.Saving; s.Low > s.Seconds || s.Seconds > s.High || s.High > s.Latency {
		t.Errorf("saving %+v", s)
	}
}

func TestGCAssistLatencyNearMiss(t *testing.T) {
	if matches, _ := ruletest.FindTraced(t, gcassistlatency.Rule(), "gc-assist-latency/testdata/nearmiss.txtar"); len(matches) > 0 {
		t.Error(matches[0].Cause)
	}
}
