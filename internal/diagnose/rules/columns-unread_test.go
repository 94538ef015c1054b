package rules_test

import (
	"path/filepath"
	"testing"

	columnsunread "github.com/hone-go/hone/internal/diagnose/rules/columns-unread"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// Relations that a query loads are reported if no code that ran reads them.
func TestColumnsUnreadRelations(t *testing.T) {
	archive := filepath.Join("columns-unread", "testdata", "relations.txtar")
	r := columnsunread.Rule()
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
