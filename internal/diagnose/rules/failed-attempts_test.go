package rules_test

import (
	"testing"

	failedattempts "github.com/hone-go/hone/internal/diagnose/rules/failed-attempts"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestFailedAttemptsDeadline: calls that fail as often as explains the wait, if each waits for its
// deadline, wait for it; those that fail at once do not.
func TestFailedAttemptsDeadline(t *testing.T) {
	const archive = "failed-attempts/testdata/deadline.txtar"
	r := failedattempts.Rule()
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
