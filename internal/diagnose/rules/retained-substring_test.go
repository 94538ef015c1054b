package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	retainedsubstring "github.com/hone-go/hone/internal/diagnose/rules/retained-substring"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestRetainedSlots: the array of a queue refers to elements that were taken; not if the queue
// clears its slots, nor of elements that wait in it.
func TestRetainedSlots(t *testing.T) {
	r := retainedsubstring.Rule()
	r.Uses = append(r.Uses, rule.NeedCounts)
	for _, name := range []string{"queue", "tidy"} {
		archive := filepath.Join(r.ID, "testdata", name+".txtar")
		ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
	}
}
