package capture

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/recording"
	"github.com/hone-go/hone/load"
)

// TestTraceLength: a trace has room for four slow requests, within two fifths of the duration.
func TestTraceLength(t *testing.T) {
	for _, tt := range []struct{ slow, want time.Duration }{
		{0, 4500 * time.Millisecond}, // not known
		{time.Second, 4500 * time.Millisecond},
		{2 * time.Second, 8 * time.Second},
		{time.Minute, 12 * time.Second},
	} {
		if got := traceLength(4500*time.Millisecond, 30*time.Second, tt.slow); got != tt.want {
			t.Errorf("requests of %s: %s, want %s", tt.slow, got, tt.want)
		}
	}
}

func TestPlan(t *testing.T) {
	tests := []struct {
		phases []string
		want   []step
	}{
		{[]string{"cpu", "contention", "trace"}, []step{
			{"clean", 3 * time.Second}, {"cpu", 15 * time.Second}, {"contention", 4500 * time.Millisecond}, {"trace", 4500 * time.Millisecond}, {"clean", 3 * time.Second}}},
		{[]string{"trace", "contention"}, []step{
			{"clean", 6 * time.Second}, {"contention", 9 * time.Second}, {"trace", 9 * time.Second}, {"clean", 6 * time.Second}}},
		{[]string{}, []step{{"clean", 30 * time.Second}}},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, plan(30*time.Second, tt.phases), cmp.AllowUnexported(step{})); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.phases, d)
		}
	}
}

func TestWindows(t *testing.T) {
	for length, want := range map[time.Duration]int{
		6 * time.Second: 6, 4500 * time.Millisecond: 5, 15 * time.Second: 15, 600 * time.Millisecond: 4,
	} {
		if n := windows(length, time.Second); n != want {
			t.Errorf("%s in %d windows, want %d", length, n, want)
		}
	}
}

func TestIsSteady(t *testing.T) {
	tests := []struct {
		name string
		rate []float64
		want bool
	}{
		{"too few", []float64{100, 100}, false},
		{"equal", []float64{100, 100, 100}, true},
		{"5 %", []float64{1, 97.6, 100, 102.4}, true},
		{"6 %", []float64{97, 100, 103}, false},
		{"nothing answered", []float64{0, 0, 0}, false},
		{"unknown", []float64{unknown, unknown, unknown}, false},
	}
	for _, tt := range tests {
		var s []sample
		for _, x := range tt.rate {
			s = append(s, sample{throughput: x})
		}
		if got := isSteady(s); got != tt.want {
			t.Errorf("%s: steady %v", tt.name, got)
		}
	}
}

func samplesOf(throughput, cpu []float64) (s []sample) {
	for i := range throughput {
		s = append(s, sample{throughput[i], cpu[i]})
	}
	return s
}

func TestObserver(t *testing.T) {
	clean := samplesOf([]float64{100, 102, 98, 100}, []float64{0.010, 0.0101, 0.0099, 0.010})
	slow := samplesOf([]float64{90, 91, 89, 90}, []float64{0.011, 0.0111, 0.0109, 0.011})
	o, why := observer(clean, slow)
	if o == nil || why != "" || math.Abs(o.ThroughputLoss-0.10) > 1e-9 || math.Abs(o.CPUGrowth-0.10) > 1e-9 {
		t.Fatalf("%+v", o)
	}
	if !(o.ThroughputLow < 0.10 && 0.10 < o.ThroughputHigh && o.ThroughputLow > 0.05 && o.ThroughputHigh < 0.15) {
		t.Errorf("throughput [%v, %v]", o.ThroughputLow, o.ThroughputHigh)
	}
	if !(o.CPUGrowthLow < 0.10 && 0.10 < o.CPUGrowthHigh && o.CPUGrowthLow > 0.05 && o.CPUGrowthHigh < 0.15) {
		t.Errorf("CPU [%v, %v]", o.CPUGrowthLow, o.CPUGrowthHigh)
	}

	if o, why := observer(clean, slow[:1]); o != nil || why != "" {
		t.Errorf("from a single window: %+v %s", o, why)
	}
	if o, why := observer(slow, clean); o != nil || !strings.Contains(why, "the machine's speed changed") {
		t.Errorf("faster than clean: %+v %q", o, why)
	}
	quiet := samplesOf([]float64{unknown, unknown, unknown}, []float64{1, 1.1, 0.9})
	if o, _ := observer(quiet, quiet); o == nil || !o.NoThroughput || o.NoCPU {
		t.Errorf("without load: %+v", o)
	}
}

func TestLoadAddrs(t *testing.T) {
	o := &load.Options{Targets: []load.Target{
		{URL: "http://127.0.0.1:8080/a"}, {URL: "http://127.0.0.1:8080/b"}, {URL: "https://localhost/x"}, {URL: "http://[::1]/"},
	}}
	got, err := loadAddrs(o)
	if d := cmp.Diff([]string{"127.0.0.1:8080", "localhost:443", "[::1]:80"}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestThousands(t *testing.T) {
	for f, want := range map[float64]string{0: "0.0", 12.34: "12.3", 999.4: "999", 1000: "1,000", 12400.4: "12,400", 1234567: "1,234,567"} {
		if got := thousands(f); got != want {
			t.Errorf("%v: %q, want %q", f, got, want)
		}
	}
}

func TestIsLocal(t *testing.T) {
	for u, want := range map[string]bool{
		"http://127.0.0.1:6060": true, "http://localhost:1/x": true, "https://[::1]/": true,
		"http://10.0.0.7:6060": false, "http://db.example.com": false, "://": false,
	} {
		if isLocal(u) != want {
			t.Errorf("%s: %v", u, !want)
		}
	}
}

// TestJoin: the halves of a phase add up.
func TestJoin(t *testing.T) {
	half := func(n int64) stretch {
		h := histogram.New()
		h.RecordN(1e6*n, n)
		st := stretch{
			phase: recording.Phase{Name: "clean", Seconds: float64(n), CPUSeconds: 0.5, AllocBytes: n, GCCycles: 1,
				RSSBytes: n, Windows: []recording.Window{{Requests: n}}},
			samples: []sample{{throughput: float64(n)}},
			loads: []*load.Result{{Closed: true, Elapsed: time.Second, Requests: n, Service: h,
				Status: map[int]int64{200: n}, Errors: map[load.ErrorKind]int64{}}},
		}
		st.addLoad()
		return st
	}
	var all stretch
	all.join(half(3))
	first := all.phase.Requests
	all.join(half(5))
	p := all.phase
	if first != 3 || p.Requests != 8 || p.Seconds != 8 || p.CPUSeconds != 1 || p.AllocBytes != 8 || p.GCCycles != 2 || p.RSSBytes != 5 {
		t.Errorf("first half %d requests, sum %+v", first, p)
	}
	if len(p.Windows) != 2 || len(all.samples) != 2 || p.Service.Max != 0.005 || p.Verdict != load.VerdictOK {
		t.Errorf("%+v", p)
	}
}
