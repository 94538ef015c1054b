package rules_test

import (
	"path/filepath"
	"testing"

	roundtripperitem "github.com/hone-go/hone/internal/diagnose/rules/round-trip-per-item"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestRoundTripsOfOwnStore: a loop that waits for values of a part of the program, which writes
// nothing, and loops that wait for their turn or for a device.
func TestRoundTripsOfOwnStore(t *testing.T) {
	r := roundtripperitem.Rule()
	archive := filepath.Join("round-trip-per-item", "testdata", "fetch.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
