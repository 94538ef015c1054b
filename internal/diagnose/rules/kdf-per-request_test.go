package rules_test

import (
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	kdfperrequest "github.com/hone-go/hone/internal/diagnose/rules/kdf-per-request"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestKDFPerRequestReports: the rule only ever hints, so that the usual test, which wants more, is not for it.
func TestKDFPerRequestReports(t *testing.T) {
	r := kdfperrequest.Rule()
	for _, name := range []string{"caught", "nearmiss"} {
		archive := "kdf-per-request/testdata/" + name + ".txtar"
		matches, err := r.Find(t.Context(), ruletest.Record(t, archive))
		if err != nil {
			t.Fatal(err)
		}
		want := ruletest.Wanted(t, archive, r.ID)
		if len(matches) != len(want) {
			t.Errorf("%s: %d matches, want %d", name, len(matches), len(want))
		}
		for _, m := range matches {
			if m.Confidence != rule.Hint || m.Empty() || !strings.Contains(m.Cause, "main.authorised") {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
}
