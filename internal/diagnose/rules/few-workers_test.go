package rules_test

import (
	"testing"

	fewworkers "github.com/hone-go/hone/internal/diagnose/rules/few-workers"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestFewWorkersCaught(t *testing.T) {
	archive := "few-workers/testdata/caught.txtar"
	r := fewworkers.Rule()
	matches, p := ruletest.FindTraced(t, r, archive)
	if len(matches) != 1 {
		t.Fatalf("not found: %+v", p.Trace.Requests.All)
	}
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	// Of sixteen requests the worker has one.
	if s := matches[0].Saving; s.Cost < 0.7*s.Latency || s.High > s.Latency || s.Low > s.Seconds || s.Seconds > s.High {
		t.Errorf("saving %+v", s)
	}
}

func TestFewWorkersNearMiss(t *testing.T) {
	for _, archive := range []string{
		"few-workers/testdata/nearmiss.txtar", "few-workers/testdata/computes.txtar",
		"semaphore-wait/testdata/caught.txtar", // which is found there
	} {
		t.Run(archive, func(t *testing.T) {
			matches, p := ruletest.FindTraced(t, fewworkers.Rule(), archive)
			if len(matches) > 0 {
				t.Error(matches[0].Cause)
			}
			if all := p.Trace.Requests.All; len(all.Places) == 0 || all.Places[0].Share < 0.4 || all.Places[0].Waiter == nil {
				t.Errorf("no near miss: %+v", all.Places)
			}
		})
	}
}
