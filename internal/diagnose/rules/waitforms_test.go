package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	fewworkers "github.com/hone-go/hone/internal/diagnose/rules/few-workers"
	fixedsleep "github.com/hone-go/hone/internal/diagnose/rules/fixed-sleep"
	poolwait "github.com/hone-go/hone/internal/diagnose/rules/pool-wait"
	ratelimitwait "github.com/hone-go/hone/internal/diagnose/rules/rate-limit-wait"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	semaphorewait "github.com/hone-go/hone/internal/diagnose/rules/semaphore-wait"
	tickwait "github.com/hone-go/hone/internal/diagnose/rules/tick-wait"
)

// TestWaitForms: requests wait in other forms than those of the rules' first programs; a form
// without a cause is a near miss.
func TestWaitForms(t *testing.T) {
	for _, test := range []struct {
		rule    rule.Rule
		program string
		cause   string
	}{
		{fewworkers.Rule(), "grouped", "which 2 goroutines run"},
		{fixedsleep.Rule(), "clock", "The pause follows the send on r.feed"},
		{poolwait.Rule(), "held", "A connection is held from line"},
		{ratelimitwait.Rule(), "tokens", "a token from b.tokens (main.go:21), one every 4 ms"},
		{ratelimitwait.Rule(), "pause", "p.until, a time that they all share: call (main.go:26) sets it"},
		{ratelimitwait.Rule(), "keyed", ""},
		{ratelimitwait.Rule(), "backoff", "depends on c.failures, which they all share: note (main.go:36) raises it"},
		{ratelimitwait.Rule(), "breakers", ""},
		{semaphorewait.Rule(), "group", "Requests queue at this limit"},
		{semaphorewait.Rule(), "lock", "slot admits one at a time (main.go:23), so it is a lock"},
		{tickwait.Rule(), "delayed", "which a timer starts 20 ms after the first of a batch has come"},
		{tickwait.Rule(), "deadline", ""},
	} {
		t.Run(test.program, func(t *testing.T) {
			archive := test.rule.ID + "/testdata/" + test.program + ".txtar"
			matches, p := ruletest.FindTraced(t, test.rule, archive)
			ruletest.Compare(t, test.rule, p, ruletest.Wanted(t, archive, test.rule.ID))
			switch {
			case test.cause == "" && len(matches) > 0:
				t.Error(matches[0].Cause)
			case test.cause != "" && (len(matches) != 1 || !strings.Contains(matches[0].Cause, test.cause)):
				t.Errorf("%+v", matches)
			}
		})
	}
}
