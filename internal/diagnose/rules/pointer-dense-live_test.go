package rules_test

import (
	"fmt"
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	pointerdenselive "github.com/hone-go/hone/internal/diagnose/rules/pointer-dense-live"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/units"
)

// TestPointerDenseLivePrograms: the profiles show live memory; how much of it is scanned is given
// by hand, and so is marking, of which a short run has too few samples.
func TestPointerDenseLivePrograms(t *testing.T) {
	r := pointerdenselive.Rule()
	for _, name := range []string{"caught", "nearmiss"} {
		p := ruletest.Record(t, "pointer-dense-live/testdata/"+name+".txtar")
		want := ruletest.Wanted(t, "pointer-dense-live/testdata/"+name+".txtar", r.ID)
		live := float64(p.Table.Totals.LiveBytes)
		p.Table.Totals.D = max(p.Table.Totals.D, 0.2*p.Table.Totals.TotalSeconds)
		p.Metrics = map[string]float64{recording.MetricLive: live, "/gc/scan/heap:bytes": 0.9 * live}
		matches, err := r.Find(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if caught := name == "caught"; (len(matches) == 1) != caught {
			t.Errorf("%s: %d matches of %s live", name, len(matches), units.Bytes(live))
		}
		for _, m := range matches {
			t.Log(m.Cause, m.Fix)
			if s := m.Saving; m.Confidence != rule.Hint || s.Seconds <= 0 || s.High > p.Table.Totals.D || !want[fmt.Sprintf("main.go:%d", m.Site.Line)] {
				t.Errorf("line %d: %+v", m.Site.Line, *s)
			}
		}
		p.Metrics["/gc/scan/heap:bytes"] = 0.1 * live
		if matches, _ := r.Find(t.Context(), p); len(matches) > 0 {
			t.Errorf("%s: little is scanned: %s", name, matches[0].Cause)
		}
	}
}
