package diagnose

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// TestSavingCycles: a line that allocates half of all bytes also saves the scheduler's work for its
// share of 4,000 cycles, at most what the scheduler spends.
func TestSavingCycles(t *testing.T) {
	for _, c := range []struct {
		cycles    int64
		scheduler float64 // seconds of ten
		bytes     int64
		want      float64
	}{
		{4000, 1, 50 << 20, 4000 * 41e-6 / 2 / 10},
		{4000, 0.1, 50 << 20, 0.1 / 2 / 10},
		{4000, 1, 0, 0},
		{0, 1, 50 << 20, 0},
		{4000, 0, 50 << 20, 0},
	} {
		p := pass()
		for i := range p.Manifest.Phases {
			if p.Manifest.Phases[i].Name == recording.PhaseCPU {
				p.Manifest.Phases[i].GCCycles = c.cycles
			}
		}
		p.Table.Buckets = []site.Bucket{{Name: site.BucketScheduler, Seconds: c.scheduler}}
		got := newEngine(p, price).cyclesOf(&draft{cost: site.Cost{AllocBytes: c.bytes}})
		if math.Abs(got.Value-c.want) > 1e-9 || got.Low > got.Value || got.High < got.Value || got.High > c.scheduler/10 {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
