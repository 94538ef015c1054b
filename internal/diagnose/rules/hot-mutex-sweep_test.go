package rules_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	hotmutex "github.com/hone-go/hone/internal/diagnose/rules/hot-mutex"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestHotMutexSweep: a dozen long waits are not chance, and executions show that a whole loop runs
// under the lock.
func TestHotMutexSweep(t *testing.T) {
	r := hotmutex.Rule()
	r.Needs = append(r.Needs, rule.NeedCounts)
	archive := filepath.Join("hot-mutex", "testdata", "sweep.txtar")
	pass := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, pass, ruletest.Wanted(t, archive, r.ID))
	if m := firstOf(t, r, pass); m == nil || !strings.Contains(m.Cause, "whole loop over q.all, 300,000 iterations") {
		t.Errorf("%+v", m)
	}
}
