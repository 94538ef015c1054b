package rules_test

import (
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	falsesharing "github.com/hone-go/hone/internal/diagnose/rules/false-sharing"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestFalseSharingPrograms: what is found is a hint, which ruletest.Test would not take.
func TestFalseSharingPrograms(t *testing.T) {
	r := falsesharing.Rule()
	for _, name := range []string{"caught", "nearmiss"} {
		archive := "false-sharing/testdata/" + name + ".txtar"
		matches, err := r.Find(t.Context(), ruletest.Record(t, archive))
		if err != nil {
			t.Fatal(err)
		}
		want := ruletest.Wanted(t, archive, r.ID)
		if len(matches) != len(want) {
			t.Errorf("%s: %d matches, want %d", name, len(matches), len(want))
		}
		for _, m := range matches {
			t.Log(m.Cause, m.Fix)
			if line := fmt.Sprintf("main.go:%d", m.Site.Line); !want[line] || m.Confidence != rule.Hint || m.Empty() {
				t.Errorf("%s: %s %s: %s", name, line, m.Confidence, m.Cause)
			}
		}
	}
}
