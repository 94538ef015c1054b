package diagnose

import (
	"math"
	"testing"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
	"github.com/hone-go/hone/stats"
)

// TestWithBackground: with a tenth of the CPU in the scheduler, a benchmark saves up to a ninth
// more than its code does, and a service no more.
func TestWithBackground(t *testing.T) {
	saved := stats.Interval{Value: 0.6, Low: 0.4, High: 0.8}
	for _, c := range []struct {
		what     string
		target   recording.Target
		load     bool
		buckets  []site.Bucket
		high, is float64
	}{
		{"a benchmark", recording.Target{Kind: "bench", Bench: "."}, false, []site.Bucket{{Name: site.BucketScheduler, Seconds: 0.7}, {Name: site.BucketPoll, Seconds: 0.3}}, 0.8 / 0.9, 0.6 * (1 + 0.5/9)},
		{"a program that exits", recording.Target{Kind: "program"}, false, []site.Bucket{{Name: site.BucketScheduler, Seconds: 1}}, 0.8 / 0.9, 0.6 * (1 + 0.5/9)},
		{"goroutines that block", recording.Target{Kind: "program"}, false, []site.Bucket{{Name: site.BucketScheduler, Seconds: 5}}, 0.8 / 0.85, 0.6 * (1 + 0.5*0.15/0.85)},
		{"no scheduler", recording.Target{Kind: "program"}, false, []site.Bucket{{Name: "clock reads", Seconds: 2}}, 0.8, 0.6},
		{"a service under load", recording.Target{Kind: "service"}, true, []site.Bucket{{Name: site.BucketScheduler, Seconds: 2}}, 0.8, 0.6},
		{"a service without load", recording.Target{Kind: "service"}, false, []site.Bucket{{Name: site.BucketScheduler, Seconds: 2}}, 0.8, 0.6},
	} {
		p := pass()
		p.Manifest.Target = c.target
		if !c.load {
			p.Manifest.Load = nil
		}
		p.Table.Buckets = c.buckets
		got := newEngine(p, price).withBackground(saved)
		if got.Low != saved.Low || math.Abs(got.High-c.high) > 1e-9 || math.Abs(got.Value-c.is) > 1e-9 {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}
