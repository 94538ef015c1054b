package bench

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/hone-go/hone/histogram"
	"github.com/hone-go/hone/internal/compare"
	"github.com/hone-go/hone/load"
)

// loadRuns returns runs of a load with a rate whose latencies vary by 3 % around p50. One starts
// every ten seconds after the first, in the order A B B A.
func loadRuns(rng *rand.Rand, side, n int, p50 float64) (runs []LoadRun) {
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		at := base.Add(time.Duration(2*i+(i+side)%2) * 10 * time.Second)
		v := p50 * math.Exp(0.03*rng.NormFloat64())
		runs = append(runs, LoadRun{at.Format("05") + ".json", &load.Report{
			Schema: load.Schema, Start: &at, Loop: "open", Asked: 500, Requests: 5000, Rate: 500, Verdict: load.VerdictOK, Connections: 64 + i,
			Latency: &histogram.Summary{Count: 5000, P50: v, P90: 2 * v, P99: 5 * v, P999: 9 * v},
		}})
	}
	return runs
}

func TestLoads(t *testing.T) {
	second := func(runs []LoadRun, change func(*load.Report)) []LoadRun { change(runs[1].Report); return runs }
	for _, tt := range []struct {
		what   string
		runs   int
		factor float64
		change func(*load.Report) // of the second new run
		want   compare.Verdict
		why    string
	}{
		{"a fifth slower", 6, 1.2, nil, compare.Worse, ""},
		{"a fifth faster", 6, 0.8, nil, compare.Better, ""},
		{"the same, many runs", 40, 1, nil, compare.Same, ""},
		{"too few runs", 3, 1.2, nil, compare.Unknown, "at least 6 runs"},
		{"a generator that was the limit", 6, 1.2, func(r *load.Report) { r.Verdict = load.VerdictLimited }, compare.Unknown, "the load generator was the limit"},
		{"requests that fail", 6, 1.2, func(r *load.Report) { r.Failed = 500 }, compare.Unknown, "requests failed"},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		old, new := loadRuns(rng, oldSide, tt.runs, 0.001), loadRuns(rng, newSide, tt.runs, 0.001*tt.factor)
		if tt.change != nil {
			new = second(new, tt.change)
		}
		r, err := CompareLoads(old, new, false)
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		rows := r.Benchmarks[0].Rows
		if len(rows) != 3 || rows[0].Unit != "latency p50 s" || rows[2].Unit != "latency p99 s" {
			t.Errorf("%s: %+v; p99.9 of 5000 requests is unknown", tt.what, rows)
			continue
		}
		if rows[0].Verdict != tt.want || !strings.Contains(rows[0].Why, tt.why) || tt.why == "" && rows[0].Why != "" {
			t.Errorf("%s: %s %q, want %s %q", tt.what, rows[0].Verdict, rows[0].Why, tt.want, tt.why)
		}
	}
}

// TestLoadsClosed: in a closed loop more requests per second are better.
func TestLoadsClosed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sides := [2][]LoadRun{loadRuns(rng, oldSide, 6, 0.001), loadRuns(rng, newSide, 6, 0.001)}
	for side, runs := range sides {
		for _, run := range runs {
			run.Loop, run.Asked, run.Connections = "closed", 0, 64
			run.Latency, run.Service = nil, run.Latency
			run.Rate = float64(1000*(1+side)) * math.Exp(0.02*rng.NormFloat64())
		}
	}
	r, err := CompareLoads(sides[0], sides[1], false)
	if err != nil {
		t.Fatal(err)
	}
	if row := r.Benchmarks[0].Rows[0]; row.Unit != "requests/s" || row.Verdict != compare.Better {
		t.Errorf("%+v", row)
	}
	if row := r.Benchmarks[0].Rows[1]; row.Unit != "service time p50 s" {
		t.Errorf("%+v", row)
	}
}

func TestLoadsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		what   string
		change func([]LoadRun) []LoadRun
		want   string
	}{
		{"another rate", func(r []LoadRun) []LoadRun { r[0].Asked = 1000; return r }, "different loads: the rates are 500 and 1000 requests"},
		{"another loop", func(r []LoadRun) []LoadRun { r[0].Loop = "closed"; return r }, "closed loop"},
		{"other statuses", func(r []LoadRun) []LoadRun { r[0].Expect = "404"; return r }, `"" and "404"`},
		{"the same run", func(r []LoadRun) []LoadRun { return loadRuns(rng, oldSide, 6, 1) }, "the same run"},
		{"no run", func(r []LoadRun) []LoadRun { return nil }, "a side has none"},
	} {
		old, new := loadRuns(rng, oldSide, 6, 0.001), tt.change(loadRuns(rng, newSide, 6, 0.001))
		if _, err := CompareLoads(old, new, false); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.what, err, tt.want)
		}
	}
	old, new := loadRuns(rng, oldSide, 6, 0.001), loadRuns(rng, newSide, 6, 0.002)
	for _, run := range new {
		at := run.Start.Add(time.Hour)
		run.Start, run.Asked = &at, 600
	}
	r, err := CompareLoads(old, new, true)
	if err != nil || r.Benchmarks[0].Rows[0].Verdict != compare.Unknown || !strings.Contains(r.Benchmarks[0].Rows[0].Why, "alternate") {
		t.Errorf("one side after the other: %+v, %v", r, err)
	}
}
