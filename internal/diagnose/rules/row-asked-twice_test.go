package rules_test

import (
	"strings"
	"testing"

	rowaskedtwice "github.com/hone-go/hone/internal/diagnose/rules/row-asked-twice"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
)

// TestRowAskedTwiceKeyed: commands to Redis about one key, directly and through functions that make
// the key.
func TestRowAskedTwiceKeyed(t *testing.T) {
	r := rowaskedtwice.Rule()
	const archive = "row-asked-twice/testdata/keyed.txtar"
	p := ruletest.RecordFor(t, r, archive)
	ruletest.Compare(t, r, p, ruletest.Wanted(t, archive, r.ID))
	matches, err := r.Find(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		want := "only whether a key exists, and then reads it with s.load"
		if strings.Contains(m.Site.Function, "vote") {
			want = "only whether a member exists, and then changes it with v.rdb.SAdd"
		}
		if !strings.Contains(m.Cause, want) {
			t.Errorf("%s: %s; want %q", m.Site.Function, m.Cause, want)
		}
	}
}
