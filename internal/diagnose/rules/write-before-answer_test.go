package rules_test

import (
	"testing"

	fixedsleep "github.com/hone-go/hone/internal/diagnose/rules/fixed-sleep"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	writebeforeanswer "github.com/hone-go/hone/internal/diagnose/rules/write-before-answer"
)

// TestWriteBeforeAnswerPause: where a write takes long only because it sleeps, the pause is the
// mistake.
func TestWriteBeforeAnswerPause(t *testing.T) {
	const archive = "fixed-sleep/testdata/publish.txtar"
	p := ruletest.RecordFor(t, writebeforeanswer.Rule(), archive)
	ruletest.Compare(t, fixedsleep.Rule(), p, ruletest.Wanted(t, archive, "fixed-sleep"))
	ruletest.Compare(t, writebeforeanswer.Rule(), p, nil)
}
