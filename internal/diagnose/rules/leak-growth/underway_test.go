package leakgrowth

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/internal/site"
)

// TestUnderWay: memory of requests that are under way, or that was allocated while the collection
// ran, is not a leak.
func TestUnderWay(t *testing.T) {
	const mib = 1 << 20
	load := &recording.Load{Connections: 8}
	for _, c := range []struct {
		what        string
		load        *recording.Load
		bytes, made int64
		want        bool
	}{
		{"eight requests under way, of 200 KiB each", load, 2 * mib, 800 * mib, true},
		{"allocated in a tenth of a second", load, 5 * mib, 800 * mib, true},
		{"a tenth of what each request makes", load, 80 * mib, 800 * mib, false},
		{"all of it", load, 3 * mib, 3 * mib, false},
		{"a program that loads itself", nil, 80 * mib, 800 * mib, false},
	} {
		w := window{pass: &rule.Pass{Manifest: &recording.Manifest{Load: c.load}}, phase: &recording.Phase{Seconds: 10}, requests: 4000}
		if got := w.underWay(growth{bytes: c.bytes, made: c.made}); got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}

// TestAccumulated: what each request leaves behind is as much as all requests have left.
func TestAccumulated(t *testing.T) {
	const mib = 1 << 20
	phases := []recording.Phase{{Name: recording.PhaseWarmup, Requests: 10_000}, {Name: recording.PhaseCPU, Requests: 4000}, {Name: recording.PhaseTrace, Requests: 2000}}
	rest := append(phases, recording.Phase{Name: recording.PhaseRest}, recording.Phase{Name: recording.PhaseCounts, Requests: 90_000})
	for _, c := range []struct {
		what   string
		phases []recording.Phase
		load   *recording.Load
		live   int64
		want   bool
	}{
		{"all of it", rest, &recording.Load{}, 16 * mib, true},
		{"a cache that fills up", rest, &recording.Load{}, 9 * mib, true},
		{"of requests under way", rest, &recording.Load{}, 5 * mib, false},
		{"no profile after the window", phases, &recording.Load{}, 5 * mib, true},
		{"no load", rest, nil, 5 * mib, true},
	} {
		w := window{pass: &rule.Pass{Manifest: &recording.Manifest{Load: c.load, Phases: c.phases}}, phase: &c.phases[1], requests: 4000}
		if got := w.accumulated(growth{bytes: 4 * mib, live: []*site.Row{{Value: c.live}}}); got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
}
