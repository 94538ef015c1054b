package leakgrowth

import (
	"testing"

	"github.com/hone-go/hone/internal/diagnose/rule"
	"github.com/hone-go/hone/internal/recording"
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
