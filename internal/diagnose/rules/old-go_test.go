package rules_test

import (
	"math"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	oldgo "github.com/hone-go/hone/internal/diagnose/rules/old-go"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
)

// TestOldGoReleases runs the rule on one program's costs as if other releases had built it.
func TestOldGoReleases(t *testing.T) {
	r := oldgo.Rule()
	for _, name := range []string{"caught", "nearmiss"} {
		p := ruletest.Record(t, "old-go/testdata/"+name+".txtar")
		p.Manifest = &recording.Manifest{}
		for built, want := range map[string]string{
			"go1.22.3":              "Go 1.24",
			"go1.23.4 X:loopvar":    "Go 1.24",
			"go1.24":                "",
			"go1.26.8":              "",
			"devel go1.23-969ab34e": "",
		} {
			p.Manifest.Runtime.Go = built
			matches, err := r.Find(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				if len(matches) > 0 && !strings.Contains(matches[0].Cause, "collector") {
					t.Errorf("%s, %s: %s", name, built, matches[0].Cause)
				}
				continue
			}
			if len(matches) != 1 || !strings.Contains(matches[0].Cause, want) || matches[0].Confidence != rule.Hint {
				t.Errorf("%s, %s: %+v", name, built, matches)
				continue
			}
			s, total := matches[0].Saving, p.Table.Totals.TotalSeconds
			if math.Abs(s.Seconds/total-0.025) > 0.02 || s.Low > s.Seconds || s.High < s.Seconds {
				t.Errorf("%s, %s: %+v of %g s", name, built, *s, total)
			}
		}
	}
}
