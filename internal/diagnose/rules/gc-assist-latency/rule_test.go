package gcassistlatency_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	gcassistlatency "github.com/hone-go/hone/internal/diagnose/rules/gc-assist-latency"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func find(t *testing.T, archive string) ([]rule.Match, *rule.Pass) {
	t.Helper()
	p := ruletest.RecordTraced(t, archive)
	matches, err := gcassistlatency.Rule().Find(t.Context(), p)
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
	t.Log(m.Cause, m.Fix)
	if m.Site == nil || m.Site.Function != "main.tree" {
		t.Errorf("blames %+v", m.Site)
	}
	if s := m.Saving; s.Low > s.Seconds || s.Seconds > s.High || s.High > s.Latency {
		t.Errorf("saving %+v", s)
	}
}

func TestNearMiss(t *testing.T) {
	if matches, _ := find(t, "testdata/nearmiss.txtar"); len(matches) > 0 {
		t.Error(matches[0].Cause)
	}
}
