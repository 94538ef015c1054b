package rules_test

import (
	"testing"

	poolwait "github.com/hone-go/hone/internal/diagnose/rules/pool-wait"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestPoolWaitCaught(t *testing.T) {
	matches, p := ruletest.FindTraced(t, poolwait.Rule(), "pool-wait/testdata/caught.txtar")
	if len(matches) != 1 {
		t.Fatalf("not found: %+v", p.Trace.Requests.All)
	}
	m := matches[0]
	t.Log(m.Cause, m.Fix, m.Evidence)
	if m.Site == nil || m.Site.Function != "main.sum" {
		t.Errorf("blames %+v", m.Site)
	}
	// Of sixteen requests two have a connection.
	if s := m.Saving; s.Cost < 0.7*s.Latency || s.High > s.Latency || s.Low > s.Seconds || s.Seconds > s.High {
		t.Errorf("saving %+v", s)
	}
}

func TestPoolWaitNearMiss(t *testing.T) {
	if matches, _ := ruletest.FindTraced(t, poolwait.Rule(), "pool-wait/testdata/nearmiss.txtar"); len(matches) > 0 {
		t.Error(matches[0].Cause)
	}
}
