package rules_test

import (
	"testing"

	atomichotspot "github.com/hone-go/hone/internal/diagnose/rules/atomic-hotspot"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestAtomicHotspotShards: counters that are sharded already are not reported, not even as a hint.
func TestAtomicHotspotShards(t *testing.T) {
	r := atomichotspot.Rule()
	p := ruletest.Record(t, "atomic-hotspot/testdata/shards.txtar")
	ruletest.Compare(t, r, p, nil)
	if p.Table.Totals.CPUSamples < 20 {
		t.Errorf("only %d samples: no near miss", p.Table.Totals.CPUSamples)
	}
}
