package rules_test

import (
	"path/filepath"
	"testing"

	recountperchange "github.com/hone-go/hone/internal/diagnose/rules/recount-per-change"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestRecountGiven: a helper that adds up gets what to add from the function that has the list.
func TestRecountGiven(t *testing.T) {
	r := recountperchange.Rule()
	archive := filepath.Join(r.ID, "testdata", "given.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
