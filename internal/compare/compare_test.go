package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/stats"
)

// manifest makes a recording whose clean phase holds ten windows of 1000 requests, with
// the given CPU seconds a window.
func manifest(cpu float64, jitter float64) recording.Manifest {
	p := recording.Phase{Name: recording.PhaseClean, Seconds: 10, Verdict: "ok"}
	for i := range 10 {
		w := recording.Window{Seconds: 1, Requests: 1000, CPUSeconds: cpu * (1 + jitter*math.Sin(float64(i)*2.3)), AllocBytes: 1 << 20, AllocObjects: 5000}
		p.Windows = append(p.Windows, w)
		p.Requests += w.Requests
		p.CPUSeconds += w.CPUSeconds
		p.AllocBytes += w.AllocBytes
		p.AllocObjects += w.AllocObjects
	}
	return recording.Manifest{Phases: []recording.Phase{p}}
}

func row(t *testing.T, c *Comparison, metric string) Row {
	t.Helper()
	for _, r := range c.Rows {
		if r.Metric == metric {
			return r
		}
	}
	t.Fatalf("no row %q in %+v", metric, c.Rows)
	return Row{}
}

func TestRecordingsVerdicts(t *testing.T) {
	for _, tc := range []struct {
		name     string
		old, new recording.Manifest
		want     Verdict
	}{
		{"a third less CPU is better", manifest(0.9, 0.02), manifest(0.6, 0.02), Better},
		{"a third more is worse", manifest(0.6, 0.02), manifest(0.9, 0.02), Worse},
		{"the same within the floor is same", manifest(0.6, 0.005), manifest(0.602, 0.005), Same},
		{"noise larger than the change cannot tell", manifest(0.6, 0.5), manifest(0.65, 0.5), Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Recordings("old", tc.old, "new", tc.new)
			if err != nil {
				t.Fatal(err)
			}
			if got := row(t, c, "cpu").Verdict; got != tc.want {
				t.Errorf("cpu: %s, want %s: %+v", got, tc.want, row(t, c, "cpu"))
			}
		})
	}
}

func TestRecordingsRefusesWhatDiffers(t *testing.T) {
	loaded, idle := manifest(1, 0), manifest(1, 0)
	idle.Phases[0].Requests = 0
	if _, err := Recordings("a", loaded, "b", idle); err == nil || !strings.Contains(err.Error(), "different things") {
		t.Errorf("loaded against idle: %v", err)
	}
	if _, err := Recordings("a", recording.Manifest{}, "b", loaded); err == nil || !strings.Contains(err.Error(), "no clean phase") {
		t.Errorf("without a clean phase: %v", err)
	}
}

func TestGeneratorLimitedHasNoThroughputVerdict(t *testing.T) {
	old, new := manifest(0.9, 0.01), manifest(0.6, 0.01)
	new.Phases[0].Verdict = "generator-limited"
	for i := range new.Phases[0].Windows {
		new.Phases[0].Windows[i].Requests *= 2
	}
	new.Phases[0].Requests *= 2
	c, err := Recordings("old", old, "new", new)
	if err != nil {
		t.Fatal(err)
	}
	if got := row(t, c, "throughput").Verdict; got != Unknown {
		t.Errorf("throughput: %s, want unknown", got)
	}
	if got := row(t, c, "cpu").Verdict; got != Better {
		t.Errorf("cpu per request does not lean on the generator: %s, want better", got)
	}
}

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		ratio        stats.Interval
		higherBetter bool
		want         Verdict
	}{
		{stats.Interval{Value: 1.10, Low: 1.05, High: 1.15}, false, Worse},
		{stats.Interval{Value: 1.10, Low: 1.05, High: 1.15}, true, Better},
		{stats.Interval{Value: 0.90, Low: 0.85, High: 0.95}, false, Better},
		{stats.Interval{Value: 0.90, Low: 0.85, High: 0.95}, true, Worse},
		{stats.Interval{Value: 1.00, Low: 0.99, High: 1.01}, false, Same},
		{stats.Interval{Value: 1.01, Low: 0.90, High: 1.12}, false, Unknown},
		{stats.Interval{Value: 1.015, Low: 1.005, High: 1.025}, false, Unknown},
	} {
		if got := judge(tc.ratio, tc.higherBetter); got != tc.want {
			t.Errorf("judge(%v, %v) = %s, want %s", tc.ratio, tc.higherBetter, got, tc.want)
		}
	}
}
