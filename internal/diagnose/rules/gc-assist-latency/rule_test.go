package gcassistlatency_test

import (
	"testing"

	gcassistlatency "github.com/hone-go/hone/internal/diagnose/rules/gc-assist-latency"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestCaught(t *testing.T) {
	matches, p := ruletest.FindTraced(t, gcassistlatency.Rule(), "testdata/caught.txtar")
	if len(matches) != 1 {
		t.Fatalf("not found: %+v", p.Trace.Requests.All)
	}
	m := matches[0]
	t.Log(m.Cause, m.Fix)
	if m.Site == nil || m.Site.Function != "main.tree" {
		t.Errorf("blames %+v", m.Site)
	}
	if s := m.Saving; s.Low > s.Seconds || s.Seconds > s.High || s.High > s.Latency {
		t.Errorf("saving %+v", s)
	}
}

func TestNearMiss(t *testing.T) {
	if matches, _ := ruletest.FindTraced(t, gcassistlatency.Rule(), "testdata/nearmiss.txtar"); len(matches) > 0 {
		t.Error(matches[0].Cause)
	}
}
