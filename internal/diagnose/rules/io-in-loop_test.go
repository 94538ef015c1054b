package rules_test

import (
	"path/filepath"
	"testing"

	ioinloop "github.com/hone-go/hone/internal/diagnose/rules/io-in-loop"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestStoresInLoop: writes to a store in the process that each wait for the disk, and a hook that
// an ORM calls for each row.
func TestStoresInLoop(t *testing.T) {
	r := ioinloop.Rule()
	archive := filepath.Join("io-in-loop", "testdata", "stores.txtar")
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
