package rules_test

import (
	"path/filepath"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	metriclabel "github.com/hone-go/hone/internal/diagnose/rules/metric-label-per-call"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestMetricLabelsOfStrings: labels that are strings already are reported if the counted inputs are
// few.
func TestMetricLabelsOfStrings(t *testing.T) {
	r := metriclabel.Rule()
	r.Needs = append(r.Needs, rule.NeedInputs)
	for _, name := range []string{"strings", "many"} {
		archive := filepath.Join(r.ID, "testdata", name+".txtar")
		ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
	}
}
