package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	semaphorewait "github.com/hone-go/hone/internal/diagnose/rules/semaphore-wait"
)

func TestSemaphoreWaitCaught(t *testing.T) {
	for _, name := range []string{"caught", "methods", "tokens"} {
		t.Run(name, func(t *testing.T) {
			archive := "semaphore-wait/testdata/" + name + ".txtar"
			r := semaphorewait.Rule()
			matches, p := ruletest.FindTraced(t, r, archive)
			if len(matches) != 1 {
				t.Fatalf("not found: %+v", p.Trace.Requests.All)
			}
			ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
			// Of sixteen requests two have their turn.
			if s := matches[0].Saving; s.Cost < 0.7*s.Latency || s.High > s.Latency || s.Low > s.Seconds || s.Seconds > s.High {
				t.Errorf("saving %+v", s)
			}
		})
	}
}

func TestSemaphoreWaitNearMiss(t *testing.T) {
	for _, archive := range []string{
		"semaphore-wait/testdata/nearmiss.txtar", "semaphore-wait/testdata/news.txtar", "semaphore-wait/testdata/full.txtar",
		"pool-wait/testdata/caught.txtar", // which is found there
	} {
		t.Run(archive, func(t *testing.T) {
			matches, p := ruletest.FindTraced(t, semaphorewait.Rule(), archive)
			if len(matches) > 0 {
				t.Error(matches[0].Cause)
			}
			// They wait for each other anyway, or for somebody.
			if all := p.Trace.Requests.All; len(all.Places) == 0 || all.Places[0].Share < 0.4 || all.Places[0].Waiter == nil {
				t.Errorf("no near miss: %+v", all.Places)
			}
		})
	}
}
