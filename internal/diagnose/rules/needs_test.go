package rules_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestNeeds: a rule finds nothing in a recording without the counts that it needs, and something in
// one without those that it only uses.
func TestNeeds(t *testing.T) {
	for _, r := range rules.All() {
		for _, n := range slices.Concat(r.Needs, r.Uses) {
			if n != rule.NeedCounts && n != rule.NeedInputs {
				continue
			}
			t.Run(r.ID+"/"+string(n), func(t *testing.T) {
				t.Parallel()
				pass := ruletest.RecordFor(t, r, filepath.Join(r.ID, "testdata", "caught.txtar"))
				if n == rule.NeedCounts {
					pass.Counts = nil
				} else {
					pass.Inputs = nil
				}
				found, err := r.Find(t.Context(), pass)
				if err != nil {
					t.Fatal(err)
				}
				if needed := slices.Contains(r.Needs, n); needed == (len(found) > 0) {
					t.Errorf("needed: %t, found without: %d", needed, len(found))
				}
			})
		}
	}
}
