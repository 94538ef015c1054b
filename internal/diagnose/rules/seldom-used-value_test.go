package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	seldomusedvalue "github.com/hone-go/hone/internal/diagnose/rules/seldom-used-value"
)

// A replacement that is computed for texts without the placeholder is reported, and not one that
// most texts need, or whose computation counts.
func TestSeldomUsedValueReplaced(t *testing.T) {
	archive := filepath.Join("seldom-used-value", "testdata", "replaced.txtar")
	r := seldomusedvalue.Rule()
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
