package rules_test

import (
	"testing"

	processperrequest "github.com/hone-go/hone/internal/diagnose/rules/process-per-request"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestProcessPerItem: in a program that exits, the rule reports a line that starts another program
// for each of many items, but not one whose programs work for long.
func TestProcessPerItem(t *testing.T) {
	r := processperrequest.Rule()
	for _, archive := range []string{"batch", "batchmiss"} {
		t.Run(archive, func(t *testing.T) {
			archive := "process-per-request/testdata/" + archive + ".txtar"
			matches, p := ruletest.FindTraced(t, r, archive)
			ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
			for _, m := range matches {
				if s := m.Saving; s.Low > s.Seconds || s.Seconds > s.High || s.High > s.Latency {
					t.Errorf("saving %+v", s)
				}
			}
		})
	}
}
