package rules_test

import (
	"testing"

	fewworkers "github.com/hone-go/hone/internal/diagnose/rules/few-workers"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	tickwait "github.com/hone-go/hone/internal/diagnose/rules/tick-wait"
)

// TestTickWaitEmpty: workers sleep when they find nothing, while requests wait for them. They are
// not too few.
func TestTickWaitEmpty(t *testing.T) {
	const archive = "tick-wait/testdata/empty.txtar"
	r := tickwait.Rule()
	matches, p := ruletest.FindTraced(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	for _, m := range matches {
		t.Log(m.Cause)
	}
	if found := matchesOf(t, fewworkers.Rule(), p); len(found) > 0 {
		t.Error(found[0].Cause)
	}
}

// TestTickWaitForms: the line that waits for the timer is the loop itself, which wakes requests
// with a condition variable; requests hand something over in a function that they call.
func TestTickWaitForms(t *testing.T) {
	for _, name := range []string{"ranges", "orders"} {
		t.Run(name, func(t *testing.T) {
			archive := "tick-wait/testdata/" + name + ".txtar"
			r := tickwait.Rule()
			_, p := ruletest.FindTraced(t, r, archive)
			ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
		})
	}
}
