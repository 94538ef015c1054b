package rules_test

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/collector"
	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	stackscan "github.com/hone-go/hone/internal/diagnose/rules/stack-scan"
	"github.com/hone-go/hone/internal/site"
)

// TestStackScanPrograms: the programs differ in how many goroutines wait; the metrics of that are
// given by hand.
func TestStackScanPrograms(t *testing.T) {
	for name, goroutines := range map[string]float64{"caught": 10_000, "nearmiss": 20} {
		p := ruletest.Record(t, "stack-scan/testdata/"+name+".txtar")
		p.Metrics = map[string]float64{
			"/sched/goroutines:goroutines": goroutines,
			"/gc/scan/stack:bytes":         goroutines * 4096,
			"/gc/scan/total:bytes":         goroutines*4096 + 1<<20,
		}
		matches := matchesOf(t, stackscan.Rule(), p)
		if caught := name == "caught"; (len(matches) == 1) != caught {
			t.Errorf("%s: %d matches; collecting %g", name, len(matches), collector.Share(p))
		}
		for _, m := range matches {
			t.Log(m.Cause, m.Fix)
			if s := m.Saving; m.Confidence != rule.Hint || s.Seconds <= 0 || s.High < s.Seconds {
				t.Errorf("%+v", *s)
			}
		}
	}
}

func TestStackScanStates(t *testing.T) {
	for _, c := range []struct {
		name                           string
		goroutines, stacks, all, marks float64
		want                           bool
	}{
		{"many", 100_000, 400, 500, 3, true},
		{"few, deep", 10, 400, 500, 3, false},
		{"many, beside a large heap", 100_000, 400, 8000, 3, false},
		{"cheap", 100_000, 400, 500, 0.1, false},
		{"unknown", 100_000, 0, 0, 3, false},
	} {
		table := &site.Table{}
		table.Totals.TotalSeconds, table.Totals.D = 10, c.marks
		p := &rule.Pass{Table: table, Metrics: map[string]float64{
			"/sched/goroutines:goroutines": c.goroutines, "/gc/scan/stack:bytes": c.stacks, "/gc/scan/total:bytes": c.all,
		}}
		if got := len(matchesOf(t, stackscan.Rule(), p)) == 1; got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
