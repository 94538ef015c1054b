package rules_test

import (
	"testing"

	fewworkers "github.com/hone-go/hone/internal/diagnose/rules/few-workers"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	slowreceiver "github.com/hone-go/hone/internal/diagnose/rules/slow-receiver"
)

// TestSlowReceiverCalled: a goroutine that calls each receiver for an event and waits in one of
// them. More such goroutines would not keep the order of events, so few-workers leaves it alone.
func TestSlowReceiverCalled(t *testing.T) {
	const archive = "slow-receiver/testdata/sinks.txtar"
	queueCaught(t, slowreceiver.Rule(), archive)
	if matches, _ := ruletest.FindTraced(t, fewworkers.Rule(), archive); len(matches) > 0 {
		t.Errorf("few-workers: %s", matches[0].Cause)
	}
}

// TestSlowReceiverNearMiss: workers that wait for something other than receivers.
func TestSlowReceiverNearMiss(t *testing.T) {
	queueNearMiss(t, slowreceiver.Rule(), "few-workers/testdata/caught.txtar", "few-workers/testdata/collector.txtar", "few-workers/testdata/grouped.txtar")
}
