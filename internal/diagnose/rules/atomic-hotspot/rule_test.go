package atomichotspot_test

import (
	"testing"

	atomichotspot "github.com/hone-go/hone/internal/diagnose/rules/atomic-hotspot"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

func TestRule(t *testing.T) { ruletest.Test(t, atomichotspot.Rule()) }

// TestShards: counters that are shards already are accused of nothing, not even in a hint.
func TestShards(t *testing.T) {
	r := atomichotspot.Rule()
	p := ruletest.Record(t, "testdata/shards.txtar")
	ruletest.Compare(t, r, p, nil)
	if p.Table.Totals.CPUSamples < 20 {
		t.Errorf("only %d samples: no near miss", p.Table.Totals.CPUSamples)
	}
}
