package rules_test

import (
	"path/filepath"
	"testing"

	rowsonlycounted "github.com/hone-go/hone/internal/diagnose/rules/rows-only-counted"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// Queries of a builder have no statement in SQL: chains through functions and variables are
// reported, and not those with a limit or whose rows are used.
func TestRowsOnlyCountedBuilder(t *testing.T) {
	archive := filepath.Join("rows-only-counted", "testdata", "builder.txtar")
	r := rowsonlycounted.Rule()
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
