package rules_test

import (
	"path/filepath"
	"testing"

	repeatedwork "github.com/hone-go/hone/internal/diagnose/rules/repeated-work"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestRepeatedWorkTexts: texts that a method UnmarshalJSON decodes again, or that two kinds of
// decoders read one after the other; and texts that a method decodes once.
func TestRepeatedWorkTexts(t *testing.T) {
	r := repeatedwork.Rule()
	for _, name := range []string{"decoded", "kinds", "singly"} {
		t.Run(name, func(t *testing.T) {
			archive := filepath.Join(r.ID, "testdata", name+".txtar")
			ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
		})
	}
}
