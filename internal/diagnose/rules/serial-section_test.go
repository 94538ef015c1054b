package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	serialsection "github.com/hone-go/hone/internal/diagnose/rules/serial-section"
)

func TestSerialSectionCaught(t *testing.T) {
	p := ruletest.RecordTraced(t, "serial-section/testdata/caught.txtar")
	want := ruletest.Wanted(t, "serial-section/testdata/caught.txtar", "serial-section")
	r := serialsection.Rule()
	matches, err := r.Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if p.Trace.Parallelism.Procs < 2 {
		if len(matches) > 0 {
			t.Error("accused on one processor")
		}
		t.Skip("one processor: nothing is serial there")
	}
	ruletest.Compare(t, r, p, want)
	for _, m := range matches {
		if s := m.Saving; s == nil || s.Latency <= 0 || s.Low > s.Seconds || s.Seconds > s.High || s.High > s.Latency {
			t.Errorf("saving %+v", s)
		}
	}
}

// TestSerialSectionNearMiss: serial work that cannot visibly be parallelized is at most a hint,
// parallel work nothing.
func TestSerialSectionNearMiss(t *testing.T) {
	p := ruletest.RecordTraced(t, "serial-section/testdata/nearmiss.txtar")
	matches, err := serialsection.Rule().Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		t.Log(m.Site.Function, m.Site.Line, m.Cause, m.Fix)
		if m.Confidence != rule.Hint {
			t.Errorf("%s: %s: %s", m.Site.Function, m.Confidence, m.Cause)
		}
		if strings.Contains(m.Cause, "do not touch each other") {
			t.Error(m.Cause)
		}
	}
}

func TestSerialSectionUntraced(t *testing.T) {
	if matches, err := serialsection.Rule().Find(t.Context(), &rule.Pass{}); len(matches) > 0 || err != nil {
		t.Error(matches, err)
	}
}
