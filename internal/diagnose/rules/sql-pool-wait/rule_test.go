package sqlpoolwait_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	sqlpoolwait "github.com/hone-go/hone/internal/diagnose/rules/sql-pool-wait"
)

func find(t *testing.T, archive string) ([]rule.Match, *rule.Pass) {
	t.Helper()
	p := ruletest.RecordTraced(t, archive)
	matches, err := sqlpoolwait.Rule().Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return matches, p
}

func TestCaught(t *testing.T) {
	matches, p := find(t, "testdata/caught.txtar")
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

func TestNearMiss(t *testing.T) {
	if matches, _ := find(t, "testdata/nearmiss.txtar"); len(matches) > 0 {
		t.Error(matches[0].Cause)
	}
}
