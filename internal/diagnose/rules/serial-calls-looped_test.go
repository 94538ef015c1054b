package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	serialcalls "github.com/hone-go/hone/internal/diagnose/rules/serial-calls"
)

// TestSerialCallsLooped: a loop over sources of different types may ask them at the same time, if
// none of them decides about the next.
func TestSerialCallsLooped(t *testing.T) {
	r := serialcalls.Rule()
	const archive = "serial-calls/testdata/looped.txtar"
	ruletest.Compare(t, r, ruletest.RecordFor(t, r, archive), ruletest.Wanted(t, archive, r.ID))
}
