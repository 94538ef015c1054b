package rules_test

import (
	"path/filepath"
	"testing"

	formattedmapkey "github.com/hone-go/hone/internal/diagnose/rules/formatted-map-key"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestFormattedMapKeyValues: texts of values that methods and functions make, of which one is shown
// and one normalizes a text.
func TestFormattedMapKeyValues(t *testing.T) {
	r := formattedmapkey.Rule()
	archive := filepath.Join("formatted-map-key", "testdata", "values.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
