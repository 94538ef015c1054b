package rules_test

import (
	"testing"

	forcedgc "github.com/hone-go/hone/internal/diagnose/rules/forced-gc"
	"github.com/hone-go/hone/internal/diagnose/rules/ruletest"
	"github.com/hone-go/hone/internal/diagnose/stacks"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// TestForcedGCMarking: of 100 cycles the program forced 60 and the recording 20. Therefore 60 % of
// the marking is the program's, except for the single call of FreeOSMemory at its start.
func TestForcedGCMarking(t *testing.T) {
	p := ruletest.Record(t, "forced-gc/testdata/caught.txtar")
	p.Manifest.Phases = append(p.Manifest.Phases, recording.Phase{Name: recording.PhaseClean, ForcedGC: 20})
	p.Metrics = map[string]float64{recording.MetricCycles: 100, "/gc/cycles/forced:gc-cycles": 80}
	r := forcedgc.Rule()
	matches, err := r.Find(t.Context(), p)
	if err != nil || len(matches) != 1 || matches[0].Saving == nil {
		t.Fatalf("%+v, %v", matches, err)
	}
	own, _ := stacks.Sum(matches[0].CPU)
	once := int64(0)
	p.EachRow(func(r *site.Row) {
		if stacks.Calls(r, "runtime/debug.FreeOSMemory") {
			once += r.Value
		}
	})
	totals := p.Table.Totals
	part := float64(own) / float64(own+once)
	want := 0.9 * (float64(own)/1e9 + 0.6*(totals.D+totals.I)*part)
	if s := matches[0].Saving; s.Seconds < 0.99*want || s.Seconds > 1.01*want || s.Low > s.Seconds || s.High < s.Seconds {
		t.Errorf("%+v, want %g", *s, want)
	}
}
