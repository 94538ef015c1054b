package rules_test

import (
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// matchesOf returns what a rule finds.
func matchesOf(t *testing.T, r rule.Rule, p *rule.Pass) []rule.Match {
	t.Helper()
	matches, err := r.Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return matches
}

// firstOf returns the first match of a rule, or nil.
func firstOf(t *testing.T, r rule.Rule, p *rule.Pass) *rule.Match {
	t.Helper()
	matches := matchesOf(t, r, p)
	if len(matches) == 0 {
		return nil
	}
	return &matches[0]
}

// hints checks that everything that a rule finds in its programs is a hint, on the marked lines.
// [ruletest.Caught] requires more than hints.
func hints(t *testing.T, r rule.Rule) {
	t.Helper()
	for _, name := range []string{"caught", "nearmiss"} {
		archive := r.ID + "/testdata/" + name + ".txtar"
		matches := matchesOf(t, r, ruletest.Record(t, archive))
		want := ruletest.Wanted(t, archive, r.ID)
		if len(matches) != len(want) {
			t.Errorf("%s: %d matches, want %d", name, len(matches), len(want))
		}
		for _, m := range matches {
			t.Log(m.Cause, m.Fix)
			line := fmt.Sprintf("main.go:%d", m.Site.Line)
			if _, marked := want[line]; !marked || m.Confidence != rule.Hint || m.Empty() {
				t.Errorf("%s: %s %s: %s", name, line, m.Confidence, m.Cause)
			}
		}
	}
}

// queueCaught checks that a rule finds the one place at which nearly all requests of a program
// queue: of sixteen, one or two are not waiting.
func queueCaught(t *testing.T, r rule.Rule, archive string) {
	t.Helper()
	matches, p := ruletest.FindTraced(t, r, archive)
	if len(matches) != 1 {
		t.Fatalf("not found: %+v", p.Trace.Requests.All)
	}
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	if s := matches[0].Saving; s.Cost < 0.7*s.Latency || s.High > s.Latency || s.Low > s.Seconds || s.Seconds > s.High {
		t.Errorf("saving %+v", s)
	}
}

// queueNearMiss checks that a rule reports nothing in programs whose requests have other reasons to
// wait for each other, or for someone else.
func queueNearMiss(t *testing.T, r rule.Rule, archives ...string) {
	t.Helper()
	for _, archive := range archives {
		t.Run(archive, func(t *testing.T) {
			matches, p := ruletest.FindTraced(t, r, archive)
			if len(matches) > 0 {
				t.Error(matches[0].Cause)
			}
			if all := p.Trace.Requests.All; len(all.Places) == 0 || all.Places[0].Share < 0.4 || all.Places[0].Waiter == nil {
				t.Errorf("no near miss: %+v", all.Places)
			}
		})
	}
}
